//! `Verify` commands: what they prove is ticked, what they refuse stays open.

use crate::support::has::Has;
use crate::support::limited::{Limited, PATIENCE};
use std::sync::mpsc;

use super::support::{Project, boxes};

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
