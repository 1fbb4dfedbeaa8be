//! What counts as progress: what files contain, not when they were written; and commits of every repository in the project.

use crate::runner::support::Bench;

#[test]
fn e1_same_bytes_are_no_progress() {
    let bench = Bench::new();
    bench.write("old.txt", "made\n");
    bench.commit("a file");
    bench.agent("echo made > old.txt");
    bench.ralph("--max-iterations 30").run().with_code(5);
    assert_eq!((bench.runs(), &bench.iterations()[0]["files_changed"]), (10, &0.into()));
    let bench = Bench::folder();
    bench.agent("echo made > new.txt");
    bench.ralph("--max-iterations 30").run().with_code(5);
    assert_eq!(bench.runs(), 11, "the first one has made it");
}

#[test]
fn a_failing_agent_that_rewrites_ends() {
    let bench = Bench::new();
    bench.write("old.txt", "made\n");
    bench.commit("a file");
    bench.agent("echo made > old.txt\nexit 1");
    bench.ralph("--max-failures 3 --max-iterations 9").run();
    assert_eq!(bench.runs(), 3, "{:#}", bench.state());
}

#[test]
fn ignored_repository_commits_are_progress() {
    let bench = Bench::new();
    bench.write(".gitignore", "components/\n");
    bench.write("components/core/a", "a");
    bench.git_in(&bench.path("components/core"), &["init", "--quiet"]);
    bench.commit("ignore");
    bench.agent(
        "cd components/core && git -c user.name=A -c user.email=a@example.com commit --quiet --allow-empty -m $n",
    );
    let ran = bench.ralph("--no-progress 3 --stall-threshold 3 --max-iterations 6").run();
    assert_eq!(bench.runs(), 6, "{ran}");
}
