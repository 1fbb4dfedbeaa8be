//! The demo with the real client, as a person starts it.

use crate::support::{on_every_client, program};
use ralph_speckit::engine::tasks::TaskList;
use std::fs;
use std::process::Command;

on_every_client! {
    night night the_demo_plays_with_the_real_client
}

fn the_demo_plays_with_the_real_client(version: &str) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path().join("demo");
    let output = Command::new(env!("CARGO_BIN_EXE_spool"))
        .args(["demo", "--dir"])
        .arg(&folder)
        .arg("--claude")
        .arg(program(version))
        .env("HOME", scratch.path())
        .output()
        .expect("spool");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("1 early finish refused; the loop ended: completed"), "{printed}");
    // Newer clients show the person's line alone, older ones the agent's text as well.
    let words = if version == "2.1.143" { "You wrote ALL_TASKS_COMPLETE, but" } else { "claimed" };
    assert!(printed.contains(words), "{printed}");
    let list = fs::read(folder.join("specs/001-todo-list/tasks.md")).expect("a list");
    let list = TaskList::parse(&list);
    assert_eq!((list.tasks.len(), list.open().count()), (7, 0));
    // The client's own home was a scratch one: nothing was put into the person's.
    assert!(!scratch.path().join(".claude").exists());
}
