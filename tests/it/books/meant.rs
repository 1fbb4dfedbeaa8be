//! What a person mistypes is refused by name, with the one thing that was probably meant.

use super::support::{FEATURE, FOUR, Project, SPOOL};
use crate::support::has::Has;
use crate::support::terminal::Terminal;

/// Calls `spool` and returns what it says; a call that is refused says so with this code.
#[track_caller]
fn refused(project: &Project, words: &[&str], code: i32) -> String {
    let said = project.spool(words);
    assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{words:?}: {said}");
    said.err
}

#[test]
fn near_name_is_proposed() {
    let project = Project::armed(FOUR);
    for (words, code, meant) in [
        (&["task", "done", "T02"][..], 1, "in specs/001-user-login/tasks.md\ndid you mean `T002`?"),
        (&["task", "show", "T0O4"], 1, "did you mean `T004`?"),
        (&["task", "fail", "TT003", "why"], 1, "did you mean `T003`?"),
        (&["task", "add", "--after", "t04", "x"], 1, "did you mean `T004`?"),
        (&["task", "verify", "T4444"], 1, "`spool task list` shows them"),
        (&["cancel", "001-usr-login"], 1, "did you mean `001-user-login`?"),
        (&["start", "001-user-lgoin"], 1, "did you mean `001-user-login`?"),
        (&["cancel", "lgoin"], 1, "did you mean `001-user-login`?"),
        (&["stop", "unlike"], 1, "no loop here is called `unlike`\nthere are:\n  001-user-login\n"),
        (&["stop", "--feature", "unlike"], 1, "there is only `001-user-login`"),
        (&["pause", "-f", "002-user-login"], 1, "did you mean `001-user-login`?"),
        (&["resume", "user-lgoin"], 1, "did you mean `001-user-login`?"),
        (&["status", "001-usr-login"], 1, "did you mean `001-user-login`?"),
        (&["log", "001-usr-login"], 1, "did you mean `001-user-login`?"),
        (
            &["log", "--change", "001-user-login"],
            1,
            "has not run here on a change that is called `001-user-login`\n",
        ),
        (&["stop", "-s", "3f2c8a11"], 1, "did you mean `3f2c8a10-0001-4000-8000-000000000001`?"),
        (&["stop", ""], 1, "no loop here is called ``"),
        (&["stop", "--change", ""], 1, "on a change that is called ``"),
        (&["stop", "x", "--feature", "y"], 2, "cannot be used with"),
        (&["task", "next", "--feature", "002-user-login"], 1, "did you mean `001-user-login`?"),
        (&["task", "next", "-f", "lgoin"], 1, "no feature here is called `lgoin`\ndid you mean"),
        (&["task", "next", "-f", "../x"], 1, "`../x` cannot be a feature"),
        (&["review", "lgoin", "--last"], 1, "did you mean `001-user-login`?"),
        (&["adopt", "001-usr-login"], 1, "did you mean `001-user-login`?"),
        (&["adopt", "-s", "3f2c8a11"], 1, "did you mean `3f2c8a10-0001-4000-8000-000000000001`?"),
        (&["adopt", "x", "--feature", "y"], 2, "cannot be used with"),
        (&["ralph", "x", "-c", "001-usr-login"], 2, "did you mean `001-user-login`?"),
        (&["staus"], 2, "subcommands exist: '"),
        (&["task", "don", "T002"], 2, "tip: some similar subcommands exist: 'drop', 'done'"),
        (&["ralph", "x", "--harness", "claud"], 2, "not `claud`; did you mean `claude`?"),
        (
            &["ralph", "x", "--fallback-harness", "cladue"],
            2,
            "not `cladue`; did you mean `claude`?",
        ),
        (&["ralph", "x", "--fallback-harness", "cladue"], 2, "needs `claude`, `opencode`, `codex`"),
        (&["ralph", "x", "--harness", "acq:x"], 2, "`demo` or `acp:COMMAND`, not `acq:x`"),
        (&["ralph", "x", "--token-budget", "1m"], 2, "needs a whole number such as `5000000`"),
        (&["ralph", "x", "--allow"], 2, "a value is required for '--allow <"),
        (&["log", "--iteration"], 2, "a value is required for '--iteration <"),
        (&["start", "--max-iterations", "many"], 2, "needs a whole number from 1 to 1000000"),
        (&["start", "--max-iterations", "0"], 2, "needs a whole number from 1 to 1000000"),
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
fn commands_share_loop_names() {
    let session = super::support::SESSION;
    for name in [
        &[FEATURE][..],
        &["1"],
        &["login"],
        &["--feature", FEATURE],
        &["-f", "001"],
        &[session],
        &["3f2c8a10"],
        &["--session", session],
        &["-s", "3f"],
    ] {
        let project = Project::armed(FOUR);
        // In the log, `-f` is --follow.
        let of_log: Vec<&str> =
            name.iter().map(|word| if *word == "-f" { "--feature" } else { word }).collect();
        let log = project.spool(&[&["log"], &of_log[..]].concat()).ok();
        assert!(log.contains(FEATURE) && log.contains("armed"), "{name:?}: {log}");
        let said = |command: &str| project.spool(&[&[command], name].concat()).ok();
        assert!(said("status").contains("Feature: 001-user-login"), "{name:?}");
        assert!(said("pause").contains("paused: 001-user-login"), "{name:?}");
        assert!(said("resume").contains("continued: 001-user-login"), "{name:?}");
        let stopped = said("stop");
        assert!(stopped.contains("Loop cancelled."), "{name:?}: {stopped}");
    }
}

#[test]
fn status_finds_features_without_loops() {
    let project = Project::armed(FOUR);
    project.write("specs/002-shop-cart/tasks.md", "- [x] T001 Add a\n- [ ] T002 Add b\n");
    let all = project.spool(&["status"]).ok();
    assert!(all.contains(FEATURE) && !all.contains("002-shop-cart"), "{all}");
    for name in ["2", "002-shop-cart", "cart", "specs/002-shop-cart/tasks.md"] {
        for words in [&["status", "-f", name][..], &["status", name]] {
            let shown = project.spool(words).ok();
            let told = shown.contains("Loop: none") && shown.contains("Tasks: 1 of 2 done");
            assert!(told && !shown.contains(FEATURE), "{words:?}: {shown}");
        }
    }
}

#[test]
fn one_kind_shares_short_forms() {
    let project = Project::armed(FOUR);
    for name in [FEATURE, "001", "1", "login"] {
        for flag in ["--feature", "-f"] {
            let next = project.spool(&["task", "next", flag, name]).ok();
            assert!(next.contains("T002"), "{name}: {next}");
        }
        let said = refused(&project, &["review", name, "--last"], 1);
        assert!(said.contains("`001-user-login` was never reviewed"), "{name}: {said}");
        for flag in ["--change", "-c"] {
            let plan = project.spool(&["ralph", "x", flag, name, "--dry-run"]).ok();
            assert!(plan.contains("Change: 001-user-login"), "{name}: {plan}");
        }
    }
    let session = super::support::SESSION;
    let names: [&[&str]; 6] =
        [&[FEATURE], &["1"], &["login"], &["-f", "001"], &["3f2c8a10"], &["-s", "3f"]];
    for name in names {
        let terminal = Project::armed(FOUR).variable("CLAUDE_CODE_SESSION_ID", "");
        let said = refused(&terminal, &[&["adopt"], name].concat(), 1);
        assert!(said.contains(&format!("/speckit:ralph-loop --adopt {session}")), "{said}");
        let other = Project::armed(FOUR).variable("CLAUDE_CODE_SESSION_ID", "other-session");
        let said = refused(&other, &[&["adopt", "--force"], name].concat(), 1);
        let typed = format!("/speckit:ralph-loop --adopt {session} --force");
        assert!(said.contains("by a person alone") && said.contains(&typed), "{name:?}: {said}");
        let said = refused(&other, &[&["adopt"], name].concat(), 1);
        let is_told = said.contains(&format!("session {session} works on"));
        assert!(is_told && !said.contains("--force"), "{name:?}: {said}");
    }
}

#[test]
fn stop_and_cancel_are_one_command() {
    let said = |command: &str, name: &[&str]| {
        let project = Project::armed(FOUR);
        project.spool(&[&[command], name].concat()).ok()
    };
    for name in [&[][..], &[FEATURE], &["-s", "3f2c8a10"]] {
        assert_eq!(said("stop", name), said("cancel", name));
    }
    let project = Project::armed(FOUR);
    let help = |command: &str| project.spool(&[command, "--help"]).ok();
    assert_eq!(help("stop"), help("cancel"));
}

#[test]
fn named_loop_is_shown_alone() {
    let project = Project::armed(FOUR);
    let other = project.spool(&["status", FEATURE, "--json"]).ok();
    let form: serde_json::Value = serde_json::from_str(&other).unwrap();
    assert_eq!(form["features"].as_array().unwrap().len(), 1, "{form:#}");
    assert_eq!(
        (&form["tasks"], &form["runners"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
}

#[test]
fn without_project_not_only_runners() {
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
fn armed_loop_can_be_withdrawn() {
    let project = Project::with(FOUR).variable("CLAUDE_CODE_SESSION_ID", "");
    project.spool(&["start", FEATURE]).ok();
    let said = refused(&project, &["pause"], 1);
    said.has("begins when a session stops, and `spool stop` ends it before");
}

#[test]
fn person_is_not_called_agent() {
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
