//! What a person is asked on a terminal before a command runs that nobody armed, and each of their answers.

use super::support::{Project, SPOOL};
use crate::support::terminal::{CTRL_C, Terminal};

const SETTINGS: &str = ".claude/ralph-speckit.local.md";
/// A list whose Verify command leaves a trace.
const LIST: &str = "- [ ] T001 Create it\n  - **Verify**: `touch built`\n- [ ] T002 Fill it\n";
/// The key that ends the input.
const CTRL_D: &str = "\x04";
/// What is typed, and whether it is a yes.
const ANSWERS: [(&str, bool); 12] = [
    ("y\n", true),
    ("Yes\n", true),
    ("  yes  \n", true),
    ("n\n", false),
    ("no\n", false),
    ("\n", false),
    ("yy\n", false),
    ("y n\n", false),
    ("\x1b[Ay\n", false),
    (CTRL_D, false),
    // Without a line break the first Ctrl-D hands over what was typed, the second one ends the input.
    ("n\x04\x04", false),
    ("\u{0443}\n", false),
];

/// `spool` in a terminal of the person's own; the words go through a shell.
fn terminal(project: &Project, words: &str) -> Option<Terminal> {
    let mut command = project.command(SPOOL);
    command.env_remove("CLAUDE_CODE_SESSION_ID").env("SPOOL", SPOOL);
    Terminal::running(&format!("\"$SPOOL\" {words}"), &command)
}

#[test]
fn wide_log_entry_continues_indented() {
    let project = with_tracked_check();
    project.spool(&["task", "block", "put the key into .env, which is a file of yours"]).ok();
    let mut command = project.command(SPOOL);
    command.env_remove("CLAUDE_CODE_SESSION_ID").env("SPOOL", SPOOL);
    let line = "stty cols 60; \"$SPOOL\" log";
    let Some(terminal) = Terminal::running(line, &command) else { return };
    let (code, seen) = terminal.end();
    let lines: Vec<&str> = seen.lines().map(str::trim_end).collect();
    assert_eq!(code, Some(0), "{seen}");
    assert!(lines.iter().any(|line| line.starts_with("    ")), "{seen}");
    assert!(lines.iter().all(|line| line.chars().count() < 75), "{seen}");
}

fn with_tracked_check() -> Project {
    let project = Project::with(LIST);
    project.write(SETTINGS, "---\nchecks:\n  - test -e built\n---\n");
    project
}

#[test]
fn s1_unarmed_command_needs_a_yes() {
    let project = Project::with(LIST);
    for (keys, is_yes) in ANSWERS {
        let Some(mut terminal) = terminal(&project, "task verify T001") else { return };
        terminal.until("Run it in this project? [y/N] ").press(keys);
        let (code, seen) = terminal.end();
        assert!(seen.contains("No person armed the Verify command of T001"), "{keys:?}: {seen}");
        assert!(seen.contains("\n  touch built"), "the command is not shown: {keys:?}: {seen}");
        let has_run = std::fs::remove_file(project.root.join("built")).is_ok();
        assert_eq!(has_run, is_yes, "{keys:?}: {seen}");
        assert!(seen.contains("is not run here") != is_yes, "{keys:?}: {seen}");
        assert_eq!(code, Some(i32::from(!is_yes)), "{keys:?}: {seen}");
    }
}

#[test]
fn s1_ctrl_c_at_question_runs_nothing() {
    let project = Project::with(LIST);
    for words in ["task verify T001", "task done T001"] {
        let Some(mut terminal) = terminal(&project, words) else { return };
        terminal.until("[y/N] ").press(CTRL_C);
        let (code, seen) = terminal.end();
        assert_eq!(code, Some(130), "{words}: {seen}");
        assert!(!project.root.join("built").exists(), "{words}: {seen}");
        assert_eq!(project.tasks(), LIST, "{words}: {seen}");
    }
}

#[test]
fn s1_person_is_asked_before_ticking() {
    let project = Project::with(LIST);
    let Some(mut terminal) = terminal(&project, "task done T001") else { return };
    terminal.until("[y/N] ").press("y\n");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(project.root.join("built").exists() && project.tasks().contains("[x] T001"), "{seen}");
}

#[test]
fn s1_only_answering_persons_are_asked() {
    let project = Project::with(LIST);
    for words in [
        "task verify T001 </dev/null",
        "task verify T001 2>errors",
        "task verify T001 2>errors </dev/null",
    ] {
        let Some(terminal) = terminal(&project, words) else { return };
        let (code, seen) = terminal.end();
        assert!(!seen.contains("[y/N]") && seen.contains("is not run here"), "{words}: {seen}");
        assert_eq!((code, project.root.join("built").exists()), (Some(1), false), "{seen}");
    }
    for mark in ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "RALPH_RUNNER"] {
        let mut command = project.command(SPOOL);
        command.env_remove("CLAUDE_CODE_SESSION_ID").env("SPOOL", SPOOL).env(mark, "1");
        let line = "\"$SPOOL\" task verify T001";
        let Some(terminal) = Terminal::running(line, &command) else { return };
        let (_, seen) = terminal.end();
        assert!(!seen.contains("[y/N]") && seen.contains("is not run here"), "{mark}: {seen}");
        assert!(!project.root.join("built").exists(), "{mark}: {seen}");
    }
}

#[test]
fn s2_trust_needs_a_yes() {
    let project = with_tracked_check();
    let kept = project.beside("home/.local/state/ralph-speckit/trust.json");
    for (keys, is_yes) in ANSWERS {
        let Some(mut terminal) = terminal(&project, "trust") else { return };
        terminal.until("Trust all of this, as it is now? [y/N] ").press(keys);
        let (code, seen) = terminal.end();
        let end = if is_yes { "Trusted. When" } else { "Nothing is trusted." };
        assert!(seen.contains("\n  test -e built") && seen.contains(end), "{keys:?}: {seen}");
        assert_eq!(code, Some(i32::from(!is_yes)), "{keys:?}: {seen}");
        assert_eq!(std::fs::remove_file(&kept).is_ok(), is_yes, "{keys:?}: {seen}");
    }
    let Some(mut terminal) = terminal(&project, "trust") else { return };
    terminal.until("[y/N] ").press(CTRL_C);
    let (code, seen) = terminal.end();
    assert_eq!((code, kept.exists()), (Some(130), false), "{seen}");
}

#[test]
fn s2_trusted_file_is_not_asked_again() {
    let project = with_tracked_check();
    let Some(trusting) = terminal(&project, "trust --yes") else { return };
    assert_eq!(trusting.end().0, Some(0));
    let Some(again) = terminal(&project, "trust") else { return };
    let (code, seen) = again.end();
    assert!(seen.contains("\n  test -e built") && seen.contains("trusted already"), "{seen}");
    assert_eq!((code, seen.contains("[y/N]")), (Some(0), false), "{seen}");
    project.write(SETTINGS, "---\nchecks:\n  - test -e built\n  - test -e more\n---\n");
    let Some(mut terminal) = terminal(&project, "trust") else { return };
    terminal.until("[y/N] ").press("n\n");
}

#[test]
fn s2_question_follows_the_shown_commands() {
    let project = with_tracked_check();
    // Where standard output goes does not matter: the question and what it is about are in one place.
    let Some(mut terminal) = terminal(&project, "trust >printed") else { return };
    terminal.until("[y/N] ").press("n\n");
    let (_, seen) = terminal.end();
    assert!(seen.contains("  test -e built"), "asked about what was not shown: {seen}");
    for words in ["trust </dev/null", "trust 2>errors"] {
        let Some(terminal) = self::terminal(&project, words) else { return };
        let (code, seen) = terminal.end();
        assert!(!seen.contains("[y/N]"), "{words}: {seen}");
        assert_eq!(code, Some(1), "{words}: {seen}");
    }
    assert!(!project.beside("home/.local/state/ralph-speckit/trust.json").exists());
}

#[test]
fn person_reads_on_after_the_end() {
    let project = Project::armed(LIST);
    project.spool(&["stop"]).ok();
    let Some(terminal) = terminal(&project, "task next") else { return };
    let (_, seen) = terminal.end();
    assert!(seen.contains("T001 Create it") && !seen.contains("End your turn"), "{seen}");
}
