//! What a person mistypes is refused by name, with the one thing that was probably meant.

use super::support::{FEATURE, FOUR, Project, SPOOL};
use crate::support::terminal::Terminal;

/// Calls `spool` and returns what it says; a call that is refused says so with this code.
#[track_caller]
fn refused(project: &Project, words: &[&str], code: i32) -> String {
    let said = project.spool(words);
    assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{words:?}: {said}");
    said.err
}

#[test]
fn one_name_is_proposed_where_one_is_near() {
    let project = Project::armed(FOUR);
    for (words, code, meant) in [
        (&["task", "done", "T02"][..], 1, "in specs/001-user-login/tasks.md\ndid you mean `T002`?"),
        (&["task", "show", "T0O4"], 1, "did you mean `T004`?"),
        (&["task", "fail", "TT003", "why"], 1, "did you mean `T003`?"),
        (&["task", "add", "--after", "t04", "x"], 1, "did you mean `T004`?"),
        (&["task", "verify", "T4444"], 1, "`spool task list` shows them"),
        (&["cancel", "001-usr-login"], 1, "did you mean `001-user-login`?"),
        (&["start", "001-user-lgoin"], 1, "did you mean `001-user-login`?"),
        (&["cancel", "login"], 1, "did you mean `001-user-login`?"),
        (&["cancel", "unlike"], 1, "name a feature that exists, or make one with spec-kit first"),
        (&["task", "next", "--feature", "002-user-login"], 1, "did you mean `001-user-login`?"),
        (&["staus"], 2, "tip: a similar subcommand exists: 'status'"),
        (&["task", "don", "T002"], 2, "tip: a similar subcommand exists: 'done'"),
        (&["ralph", "x", "--harness", "claud"], 2, "not `claud`; did you mean `claude`?"),
        (&["start", "--max-iterations", "many"], 2, "write a whole number from 1 to 1000000"),
        (&["start", "--max-iterations", "0"], 2, "write a whole number from 1 to 1000000"),
        (&["task", "done", "T002", "--limit", "x"], 2, "write a whole number from 1 to 7200"),
        (&["stop", "--wait", "-"], 2, "write a whole number from 0 to 1000000"),
        (&["log", "--last", "x"], 2, "write a whole number from 0 to 1000000"),
    ] {
        let said = refused(&project, words, code);
        assert!(said.contains(meant), "`{meant}`: {words:?}: {said}");
        assert!(!said.contains("invalid digit"), "{said}");
    }
    assert_eq!(project.tasks(), FOUR);
}

#[test]
fn a_session_is_proposed_by_its_beginning() {
    let project = Project::armed(FOUR);
    let said = refused(&project, &["pause", "--session", "3f2c8a10"], 1);
    let meant = "session `3f2c8a10` has no loop here that is live\ndid you mean `3f2c8a10-0001-4000-8000-000000000001`?";
    assert!(said.contains(meant), "{said}");
    let said = refused(&project, &["pause", "--session", "another"], 1);
    assert!(said.contains("`spool status` lists the loops"), "{said}");
}

#[test]
fn without_a_project_nobody_speaks_of_the_runner_alone() {
    let project = Project::with(FOUR);
    let outside = project.beside("outside");
    std::fs::create_dir_all(&outside).unwrap();
    for command in ["pause", "resume"] {
        let said = project.spool(&[command, "--project", outside.to_str().unwrap()]).refused();
        assert!(said.contains("no loop has run at"), "{said}");
        assert!(said.contains("neither in a session nor of `spool ralph`"), "{said}");
    }
}

#[test]
fn a_loop_that_is_only_armed_can_be_taken_back() {
    let project = Project::with(FOUR).variable("CLAUDE_CODE_SESSION_ID", "");
    project.spool(&["start", FEATURE]).ok();
    let said = refused(&project, &["pause"], 1);
    assert!(
        said.contains("begins when a session stops, and `spool cancel` ends it before"),
        "{said}"
    );
}

#[test]
fn a_person_at_a_terminal_is_not_spoken_to_as_an_agent() {
    let project = Project::with(FOUR).variable("CLAUDE_CODE_SESSION_ID", "");
    let seen = |words: &str| {
        let mut command = project.command(SPOOL);
        command.env("SPOOL", SPOOL);
        Some(Terminal::running(&format!("\"$SPOOL\" {words}"), &command)?.end().1)
    };
    let Some(next) = seen("task next") else { return };
    assert!(next.contains("3 of 4 open.") && next.contains("spool task done T002 T003"), "{next}");
    assert!(!next.contains("elegate"), "{next}");
    let done = seen("task done T002 T003 T004").unwrap();
    assert!(done.contains("All 4 tasks are done.") && !done.contains("ALL_TASKS"), "{done}");
    let blocked = seen("task block 'a key is needed'").unwrap();
    assert!(blocked.contains("Noted") && !blocked.contains("End your turn"), "{blocked}");
}
