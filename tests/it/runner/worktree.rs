//! Work in another work tree of the repository, that an agent of the run has made.

use crate::runner::support::{Bench, CHANGE, in_change};

const LIST: &str = "- [ ] T001 Write lib/a.py\n- [ ] T002 Write lib/b.py\n";

fn bench(ignored: &str) -> Bench {
    let bench = Bench::with_tasks(LIST);
    bench.write(".gitignore", ignored);
    bench.commit("ignore");
    bench
}

#[test]
fn progress_there_counts_and_lists_show() {
    for (place, ignored) in [("trees/w", "trees/\n"), ("trees/w", ""), ("../beside", "")] {
        let bench = bench(ignored);
        let list = in_change("tasks.md");
        bench.agent(&format!(
            "[ $n -gt 1 ] || git worktree add --quiet {place}\ncd {place} && git commit --quiet --allow-empty -m $n\n\
             sed -i 's/\\[ \\] T001/[x] T001/' {list}"
        ));
        let ran = bench.ralph("--no-progress 3 --max-iterations 6").run().with_code(3);
        assert_eq!(bench.runs(), 6, "{place} {ignored:?}: {ran}");
        let tree = bench.path(place).canonicalize().unwrap();
        ran.says(&format!("work is in another work tree: {}", tree.display()));
        let words = format!("The work tree's list is ticked ({})", tree.join(list).display());
        assert!(bench.prompt(2).contains(&words), "{CHANGE}: {}", bench.prompt(2));
    }
}

#[test]
fn foreign_work_tree_counts_nothing() {
    let bench = bench("");
    bench.git(&["worktree", "add", "--quiet", "../theirs"]);
    bench.agent("cd ../theirs && git commit --quiet --allow-empty -m $n");
    bench.ralph("--no-progress 3 --max-iterations 6").run().with_code(5);
    assert_eq!(bench.runs(), 3);
}
