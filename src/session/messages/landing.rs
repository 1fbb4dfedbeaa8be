//! The request for a handoff in the last iteration that may run.

use crate::engine::{Guardrails, Ledger, near_limit};
use crate::feature::HANDOFF;
use crate::feature::settings::Settings;
use crate::hosts::ContinueForm;

/// The journal's words about such a request.
pub const JOURNALED: &str = "; a handoff was asked for";

/// Where the agent leaves its handoff.
#[derive(Clone, Copy, Debug)]
pub enum HandoffPlace<'a> {
    Folder(&'a str),
    /// In its last words: the loop has no folder for an agent to write in.
    Words,
}

/// The next iteration is the last one that may run, and should leave a handoff.
pub fn is_asked(settings: &Settings, max_iterations: Option<u32>, ledger: &Ledger) -> bool {
    // Sessions have no limit of time or tokens.
    let rails = Guardrails { max_iterations, ..Guardrails::default() };
    settings.chosen.landing() && near_limit(&rails, ledger, 0).is_some()
}

/// The addition to the text that sends the agent back.
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
