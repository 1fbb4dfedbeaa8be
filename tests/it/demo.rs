//! `spool demo`: the first thing a person sees, with the programs as they are built.

use crate::support::limited::Limited;
use ralph_speckit::engine::tasks::TaskList;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the demo with nothing but a search path around it.
fn demo(folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spool"));
    command.arg("demo").arg("--dir").arg(folder).env_clear();
    command.env("PATH", "/usr/bin:/bin").finish()
}

#[test]
fn the_demo_refuses_an_early_finish_and_ends_with_every_box_ticked() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path().join("demo");
    let output = demo(&folder);
    let printed = String::from_utf8(output.stdout).expect("text");
    let errors = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.success(), "{printed}\n{errors}");
    assert_eq!(errors, "");
    assert!(!printed.contains('\u{1b}'), "colours belong on a terminal: {printed:?}");
    for words in [
        "you   | /speckit:implement",
        "claimed done, but 3 tasks are open",
        "3 of 7: T005, T006, T007",
        "all tests passed",
        "7 of 7 tasks done in 5 iterations, 1 early finish refused; the loop ended: completed",
    ] {
        assert!(printed.contains(words), "{words:?} is missing in:\n{printed}");
    }
    let real = folder.canonicalize().expect("the demo's folder");
    assert!(printed.contains(&format!("the files:    {}", real.display())), "{printed}");
    let list = fs::read(folder.join("specs/001-todo-list/tasks.md")).expect("a list");
    let list = TaskList::parse(&list);
    assert_eq!((list.tasks.len(), list.open().count()), (7, 0));
    // What was built works.
    let test = Command::new("sh").arg("test.sh").current_dir(&folder).finish();
    assert!(test.status.success(), "{test:?}");
}

#[test]
fn the_journal_that_the_demo_names_can_be_read() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path().join("demo");
    assert!(demo(&folder).status.success());
    let mut log = Command::new(env!("CARGO_BIN_EXE_spool"));
    let log = log.arg("log").arg("--project").arg(&folder).env_clear().finish();
    let printed = String::from_utf8(log.stdout).expect("text");
    assert_eq!(printed.matches("  continue  ").count(), 4, "{printed}");
    assert_eq!(printed.matches("  end: completed  ").count(), 1, "{printed}");
}

#[test]
fn a_folder_with_something_in_it_is_refused_and_left_as_it_is() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    fs::write(scratch.path().join("mine.txt"), "mine\n").expect("a file");
    let output = demo(scratch.path());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr).expect("text");
    assert!(
        errors.contains("is not an empty folder\nname one that is missing or empty"),
        "{errors}"
    );
    let left: Vec<_> = fs::read_dir(scratch.path()).expect("the folder").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(fs::read_to_string(scratch.path().join("mine.txt")).expect("a file"), "mine\n");
}
