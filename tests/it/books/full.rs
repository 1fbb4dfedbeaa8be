//! Standard output that cannot be written: the work is done, the words go to standard error, the exit code is 1.

#![cfg(target_os = "linux")]

use crate::support::limited::Limited;
use serde_json::Value;
use std::fs::{self, File};
use std::process::Stdio;

use super::support::{FOUR, Project, SESSION, SPOOL};

const OTHER: &str = "3f2c8a10-0002-4000-8000-000000000002";

/// Calls `spool` with a standard output that is always full; returns its exit code and what it said on
/// standard error. A program that aborts has no code.
#[track_caller]
fn spool_with_full_output(project: &Project, arguments: &[&str]) -> (Option<i32>, String) {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = project.command(SPOOL);
    command.args(arguments).stdin(Stdio::null()).stdout(full).stderr(Stdio::piped());
    let output = command.spawn().unwrap().finish();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[track_caller]
fn is_said(project: &Project, arguments: &[&str], words: &str) {
    let (code, said) = spool_with_full_output(project, arguments);
    assert_eq!(code, Some(1), "{arguments:?}: {said}");
    assert!(
        said.contains("standard output cannot be written: No space left"),
        "{arguments:?}: {said}"
    );
    assert!(said.contains(words), "{arguments:?}: {said}");
}

/// The session was heard of two hours ago.
fn silence(project: &Project) {
    let record = project.record_path(SESSION);
    for path in [record.with_file_name("feature-001-user-login.json"), record] {
        let mut noted: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for field in ["armed_at", "seen_at"] {
            if let Some(at) = noted[field].as_u64().filter(|at| *at > 0) {
                noted[field] = (at - 2 * 3_600_000).into();
            }
        }
        fs::write(path, noted.to_string()).unwrap();
    }
}

#[test]
fn l7_full_output_exits_with_1() {
    let project = Project::armed(FOUR);
    for (arguments, words) in [
        (&["task", "next"][..], "T002"),
        (&["task", "next", "--json"], "\"status\""),
        (&["task", "show", "T002"], "T002"),
        (&["task", "list"], "1 of 4 done"),
        (&["task", "list", "--json"], "T002"),
        (&["task", "verify", "T002"], "no Verify command"),
        (&["status"], "001-user-login"),
        (&["status", "--json"], "001-user-login"),
        (&["log"], "armed"),
        (&["log", "--json"], "armed"),
        (&["doctor"], ""),
        (&["pause"], "paused"),
        (&["resume"], "iteration"),
        (&["task", "add", "--after", "T004", "Say goodbye"], "Added T005"),
        (&["task", "done", "T002"], "T002 is done."),
        (&["task", "fail", "T003", "no"], "Counted"),
    ] {
        if arguments.contains(&"done") {
            project.work_on(&["T002"]);
        }
        is_said(&project, arguments, words);
    }
    assert!(project.tasks().contains("- [x] T002") && project.tasks().contains("T005 Say goodbye"));
    assert_eq!(project.state()["taskAttempts"]["T003"], 1);
    project.assert_books_agree();
    is_said(&project, &["task", "block", "a key"], "blocked");
    assert!(project.stop("I need a key.").told().contains("a key"));
    is_said(&project, &["start"], "the loop is armed");
    project.stop("Not yet.").reason();
    is_said(&project, &["block", "a key"], "blocked");
    is_said(&project, &["start"], "the loop is armed");
    silence(&project);
    let project = project.variable("CLAUDE_CODE_SESSION_ID", OTHER);
    is_said(&project, &["adopt", "--session", SESSION], "taken over from session");
    is_said(&project, &["cancel"], "cancelled");
    assert!(!project.state_path().exists());
    is_said(&project, &["plugin", "build", project.beside("plugin").to_str().unwrap()], "");
}

#[test]
fn l7_help_and_errors_abort_nothing() {
    let project = Project::armed(FOUR);
    for (arguments, code) in [
        (&["--help"][..], 1),
        (&["--version"], 1),
        (&["task", "--help"], 1),
        (&["task", "done", "T999"], 1),
        (&["no-such-thing"], 2),
        (&["ralph", "--help"], 1),
    ] {
        let (found, said) = spool_with_full_output(&project, arguments);
        assert_eq!(found, Some(code), "{arguments:?}: {said}");
    }
}

#[test]
fn l7_departed_reader_hears_nothing() {
    let project = Project::armed(FOUR);
    let script = format!("\"{SPOOL}\" log --json | true; \"{SPOOL}\" task list --all | true");
    let mut command = project.command("/bin/sh");
    let output = command.args(["-c", &script]).finish();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{output:?}");
}
