//! What the agent is asked to leave in the last iteration that may run.

use crate::engine::{Guardrails, Ledger, near_limit};
use crate::feature::HANDOFF;
use crate::feature::settings::Settings;
use crate::hosts::ContinueForm;

/// What the journal says of a stop after which the agent was asked for it.
pub const JOURNALED: &str = "; a handoff was asked for";

/// Where the agent leaves what the next loop has to know.
#[derive(Clone, Copy, Debug)]
pub enum HandoffPlace<'a> {
    /// In a file of this folder.
    Folder(&'a str),
    /// In its last words: the loop has no folder in which an agent may write.
    Words,
}

/// Returns whether the iteration that begins after this stop is the last one that may run, and a handoff is wanted of it.
pub fn is_asked(settings: &Settings, max_iterations: Option<u32>, ledger: &Ledger) -> bool {
    // Sessions have no limit of time or tokens.
    let rails = Guardrails { max_iterations, ..Guardrails::default() };
    settings.chosen.landing() && near_limit(&rails, ledger, 0).is_some()
}

/// What is added to the text that sends the agent back to work.
pub fn words(place: HandoffPlace<'_>, form: ContinueForm) -> String {
    const WHAT: &str = "what is done, what is open and what comes next";
    let leave = match place {
        HandoffPlace::Folder(folder) => format!("write {WHAT} to {folder}/{HANDOFF}"),
        HandoffPlace::Words => format!("end your turn with {WHAT}"),
    };
    match form {
        ContinueForm::Context => format!(" Last iteration: leave a tree that builds, {leave}."),
        ContinueForm::Block => format!(
            "\nThis is the last iteration before the limit. Unless all is done by its end: begin nothing new, leave a tree that builds, and {leave}."
        ),
    }
}
