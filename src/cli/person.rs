//! Whether a person types here, and what they answer.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

use anyhow::{Context, Result};

use crate::world;

/// What agent programs leave in the environment of the commands that they run.
const MARKS: &str = "\
    CLAUDECODE CLAUDE_CODE_SESSION_ID CLAUDE_CODE_CHILD_SESSION AI_AGENT OPENCODE CODEX_CI \
    CODEX_SANDBOX CODEX_SESSION_ID CODEX_THREAD_ID GEMINI_CLI COPILOT_CLI \
    COPILOT_AGENT_SESSION_ID CURSOR_AGENT";

/// Returns whether this command may have been started by an agent: its session shows in the environment.
pub fn in_agents_session() -> bool {
    MARKS.split(' ').chain([world::RUNNER]).any(|mark| world::variable(mark).is_some())
}

/// Returns whether a person can read a question here and answer it, and no agent could do it for them.
pub fn can_be_asked() -> bool {
    !in_agents_session() && stdin().is_terminal() && stderr().is_terminal()
}

/// Returns whether a person says yes to a question; anything but `y` and `yes` is a no.
pub fn confirm(question: &str) -> Result<bool> {
    err!("{question} [y/N] ");
    // A question that cannot be shown has no answer.
    stderr().flush().context("the question cannot be shown")?;
    let mut line = String::new();
    stdin().lock().read_line(&mut line).context("the answer cannot be read")?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
