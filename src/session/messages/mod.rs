//! The texts of a loop, for the agent and for people.

pub mod ends;
pub mod feature;
pub mod insist;
pub mod landing;
pub mod person;
pub mod shortfall;
pub mod task;

use crate::engine::{Stall, TerminalReason};
use crate::hosts::ContinueForm;
use crate::store::loops::Record;
use crate::store::names::ArmedBy;

/// After so many iterations the agent gets the whole contract again.
const ALL_AGAIN: u32 = 10;

/// The rules of every loop: a claim without proof is none.
pub const HONEST: [&str; 3] = [
    "Completion is unproven until it is shown: name the evidence for each requirement.",
    "Say whether each turn got further.",
    "Blocked is only what a person alone can remove, after the rest was tried.",
];

/// For a person, when the work is done, behind "Next: ".
pub const AFTER_COMPLETED: &str = "look at the work; `spool log` has every decision.";

/// True if this stop repeats the whole contract: at the first stop of an agent that has not read its command, and at
/// every tenth iteration. The client shows more context to the person in full, so in that form only a compaction
/// repeats the contract.
pub fn needs_all(record: &Record, form: ContinueForm) -> bool {
    let ledger = &record.ledger;
    let has_read_none = ledger.continued <= 1 && record.armed_by != ArmedBy::Command;
    has_read_none || form == ContinueForm::Block && ledger.iterations.is_multiple_of(ALL_AGAIN)
}

/// A person's next step after the end of a loop.
#[derive(Clone, Copy, Debug)]
pub struct NextStep<'a> {
    /// How to continue: a command, after "then".
    pub again: &'a str,
    /// What shows why the work stopped, after "look at".
    pub look_at: &'a str,
}

impl NextStep<'_> {
    /// One or two sentences.
    pub fn after(self, reason: &TerminalReason) -> String {
        let Self { again, look_at } = self;
        match reason {
            TerminalReason::MaxIters { .. } => {
                format!(
                    "Look at what was done, then {again}; --max-iterations N sets another limit."
                )
            }
            TerminalReason::NoProgress { stall: Stall::NoToolCall, .. } => {
                format!("Read its last answer: it may be asking for something. Then {again}.")
            }
            TerminalReason::NoProgress { .. } | TerminalReason::TaskFailed { .. } => {
                format!("Look at {look_at}, fix what blocks it, then {again}.")
            }
            TerminalReason::Blocked { .. } => format!("Do that, then {again}."),
            TerminalReason::Completed
            | TerminalReason::TimedOut { .. }
            | TerminalReason::Budget { .. }
            | TerminalReason::HarnessFailed { .. }
            | TerminalReason::UsageLimit { .. }
            | TerminalReason::CorruptState
            | TerminalReason::Cancelled
            | TerminalReason::Stopped => {
                let (first, rest) = again.split_at(1);
                format!("{}{rest}.", first.to_ascii_uppercase())
            }
        }
    }
}
