//! Spec 003, NFR-4: every way out of a stop, once. The table is the list of them.

use crate::hook::outcome::Outcome;
use crate::hook::support::{ALL_DONE, Bench, FEATURE, executing};
use crate::support::limited::Limited;
use serde_json::json;
use std::fmt::Write;
use std::fs;

type Path = (&'static str, fn() -> (Bench, Outcome));

/// Runs each path and returns a line for each: what was said, what was logged.
fn walked(paths: &[Path]) -> String {
    let mut lines = String::new();
    for (name, walk) in paths {
        let (bench, outcome) = walk();
        let _ = writeln!(lines, "{name}: {}", outcome.headline(&bench));
    }
    lines
}

fn stop(bench: Bench) -> (Bench, Outcome) {
    on(bench, |bench| bench.stop("s1").run())
}

fn on(bench: Bench, ask: impl FnOnce(&Bench) -> Outcome) -> (Bench, Outcome) {
    let outcome = ask(&bench);
    (bench, outcome)
}

fn set(field: &str, value: impl Into<serde_json::Value>) -> Bench {
    let bench = Bench::in_execution();
    bench.set_state(field, value);
    bench
}

#[test]
fn nfr_4_terminal_reasons_of_stops() {
    let paths: &[Path] = &[
        ("completed", || stop(Bench::in_execution().tasks(ALL_DONE))),
        ("completed by words", || {
            let bench = Bench::project().current_feature(FEATURE).state(&executing(0, 3));
            on(bench, |bench| bench.stop("s1").saying("ALL_TASKS_COMPLETE").run())
        }),
        ("max_iters", || stop(set("maxGlobalIterations", 1))),
        ("no_progress, nothing done", || {
            let bench = Bench::taken();
            bench.stop("s1").run().reason();
            stop(bench)
        }),
        ("no_progress, nothing changed", || {
            let bench = Bench::in_execution();
            for _ in 0..11 {
                bench.transcript("s1").tool("Read");
                bench.stop("s1").run().reason();
            }
            bench.transcript("s1").tool("Read");
            stop(bench)
        }),
        ("task_failed", || stop(set("taskIteration", 6))),
        ("blocked", || {
            let bench = Bench::taken();
            let mut spool = bench.spool();
            spool.args(["task", "block", "a key for the server"]);
            assert!(spool.env("CLAUDE_CODE_SESSION_ID", "s1").finish().status.success());
            stop(bench)
        }),
        ("corrupt_state", || {
            let bench = Bench::in_execution().raw_state("{");
            bench.stop("s1").run().reason();
            stop(bench)
        }),
        ("cancelled, the state file was taken away", || {
            let bench = Bench::taken();
            fs::remove_file(bench.state_path()).unwrap();
            stop(bench)
        }),
        ("cancelled, the feature's folder was taken away", || {
            let bench = Bench::taken();
            fs::remove_dir_all(bench.feature_path("")).unwrap();
            stop(bench)
        }),
        ("stopped, another session drives the feature", || {
            let bench = Bench::taken();
            bench.implement("s2", "").context();
            stop(bench)
        }),
    ];
    insta::assert_snapshot!(walked(paths), @r"
    completed: silent
    completed by words: silent | ALL_TASKS_COMPLETE detected in transcript
    max_iters: told: Ralph-speckit: ended (max_iters): 001-login · the limit of 1 iteration was reached · 1 of 3 tasks · 1 iteration | ERROR: Maximum global iterations (1) reached. tasks.md of feature 001-login is kept as it is; see .progress.md, then run /speckit:implement to continue
    no_progress, nothing done: told: Ralph-speckit: ended (no_progress): 001-login · the agent stopped 3 times in a row without doing anything · 1 of 3 tasks · 3 iterations | Loop ended (no_progress) for feature 001-login: the agent stopped 3 times in a row without doing anything
    no_progress, nothing changed: told: Ralph-speckit: ended (no_progress): 001-login · 10 iterations in a row changed nothing in the project · 1 of 3 tasks · 12 iterations | Loop ended (no_progress) for feature 001-login: 10 iterations in a row changed nothing in the project
    task_failed: told: Ralph-speckit: ended (task_failed): 001-login · task T002 is at attempt 6, and 5 are allowed · 1 of 3 tasks · 1 iteration | Loop ended (task_failed) for feature 001-login: task T002 is at attempt 6, and 5 are allowed
    blocked: told: Ralph-speckit: ended (blocked): 001-login · the agent needs a person: a key for the server · 1 of 3 tasks · 1 iteration | Loop ended (blocked) for feature 001-login: the agent needs a person: a key for the server
    corrupt_state: told: Ralph-speckit: ended (corrupt_state): 001-login · the state file is still unreadable · 1 of 3 tasks · 2 iterations | ERROR: .speckit-state.json of feature 001-login is still corrupt
    cancelled, the state file was taken away: told: Ralph-speckit: ended (cancelled): 001-login · its state file is gone · 1 of 3 tasks · 1 iteration | The state file of feature 001-login is gone: the loop has ended
    cancelled, the feature's folder was taken away: told: Ralph-speckit: ended (cancelled): 001-login · its state file is gone · 1 iteration | The state file of feature 001-login is gone: the loop has ended
    stopped, another session drives the feature: told: Ralph-speckit: ended (stopped): 001-login · session s2 has taken this loop over, this one may stop · 1 iteration | Feature 001-login is driven by session s2 now
    ");
}

#[test]
fn nfr_4_every_silent_path() {
    let paths: &[Path] = &[
        ("no project", || stop(Bench::folder())),
        ("no feature", || stop(Bench::project())),
        ("a feature without a folder", || {
            stop(Bench::project().file(".specify/.current-feature", "009-gone"))
        }),
        ("no state file", || stop(Bench::ready())),
        ("another phase", || stop(set("phase", "tasks"))),
        ("another phase of a loop that was armed", || {
            let bench = Bench::taken();
            bench.set_state("phase", "tasks");
            stop(bench)
        }),
        ("disabled", || stop(Bench::in_execution().settings("---\nenabled: false\n---\n"))),
        ("empty input", || on(Bench::in_execution(), |bench| bench.raw(""))),
        ("bad input", || on(Bench::in_execution(), |bench| bench.raw("{]"))),
        ("no usable session", || on(Bench::in_execution(), |bench| bench.stop("../s1").run())),
        ("inside a subagent", || {
            on(Bench::in_execution(), |bench| bench.stop("s1").with("agent_id", "a1").run())
        }),
        ("another event", || {
            on(Bench::in_execution(), |bench| bench.event("SubagentStop", "s1").run())
        }),
        ("another session's loop", || {
            let bench = Bench::in_execution();
            bench.stop("s2").run().reason();
            stop(bench)
        }),
        ("the loop is over", || {
            let bench = Bench::in_execution().tasks(ALL_DONE);
            bench.stop("s1").run().silent();
            stop(bench)
        }),
        ("the loop was cancelled", || {
            let bench = Bench::in_execution();
            bench.cancel("s1", "").reason();
            stop(bench)
        }),
        ("held by another hook", || {
            on(Bench::in_execution(), |bench| bench.stop("s1").held().run())
        }),
        ("a person must approve", || stop(set("awaitingApproval", true))),
        ("an agent in the background", || {
            let bench = Bench::in_execution();
            let agent = json!([{"type": "subagent", "status": "running", "description": "build"}]);
            on(bench, |bench| bench.stop("s1").with("background_tasks", agent).run())
        }),
        ("no tasks at all", || stop(Bench::ready().tasks("").state(&executing(0, 0)))),
        ("a failed turn without a loop", || {
            let bench = Bench::ready();
            on(bench, |bench| bench.event("StopFailure", "s1").with("error", "overloaded").run())
        }),
    ];
    insta::assert_snapshot!(walked(paths), @r"
    no project: silent
    no feature: silent
    a feature without a folder: silent | there is no folder for feature `009-gone` in `.specify/specs` or `specs`
    no state file: silent
    another phase: silent
    another phase of a loop that was armed: silent
    disabled: silent
    empty input: silent
    bad input: silent
    no usable session: silent | The event names no usable session: the agent may stop
    inside a subagent: silent
    another event: silent
    another session's loop: silent | Feature 001-login is driven by session s2; this session may stop. /speckit:implement 001-login --force takes it over
    the loop is over: silent | The loop of feature 001-login has ended (completed); /speckit:implement 001-login starts a new one
    the loop was cancelled: silent | The loop of feature 001-login has ended (cancelled); /speckit:implement 001-login starts a new one
    held by another hook: silent | Another hook had blocked the turn before this loop did: the agent may stop
    a person must approve: silent | Waiting: a person's approval
    an agent in the background: silent | Waiting: background subagent build
    no tasks at all: silent | Waiting: tasks; there are none
    a failed turn without a loop: silent
    ");
}

#[test]
fn nfr_4_every_reason_to_continue() {
    let paths: &[Path] = &[
        ("open tasks", || stop(Bench::in_execution())),
        ("open tasks, said to be complete", || {
            on(Bench::in_execution(), |bench| bench.stop("s1").saying("ALL_TASKS_COMPLETE").run())
        }),
        ("open tasks, counted complete", || stop(set("taskIndex", 3))),
        ("no list, the counter is behind", || {
            stop(Bench::project().current_feature(FEATURE).state(&executing(2, 3)))
        }),
        ("a check failed", || {
            let bench = Bench::ready().settings("---\nchecks:\n  - \"false\"\n---\n");
            bench.implement("s1", "");
            stop(bench.tasks(ALL_DONE))
        }),
        ("an open task was taken out", || {
            let bench = Bench::taken();
            bench.write_tasks("- [x] T001 Create it\n- [x] T003 [VERIFY] Try it\n");
            stop(bench)
        }),
        ("the list is empty", || stop(Bench::in_execution().tasks(""))),
        ("the list is gone", || {
            let bench = Bench::taken();
            fs::remove_file(bench.feature_path("tasks.md")).unwrap();
            stop(bench)
        }),
        ("the state is corrupt", || stop(Bench::in_execution().raw_state("{"))),
        ("the list cannot be read", || {
            let bench = Bench::in_execution();
            fs::remove_file(bench.feature_path("tasks.md")).unwrap();
            fs::create_dir(bench.feature_path("tasks.md")).unwrap();
            stop(bench)
        }),
    ];
    insta::assert_snapshot!(walked(paths), @r"
    open tasks: block: Continue feature: 001-login (Task 2/3, Iter 1)
    open tasks, said to be complete: block: Continue feature: 001-login (Task 2/3, Iter 1)
    open tasks, counted complete: block: Continue feature: 001-login (Task 2/3, Iter 1)
    no list, the counter is behind: block: Continue feature: 001-login (Task 3/3, Iter 1)
    a check failed: block: Continue feature: 001-login (Task 3/3, Iter 1)
    an open task was taken out: block: Continue feature: 001-login (Task 3/3, Iter 2)
    the list is empty: block: Continue feature: 001-login (Task 2/3, Iter 1)
    the list is gone: block: Continue feature: 001-login (Task 2/3, Iter 2)
    the state is corrupt: block: ERROR: Corrupt state file at PROJECT/.specify/specs/001-login/.speckit-state.json | Problem: EOF while parsing an object at line 1 column 1
    the list cannot be read: block: ERROR: Corrupt task list at PROJECT/.specify/specs/001-login/tasks.md | Problem: it is a folder, not a file
    ");
}
