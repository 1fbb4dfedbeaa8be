//! Agent programs behind one small trait: how each is started, and how its output is read.

pub(crate) mod acp;
mod adapter;
pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod command;
pub(crate) mod copilot;
pub(crate) mod demo;
mod environment;
pub(crate) mod gemini;
mod lines;
pub(crate) mod opencode;
pub(crate) mod permissions;
pub(crate) mod program;
pub(crate) mod sessions;
mod stream;
#[cfg(test)]
mod tests;
mod usage;

use anyhow::Result;

use crate::settings::HARNESSES;

pub use crate::forms::harnesses::TokensKnown;
pub use crate::forms::story::CallOutcome;
pub use adapter::{
    AgentEvent, AgentOrder, AgentReport, Approval, Ending, ExitInfo, Harness, HarnessChoice, Input,
    Launch, Missing, OutputReader, RunOutcome, SoFar, Stream, Told,
};
pub use lines::{is_overload, is_passing};
pub use permissions::{Accepts, Permissions};
pub use usage::TokenUsage;

/// The harness for reading a history; `None` for a name that this version does not know.
pub fn of_history(name: &str) -> Option<Box<dyn Harness>> {
    let choice = match name {
        // The output reads the same for every program.
        "command" => HarnessChoice::Command("agent".to_owned()),
        "acp" => return Some(Box::new(acp::Acp::of_log())),
        known if HARNESSES.contains(&known) => HarnessChoice::of(known),
        _ => return None,
    };
    harness(&choice).ok()
}

pub fn harness(choice: &HarnessChoice) -> Result<Box<dyn Harness>> {
    Ok(match choice {
        HarnessChoice::Claude => Box::new(claude::Claude),
        HarnessChoice::Opencode => Box::new(opencode::Opencode),
        HarnessChoice::Codex => Box::new(codex::Codex),
        HarnessChoice::Gemini => Box::new(gemini::Gemini),
        HarnessChoice::Copilot => Box::new(copilot::Copilot),
        HarnessChoice::Command(line) => Box::new(command::Any::new(line)?),
        HarnessChoice::Acp(line) => Box::new(acp::Acp::new(line)?),
        HarnessChoice::Demo => Box::new(demo::Demo),
    })
}
