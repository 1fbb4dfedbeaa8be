//! What counts as progress: what files contain, not when they were written; and commits of every repository in the project.

use ralph_speckit::world::pause;
use std::time::{Duration, UNIX_EPOCH};

use crate::hook::support::Bench;
use crate::ralph::armed;

/// A feature's loop in a repository with one file.
fn in_repository() -> Bench {
    let bench = Bench::ready();
    bench.init();
    bench.write("gen.txt", "made\n");
    bench.commit("the beginning");
    bench.implement("s1", "").context();
    bench
}

/// How many stops are held, of at most 40, each after one tool call and this.
fn held(bench: &Bench, before: impl Fn(usize)) -> usize {
    let stop = |number: &usize| {
        before(*number);
        bench.transcript("s1").tool("Bash");
        bench.stop("s1").run().is_block()
    };
    let held = (0..40).take_while(stop).count();
    let end = if held < 40 { "end no_progress" } else { "continue" };
    assert_eq!(bench.verdicts("s1").last().unwrap(), end);
    held
}

#[test]
fn e1_same_bytes_are_no_progress() {
    let idle = held(&in_repository(), |_| {});
    let bench = in_repository();
    let rewritten = held(&bench, |_| drop(bench.write("gen.txt", "made\n")));
    assert_eq!(rewritten, idle);
    let bench = in_repository();
    let generated = held(&bench, |_| drop(bench.write("new.txt", "made\n")));
    assert!(generated <= idle + 3, "{generated}, not {idle}");
    let bench = armed("\"Make it\"");
    let ralph = held(&bench, |_| drop(bench.write("new.txt", "made\n")));
    assert!(ralph <= idle + 3, "{ralph}, not {idle}");
}

#[test]
fn new_file_among_old_is_progress() {
    let bench = in_repository();
    let work = |number: usize| {
        bench.write("gen.txt", "made\n");
        if number.is_multiple_of(5) {
            bench.write(format!("src/{number}.rs"), "fn main() {}\n");
        }
    };
    assert_eq!(held(&bench, work), 40);
}

#[test]
fn ignored_repository_commit_is_progress() {
    for (ignored, place) in [
        ("components/\n", "components/core"),
        ("components/core\n", "components/core"),
        ("*\n", "components/core"),
        ("components/\n", "components/a/b/c/core"),
    ] {
        let bench = Bench::ready();
        bench.init();
        bench.write(".gitignore", ignored);
        bench.write(format!("{place}/a"), "a");
        bench.git_in(&bench.path(place), &["init", "--quiet"]);
        bench.commit("the beginning");
        bench.implement("s1", "").context();
        let core = bench.path(place);
        let commit = |number: usize| {
            let name = number.to_string();
            let who = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
            let rest = ["commit", "--quiet", "--allow-empty", "-m", &name];
            bench.git_in(&core, &[&who[..], &rest].concat());
        };
        assert_eq!(held(&bench, commit), 40, "{ignored} {place}");
    }
}

/// The log of git's head knows seconds: a commit of the second of the arming could be newer than the arming.
fn wait_for_the_next_second() {
    let second = || UNIX_EPOCH.elapsed().unwrap().as_secs();
    let began = second();
    while second() == began {
        pause(Duration::from_millis(10));
    }
}

#[test]
fn moved_head_is_no_progress() {
    let idle = held(&in_repository(), |_| {});
    let moves: [&[&str]; 3] = [
        &["reset", "--quiet", "--hard", "HEAD"],
        &["commit", "--quiet", "--amend", "--allow-empty", "-m", "again"],
        &["checkout", "--quiet", "--detach"],
    ];
    for moved in moves {
        let bench = in_repository();
        assert_eq!(held(&bench, |_| drop(bench.git(moved))), idle, "{moved:?}");
        let bench = Bench::ready();
        bench.init();
        bench.write(".gitignore", "core/\n");
        bench.write("core/a", "a");
        let core = bench.path("core");
        bench.git_in(&core, &["init", "--quiet"]);
        for setting in [["user.name", "A"], ["user.email", "a@example.com"]] {
            bench.git_in(&core, &["config", setting[0], setting[1]]);
        }
        bench.git_in(&core, &["add", "a"]);
        bench.git_in(&core, &["commit", "--quiet", "-m", "one"]);
        bench.commit("the beginning");
        wait_for_the_next_second();
        bench.implement("s1", "").context();
        let there = held(&bench, |_| drop(bench.git_in(&core, moved)));
        assert_eq!(there, idle, "{moved:?} in another repository");
    }
}

#[test]
fn many_equal_files_are_none() {
    let idle = held(&in_repository(), |_| {});
    let write = |bench: &Bench| {
        (0..200).for_each(|number| drop(bench.write(format!("gen/{number}"), "made\n")));
    };
    let bench = in_repository();
    let generated = held(&bench, |_| write(&bench));
    assert!(generated <= idle + 3, "{generated}, not {idle}");
}

#[test]
fn an_empty_commit_is_none() {
    let idle = held(&in_repository(), |_| {});
    let bench = in_repository();
    let commit = ["commit", "--quiet", "--allow-empty", "-m", "again"];
    assert_eq!(held(&bench, |_| drop(bench.git(&commit))), idle);
    let bench = in_repository();
    let work = |number: usize| {
        bench.write("gen.txt", number.to_string());
        bench.commit("work");
    };
    assert_eq!(held(&bench, work), 40);
}
