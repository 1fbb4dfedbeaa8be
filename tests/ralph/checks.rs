//! Checks that a person asked for: when they run, what they say, and that they end.

use crate::{PROMISE, armed, works_and_says};

/// How often the counting check has run.
fn runs(bench: &crate::support::Bench) -> usize {
    std::fs::read_to_string(bench.path("../runs")).unwrap_or_default().lines().count()
}

#[test]
fn they_run_only_when_the_agent_claims_to_be_done() {
    let bench = armed("\"Make it\" --completion-promise DONE --check 'echo x >> ../runs'");
    works_and_says(&bench, "no").reason();
    assert_eq!(runs(&bench), 0);
    works_and_says(&bench, PROMISE).told();
    assert_eq!(runs(&bench), 1);
}

#[test]
fn nothing_changed_is_no_reason_to_run_them_again() {
    let bench = armed("\"Make it\" --completion-promise DONE --check 'echo x >> ../runs; exit 1'");
    works_and_says(&bench, PROMISE).reason();
    bench.transcript("s1").assistant(PROMISE);
    bench.stop("s1").saying(PROMISE).run().reason();
    assert_eq!(runs(&bench), 1, "no tool call and no change since");
    bench.write("src/main.rs", "fn main() {}");
    bench.transcript("s1").assistant(PROMISE);
    bench.stop("s1").saying(PROMISE).run().reason();
    assert_eq!(runs(&bench), 2, "a file changed");
    works_and_says(&bench, PROMISE).reason();
    assert_eq!(runs(&bench), 3, "a tool call may have changed what no file shows");
}

#[test]
fn the_same_failure_three_times_asks_for_another_way() {
    let bench = armed("\"Make it\" --completion-promise DONE --check 'date +%N; exit 1'");
    for _ in 0..2 {
        let stop = works_and_says(&bench, PROMISE);
        assert!(!stop.reason().contains("change the approach"), "{stop}");
    }
    let stop = works_and_says(&bench, PROMISE);
    let words = "failed in the same way 3 times in a row: change the approach.";
    assert!(stop.reason().contains(words), "{stop}");
}

#[test]
fn a_check_over_its_limit_has_failed() {
    let bench = armed("\"Make it\" --check 'echo begun; sleep 60' --check-timeout 1");
    bench.transcript("s1").tool("Edit");
    let stop = bench.stop("s1").saying("done").start().with_checks().finish();
    assert!(
        stop.reason().contains("(over its limit of 1 s, ended)\nThe end of its output:\n| begun"),
        "{stop}"
    );
}

#[test]
fn a_missing_program_is_a_failed_check() {
    let bench = armed("\"Make it\" --check no-such-program-here");
    let stop = works_and_says(&bench, "done");
    assert!(stop.reason().contains("(exit code 127: no such program)"), "{stop}");
}

#[test]
fn what_a_check_writes_is_no_progress() {
    let bench = armed("\"Make it\" --no-progress 3 --check 'date +%N >> log; exit 1'");
    let stops = (1..30).find(|_| !works_and_says(&bench, "no").is_block());
    assert_eq!(stops, Some(3));
}

#[test]
fn they_run_in_the_folder_of_the_session() {
    let bench = armed("\"Make it\" --check 'test -d src'");
    bench.transcript("s1").tool("Bash");
    bench.stop("s1").standing_in(&bench.path("src")).run().told();
}

#[test]
fn the_journal_says_which_are_running() {
    let bench = armed("\"Make it\" --check true --check 'test -d src'");
    works_and_says(&bench, "done").told();
    let entry = bench.journal("s1").into_iter().find(|it| it["event"] == "checks").unwrap();
    assert_eq!(entry["words"], "running `true`, `test -d src`");
}

#[test]
fn a_hook_that_is_killed_leaves_nothing_of_its_check_behind() {
    let check =
        "sh -c 'echo $$ > ../grandchild; while :; do sleep 1; done' & echo $$ > ../child; wait";
    let bench = armed(&format!("\"Make it\" --check \"{check}\""));
    bench.transcript("s1").tool("Edit");
    let running = bench.stop("s1").start();
    let [child, grandchild] = ["../child", "../grandchild"].map(|name| {
        loop {
            let text = std::fs::read_to_string(bench.path(name)).unwrap_or_default();
            if text.ends_with('\n') {
                break text.trim().to_owned();
            }
            std::thread::yield_now();
        }
    });
    running.kill();
    for pid in [child, grandchild] {
        while is_there(&pid) {
            std::thread::yield_now();
        }
    }
}

/// One that nobody has reaped yet is gone.
fn is_there(pid: &str) -> bool {
    let listing =
        std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8_lossy(&listing.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}
