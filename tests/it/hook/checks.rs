//! Checks that are as new as the files: what they have not seen does not count.

use std::fs;

use super::support::{ALL_DONE, Bench};
use crate::support::limited::Limited;

const CLAIM: &str = "All is done.\n\nALL_TASKS_COMPLETE";

/// A feature with all boxes ticked, its loop armed with these checks.
fn done(checks: &str) -> Bench {
    let bench = Bench::ready().settings(&format!("---\nchecks:\n{checks}---\n"));
    bench.implement("s1", "");
    bench.stop("s1").run().reason();
    bench.write_tasks(ALL_DONE);
    bench
}

/// What the checks have noted, one a line.
fn runs(bench: &Bench) -> String {
    fs::read_to_string(bench.path("../runs")).unwrap_or_default().replace('\n', " ")
}

#[test]
fn checks_rerun_after_a_later_change() {
    let bench = done(
        "  - echo one >> ../runs\n  - echo two >> ../runs; echo x >> src/made\n  - echo three >> ../runs\n",
    );
    bench.stop("s1").held().saying(CLAIM).run().silent();
    assert_eq!(runs(&bench), "one two three one ");
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end completed");
}

#[test]
fn last_change_is_seen_by_all() {
    let bench = done(
        "  - echo one >> ../runs; test ! -e src/made\n  - echo two >> ../runs\n  - echo x >> src/made\n",
    );
    let stop = bench.stop("s1").held().saying(CLAIM).run();
    assert!(stop.reason().contains("test ! -e src/made` (exit code 1)"), "{stop}");
    assert_eq!(runs(&bench), "one two one two ");
}

#[test]
fn checks_that_change_nothing_run_once() {
    let bench = done("  - echo one >> ../runs\n  - echo two >> ../runs\n");
    bench.stop("s1").held().saying(CLAIM).run().silent();
    assert_eq!(runs(&bench), "one two ");
}

#[test]
fn r17_end_between_stops_says_it() {
    let said = |bench: &Bench, arguments: &[&str]| {
        let ran = bench.spool().args(arguments).env("CLAUDE_CODE_SESSION_ID", "s1").finish();
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    for block in [&["task", "block", "the key"][..], &["block", "the key"]] {
        let bench = Bench::ready().settings("---\nchecks:\n  - echo one >> ../runs\n---\n");
        bench.implement("s1", "");
        said(&bench, block);
        let stop = bench.stop("s1").run();
        assert!(stop.told().contains("the key; checks not run"), "{stop}");
        for arguments in [&["status"][..], &["log"]] {
            let printed = said(&bench, arguments);
            assert!(printed.contains("the key; checks not run"), "{arguments:?}: {printed}");
        }
        assert_eq!(runs(&bench), "");
    }
}

#[test]
fn work_after_a_failed_command_is_seen() {
    let tasks = "# Tasks\n\n- [ ] T001 Write a.sh\n- [ ] T002 Write b.sh\n  - Verify: `sh b.sh`\n";
    let bench = Bench::ready().tasks(tasks);
    bench.implement("s1", "").context();
    bench.write("a.sh", "true\n");
    bench.write_tasks(&tasks.replace("[ ]", "[x]"));
    bench.transcript("s1").tool("Edit");
    let stop = bench.stop("s1").run();
    assert!(stop.reason().contains("sh b.sh"), "{stop}");
    bench.write("b.sh", "true\n");
    bench.transcript("s1").tool("Write");
    let done = bench.stop("s1").by_plugin().held().run();
    assert!(done.message().contains("Proved: 1 by a command, 1 by files"), "{done}");
}

#[test]
fn ended_loop_runs_no_more_checks() {
    let spool = env!("CARGO_BIN_EXE_spool");
    let stop = format!("echo one >> ../runs; env -u CLAUDE_CODE_SESSION_ID {spool} stop 001-login");
    let bench = done(&format!("  - {stop}\n  - echo two >> ../runs\n"));
    bench.stop("s1").held().saying(CLAIM).run();
    assert_eq!(runs(&bench), "one ");
    assert!(!bench.record("s1").ledger.is_live());
}
