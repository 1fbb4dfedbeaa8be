//! Whether a person types here, and the answers.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

use anyhow::{Context, Result};

use crate::world;

/// Marks of agent programs in the environment of their commands.
const MARKS: &str = "\
    CLAUDECODE CLAUDE_CODE_SESSION_ID CLAUDE_CODE_CHILD_SESSION AI_AGENT OPENCODE CODEX_CI \
    CODEX_SANDBOX CODEX_SESSION_ID CODEX_THREAD_ID GEMINI_CLI COPILOT_CLI \
    COPILOT_AGENT_SESSION_ID CURSOR_AGENT";

/// An agent may have started this command: the environment names a session.
pub fn in_agents_session() -> bool {
    MARKS.split(' ').chain([world::RUNNER]).any(|mark| world::variable(mark).is_some())
}

/// A person can read and answer a question here, and no agent can do so in their place.
pub fn can_be_asked() -> bool {
    !in_agents_session() && stdin().is_terminal() && stderr().is_terminal()
}

/// Only `y` and `yes` confirm.
pub fn confirm(question: &str) -> Result<bool> {
    err!("{question} [y/N] ");
    // A question that cannot be shown has no answer.
    stderr().flush().context("the question cannot be shown")?;
    let mut line = String::new();
    stdin().lock().read_line(&mut line).context("the answer cannot be read")?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
