//! A person's checks: run when the list is complete, believed before any word of the agent.

use crate::support::has::Has;
use crate::support::limited::{Limited, within};
use std::fs;
use std::process::Stdio;

use serde_json::json;

use super::support::{FOUR, Hooked, Project, boxes};

const ALL: &str = "ALL_TASKS_COMPLETE";
const DONE: &str = "- [x] T001 Create it\n- [x] T002 Fill it\n";

/// A project with these lines under `checks:`, its loop armed, and then this list.
fn project(checks: &str, tasks: &str) -> Project {
    let project = Project::with("- [x] T001 Create it\n- [ ] T002 Fill it\n");
    project.write(".claude/ralph-speckit.local.md", format!("---\nchecks:\n{checks}---\n"));
    project.arm("");
    let before = project.tasks();
    project.edit_tasks(&before, tasks);
    project
}

#[test]
fn checks_run_on_complete_lists() {
    let project = project("  - echo run >>runs\n", "- [x] T001 Create it\n- [ ] T002 Fill it\n");
    project.stop("Half of it.").reason();
    project.stop(&format!("Believe me.\n\n{ALL}")).reason();
    assert!(!project.root.join("runs").exists());
    project.task(&["done", "T002"]).ok();
    assert!(!project.root.join("runs").exists(), "`spool task` does not run them");
    project.stop(ALL).silent();
    assert_eq!(fs::read_to_string(project.root.join("runs")).unwrap(), "run\n");
    assert_eq!(project.end(), "completed");
}

#[test]
fn failing_check_sends_back_until_green() {
    let project = project("  - run: seq 1 9000; test -e repaired\n    limit: 60\n", DONE);
    for _ in 0..2 {
        let stop = project.stop(ALL);
        let reason = stop.reason();
        assert!(reason.contains("Check failed: `seq 1 9000; test -e repaired` (exit code 1)\nThe end of its output:\n"), "{reason}");
        assert!(
            reason.contains("\n| 8999\n| 9000\n") && !reason.contains("\n| 1000\n"),
            "{reason}"
        );
        assert!(reason.chars().count() < 4_000);
        project.agent_works();
    }
    let log = project.log().pop().unwrap();
    assert_eq!(log["words"], "check failed: `seq 1 9000; test -e repaired` (exit code 1)");
    project.write("repaired", "");
    project.stop(ALL).silent();
    assert_eq!(project.end(), "completed");
}

#[test]
fn only_failing_checks_are_named() {
    let project = project(
        "  - 'true'\n  - no-such-tool --strict\n  - run: sleep 600\n    limit: 1\n  - exit 7\n",
        DONE,
    );
    let stop = project.stop(ALL);
    let reason = stop.reason();
    reason.has("`no-such-tool --strict` (exit code 127: no such program)");
    assert!(reason.contains("`sleep 600` (over its limit of 1 s, ended)"), "{reason}");
    assert!(reason.contains("`exit 7` (exit code 7)") && !reason.contains("`true`"), "{reason}");
}

#[test]
fn testless_check_passes_where_allowed() {
    let none = "echo 'test result: ok. 0 passed; 0 failed; 9 filtered out'";
    let found = "cat tests.out";
    project(&format!("  - \"{none}\"\n"), DONE).stop(ALL).silent();
    let settings = format!(
        "  - run: \"{none}\"\n    min_tests: 1\n  - run: {found}\n    min_tests: 12\n    expect: ok. * passed; 0 failed\n  - run: echo built\n    min_tests: 1\n"
    );
    let project = project(&settings, DONE);
    let pin = project.spool(&["status", "--json"]).ok();
    assert!(pin.contains("\"min_tests\": 12") && pin.contains("ok. * passed; 0 failed"), "{pin}");
    let status = project.spool(&["status"]).ok();
    status.has("(within 300 s, tests passed: 12 or more, output has `ok. *");
    let said = |output: &str| {
        project.write("tests.out", output);
        project.agent_works();
        project.stop(ALL).reason().to_owned()
    };
    let reason = said("\u{1b}[1mtest result: ok. 11 passed; 0 failed\u{1b}[0m\n");
    reason.has(&format!("`{none}` (exit code 0, but tests passed: 0, and 1 or more have to)"));
    reason.has("`cat tests.out` (exit code 0, but tests passed: 11, and 12 or more");
    reason.has("`echo built` (exit code 0, but its output has no number of tests");
    let reason = said("test result: ok. 12 passed; 1 failed\n");
    assert!(reason.contains("but no line of its output has `ok. * passed; 0 failed`)"), "{reason}");
    let filler = "test a ... ok\n".repeat(9_000);
    let reason = said(&format!("test result: ok. 12 passed; 0 failed\n{filler}"));
    assert!(!reason.contains("cat tests.out"), "far from the end: {reason}");
}

#[test]
fn missing_tasks_delay_the_checks() {
    let project = project("  - echo run >>runs\n", "- [x] T001 Create it\n");
    assert!(project.stop(ALL).reason().contains("left tasks.md: T002"));
    assert!(!project.root.join("runs").exists());
    project.agent_works();
    let stop = project.stop(ALL);
    assert!(stop.told().contains("taken out of the list: T002"), "{}", stop.told());
    let runs = fs::read_to_string(project.root.join("runs")).unwrap();
    assert_eq!(runs, "run\n", "once, at the end");
}

/// A stop whose check has begun and waits; `meanwhile` happens before it may end.
fn stop_with_slow_check(project: &Project, meanwhile: impl FnOnce()) -> Hooked {
    for pipe in ["begun", "go"] {
        let made = project.command("mkfifo").arg(pipe).finish().status;
        assert!(made.success());
    }
    let mut command = project.command(super::support::HOOK);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut hook = command.spawn().unwrap();
    serde_json::to_writer(hook.stdin.take().unwrap(), &project.stop_event(ALL)).unwrap();
    // Both sides of a pipe wait for each other.
    let begun = project.root.join("begun");
    let begun = within("the check begins", || fs::read_to_string(begun).unwrap());
    assert_eq!(begun, "yes\n");
    meanwhile();
    fs::write(project.root.join("go"), "go\n").unwrap();
    Hooked::from(&hook.finish())
}

const SLOW: &str = "  - echo yes >begun; read word <go; test $word = go\n";

#[test]
fn cancel_during_checks_ends_now() {
    let project = project(SLOW, DONE);
    let answer = stop_with_slow_check(&project, || {
        let said = project.spool(&["cancel"]).ok();
        assert!(said.contains("Loop cancelled."), "{said}");
    });
    assert!(answer.told().contains("ended (cancelled)"), "{answer:?}");
    let status = project.status();
    assert_eq!(
        (&status["loop"]["state"], &status["loop"]["end"]["name"]),
        (&json!("ended"), &json!("cancelled"))
    );
    assert!(!project.state_path().exists(), "no state file comes back");
    project.stop(ALL).silent();
}

#[test]
fn books_stay_open_during_checks() {
    let project = project(SLOW, DONE);
    let answer = stop_with_slow_check(&project, || {
        project.task(&["add", "--after", "T002", "Forgotten"]).ok();
    });
    assert!(answer.reason().contains("1 of 3: T003"), "{}", answer.reason());
    assert_eq!(boxes(&project.tasks()), [true, true, false]);
}

#[test]
fn switched_off_loop_runs_nothing() {
    let project = Project::armed(FOUR);
    project.write(
        ".claude/ralph-speckit.local.md",
        "---\nenabled: false\nchecks:\n  - echo run >>runs\n---\n",
    );
    project.edit_tasks("[ ]", "[x]");
    assert!(project.stop(ALL).told().contains("switches the loop of 001-user-login off"));
    project.stop(ALL).silent();
    assert!(!project.root.join("runs").exists());
}

/// A project whose loop is armed with these settings, and then its list is done.
fn done_with(settings: impl AsRef<[u8]>) -> Project {
    let project = Project::with("- [x] T001 Create it\n- [ ] T002 Fill it\n");
    project.write(".claude/ralph-speckit.local.md", settings);
    project.arm("");
    project.edit_tasks("[ ]", "[x]");
    project
}

#[test]
fn s3_checks_hold_in_any_yaml() {
    for settings in [
        "---\nchecks: [\"echo run >>runs; exit 7\"]\n---\n",
        "---\nchecks: [{run: echo run >>runs; exit 7}]\n---\n",
        "---\n{checks: ['echo run >>runs; exit 7']}\n---\n",
        "---\nchecks:\n  - |\n    echo run >>runs\n    exit 7\n---\n",
        "---\nchecks:\n  - run: >-\n      echo run >>runs;\n      exit 7\n---\n",
        "---\n\"checks\":\n  - echo run >>runs; exit 7\n---\n",
        "---\nchecks: &all\n  - &one echo run >>runs; exit 7\n---\n",
    ] {
        let project = done_with(settings);
        let stop = project.stop(ALL);
        assert!(stop.reason().contains("(exit code 7)"), "{settings}: {}", stop.reason());
        assert_eq!(fs::read_to_string(project.root.join("runs")).unwrap(), "run\n", "{settings}");
    }
}

#[test]
fn s3_unusable_settings_keep_armed_checks() {
    let utf_16: Vec<u8> = "\u{feff}---\nchecks:\n  - exit 7\n---\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let large = format!("---\nchecks:\n  - exit 7\n---\n{}", "prose ".repeat(20_000));
    for (settings, what) in [
        (b"---\ncheck:\n  - exit 7\n---\n".to_vec(), "unknown key `check`"),
        (b"---\nchecks: exit 7\n---\n".to_vec(), "`checks` is no list"),
        (b"---\nchecks:\n  - exit 7\n".to_vec(), "no line of `---` closes them"),
        (b"---\nchecks:\n\t- exit 7\n---\n".to_vec(), "it is no YAML: tabs disallowed"),
        (b"---\nchecks:\n  - caf\xe9\n---\n".to_vec(), "it is not UTF-8 text"),
        (b"\x7fELF\x01\0\0".to_vec(), "no text"),
        (utf_16, "it is UTF-16 text"),
        (large.into_bytes(), "at most 65536 are read"),
        (b"".to_vec(), "it is empty"),
    ] {
        // The checks that were armed still hold, and the person reads what is wrong now.
        let project = project("  - exit 7\n", DONE);
        project.write(".claude/ralph-speckit.local.md", settings);
        let stop = project.stop(ALL);
        assert!(stop.reason().contains("`exit 7` (exit code 7)"), "{}", stop.reason());
        let told = stop.answer.as_ref().unwrap()["systemMessage"].as_str().unwrap();
        assert!(told.contains(what), "{what} not in {told}");
        assert_ne!(project.end(), "completed", "{what}");
    }
}

#[test]
fn s3_status_names_settings_trouble() {
    let project = Project::armed(FOUR);
    assert_eq!(
        project.spool(&["status", "--json"]).json()["settings_problem"],
        serde_json::Value::Null
    );
    project.write(".claude/ralph-speckit.local.md", "---\ncheck:\n  - exit 7\n---\n");
    let status = project.spool(&["status"]).ok();
    let wanted = "Nothing can be armed: `.claude/ralph-speckit.local.md`, line 2: unknown key `check`; did you mean `checks`?\n";
    assert!(status.contains(wanted), "{status}");
}
