//! `Verify` commands: what they prove is ticked, what they refuse stays open.

use crate::support::has::Has;
use crate::support::limited::{Limited, PATIENCE};
use std::sync::mpsc;

use super::support::{FEATURE, Project, Said, boxes};
use crate::support::scratch::SPOOL;

fn list(command: &str) -> String {
    format!("- [ ] 1.1 Build it\n  - **Do**: build\n  - **Verify**: `{command}`\n- [ ] 1.2 Next\n")
}

#[test]
fn passing_command_ticks_the_box() {
    let project = Project::armed(&list("touch proved && test -d specs"));
    let said = project.task(&["done", "1.1"]).ok();
    assert_eq!(said, "1.1 is done.\n1 of 2 open, next 1.2: spool task next\n");
    assert!(project.root.join("proved").is_file(), "it runs in the project's root");
    project.assert_books_agree();
}

#[test]
fn failing_command_keeps_box_open() {
    let project = Project::armed(&list("echo 3 tests failed; exit 1"));
    let before = project.state();
    let said = project.task(&["done", "1.1"]).refused();
    assert_eq!(
        said,
        "1.1 is not ticked: `echo 3 tests failed; exit 1` failed: exit code 1\n3 tests failed\nFix it and call done again, or: spool task fail 1.1 \"why\"\n"
    );
    assert_eq!(boxes(&project.tasks()), [false, false]);
    assert_eq!(project.state(), before, "a refusal is no attempt");
    assert_eq!(project.entries(), Vec::<String>::new());
}

#[test]
fn overdue_command_ends_with_grandchildren() {
    let project = Project::armed(&list("sh -c 'exec 3>alive; echo begun; sleep 600' & wait"));
    let made = project.command("mkfifo").arg("alive").finish().status;
    assert!(made.success());
    // The pipe comes to its end when the last process that holds it has.
    let (sender, all_gone) = mpsc::channel();
    let alive = project.root.join("alive");
    std::thread::spawn(move || sender.send(std::fs::read(alive).unwrap()));
    let said = project.task(&["done", "1.1", "--limit", "1"]).refused();
    assert!(said.contains("failed: over its limit of 1 s, ended\nbegun\n"), "{said}");
    let gone = all_gone.recv_timeout(PATIENCE);
    assert!(gone.is_ok(), "a grandchild outlived its limit");
    assert_eq!(boxes(&project.tasks()), [false, false]);
}

#[test]
fn verify_ticks_nothing() {
    let project = Project::armed(&list("test -e built"));
    let said = project.task(&["verify", "1.1"]).refused();
    assert_eq!(said, "`test -e built` failed: exit code 1\n(it printed nothing)\n");
    project.write("built", "");
    assert_eq!(project.task(&["verify", "1.1"]).ok(), "1.1 passes: `test -e built`\n");
    let said = project.task(&["verify", "1.2"]).ok();
    assert_eq!(said, "1.2 has no Verify command in backticks: check it by reading.\n");
    assert_eq!(boxes(&project.tasks()), [false, false]);
    assert_eq!(project.entries(), Vec::<String>::new());
}

#[test]
fn passing_tasks_are_ticked_among_several() {
    let list = "- [ ] 1.1 [P] a\n  - Verify: `false`\n- [ ] 1.2 [P] b\n  - Verify: `test -d .`\n- [ ] 1.3 [P] c\n";
    let project = Project::armed(list);
    let said = project.task(&["done", "1.1", "1.2", "1.3"]).refused();
    assert!(said.contains("1.1 is not ticked: `false` failed: exit code 1"), "{said}");
    assert!(said.contains("1.2 is done.\n1.3 is done. Proved by tick: "), "{said}");
    assert_eq!(boxes(&project.tasks()), [false, true, true]);
    project.assert_books_agree();
}

#[test]
fn command_may_keep_the_books() {
    let spool = super::support::SPOOL;
    let project = Project::armed(&list(&format!("{spool} task done 1.2")));
    let said = project.task(&["done", "1.1"]).ok();
    assert!(said.contains("1.1 is done.\nAll 2 tasks are done."), "{said}");
    assert_eq!(boxes(&project.tasks()), [true, true]);
    project.assert_books_agree();
}

#[test]
fn other_text_reaches_no_shell() {
    let trap = "- [ ] 1.1 $(touch a) `touch b`\n  - Do: `touch c`\n  - Verify: run it; touch d\n";
    let project = Project::armed(trap);
    project.task(&["done", "1.1"]).ok();
    project.task(&["add", "--after", "1.1", "$(touch e) `touch f`"]).ok();
    project.task(&["fail", "1.2", "$(touch g)\n  - Verify: `touch h`"]).ok();
    project.task(&["done", "1.2"]).ok();
    let made = |name: &&str| project.root.join(name).exists();
    assert!(!["a", "b", "c", "d", "e", "f", "g", "h"].iter().any(made));
}

#[test]
fn only_armed_commands_run() {
    let list = "- [ ] T001 Create it\n  - **Verify**: `touch ran`\n- [ ] T002 Fill it\n";
    let project = Project::armed(list);
    let ran = project.root.join("ran");

    // Another command in its place: nothing runs, nothing is ticked, the old one is named.
    project.edit_tasks("`touch ran`", "`touch ran; true`");
    let said = project.task(&["done", "T001"]).refused();
    assert!(said.contains("Put it back: `touch ran`"), "{said}");
    assert!(project.task(&["verify", "T001"]).refused().contains("Put it back: `touch ran`"));
    project.edit_tasks("  - **Verify**: `touch ran; true`\n", "");
    assert!(project.task(&["done", "T001"]).refused().contains("Put it back: `touch ran`"));
    assert_eq!(boxes(&project.tasks()), [false, false]);
    assert!(!ran.exists());

    // A command where there was none: named, not run, and it holds up nothing.
    project.edit_tasks("T002 Fill it\n", "T002 Fill it\n  - Verify: `touch ran`\n");
    let said = project.task(&["done", "T002"]).ok();
    said.has("is none of those that were armed, and was not run: run it yourself: `touch ran`");
    assert_eq!(boxes(&project.tasks()), [false, true]);
    assert!(!ran.exists());

    // A person who arms again has seen the list.
    project.edit_tasks("T001 Create it\n", "T001 Create it\n  - Verify: `touch ran`\n");
    project.arm("");
    project.task(&["done", "T001"]).ok();
    assert!(ran.exists());
}

/// Both tasks are ticked by hand, and the command of the second one fails at the stop.
fn ticked_and_failed() -> Project {
    let project = Project::armed("- [ ] T001 a\n- [ ] T002 b\n  - Verify: `test -e built`\n");
    project.work_on(&["T001", "T002"]);
    project.edit_tasks("[ ] T001", "[x] T001");
    project.edit_tasks("[ ] T002", "[x] T002");
    let stop = project.stop("All.");
    let told = stop.answer.as_ref().unwrap()["systemMessage"].to_string();
    told.has("1 of 2 done").has("check failed: `test -e built`").has("next T002");
    project
}

/// Every command says that the ticked T002 is open.
fn says_open(project: &Project) {
    let status = project.status();
    let open = serde_json::json!(["T002"]);
    assert_eq!((&status["open"], &status["not_proved"]), (&open, &open), "{status:#}");
    assert_eq!((&status["done"], &status["total"]), (&1.into(), &2.into()), "{status:#}");
    project.call(&["list"]).ok().has("[ ] T002 b").has("1 of 2 done");
    let doubt = "T002 is not proved: its Verify command failed";
    project.spool(&["status"]).ok().has(doubt);
}

#[test]
fn failed_verify_outlives_the_loop() {
    let project = ticked_and_failed();
    says_open(&project);
    project.spool(&["stop"]).ok();
    says_open(&project);
    let next = project.status()["loop"]["next"].to_string();
    next.has("which opens T002 again");
    // Armed in a terminal and ended there, the task is as open as before.
    let command = || {
        let mut terminal = project.command(SPOOL);
        terminal.env_remove("CLAUDE_CODE_SESSION_ID");
        terminal
    };
    let start = Said::of(command().args(["start", FEATURE])).ok();
    start.has("Ticked in the loop before, not proved, and open: T002");
    Said::of(command().args(["stop", FEATURE])).ok();
    assert_eq!(project.status()["open"], serde_json::json!(["T002"]));
    project.arm("");
    let said = project.call(&["done", "T002"]).refused();
    said.has("T002 is not ticked: `test -e built` failed");
    project.spool(&["log"]).ok().has("T002 check failed: `test -e built` (exit code 1)");
    project.write("built", "x");
    project.call(&["done", "T002"]).ok();
    assert_eq!(project.status()["open"], serde_json::json!([]));
}

#[test]
fn failed_verify_waits_for_its_pass() {
    let project = ticked_and_failed();
    // A task that is added meanwhile keeps the checks from running.
    project.call(&["add", "--after", "T002", "Build it"]).ok();
    project.agent_works();
    let stop = project.stop("More to do.");
    stop.answer.as_ref().unwrap()["systemMessage"].to_string().has("1 of 3 done");
    project.spool(&["stop"]).ok();
    let open = serde_json::json!(["T002", "T003"]);
    assert_eq!(project.status()["open"], open);
    // Without a stop: the box is ticked after the command failed.
    let project = Project::armed("- [ ] T001 a\n- [ ] T002 b\n  - Verify: `test -e built`\n");
    project.task(&["done", "T002"]).refused().has("T002 is not ticked: `test -e built` failed");
    project.edit_tasks("[ ] T002", "[x] T002");
    project.spool(&["stop"]).ok();
    assert_eq!(project.status()["not_proved"], serde_json::json!(["T002"]));
}

#[test]
fn passed_verify_counts_at_once() {
    let project = ticked_and_failed();
    project.write("built", "x");
    project.call(&["done", "T002"]).ok().has("T002 is done");
    assert_eq!(project.status()["open"], serde_json::json!([]));
    project.agent_works();
    project.stop("ALL_TASKS_COMPLETE");
    assert_eq!(project.end(), "completed");
}
