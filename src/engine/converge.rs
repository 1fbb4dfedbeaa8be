//! spec-kit's converge command as a gate before the end: the agent runs it when all else says done, and it appends to the
//! task list what the code still lacks of the specification, or leaves the list as it is.
//!
//! What it found is seen in the list alone: an unchanged one has passed. It is asked for at most twice in a loop.

use serde::Serialize;

use super::contract::Contract;
use super::fields::read_fields;
use super::observation::{Observation, Work};
use super::verdict::Shortfall;

/// What came of the converge command in a loop so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Converging {
    /// How often it has run with every box ticked before it, 0 to 2.
    pub rounds: u32,
    /// Hash of the list when the agent was last told to run it, `None` where it was told something else since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<u64>,
    /// Whether a run found nothing missing.
    pub passed: bool,
}

read_fields!(Converging { rounds, asked, passed });

impl Converging {
    /// The most rounds of a loop.
    pub const MOST: u32 = 2;

    /// Returns whether it is not asked for any more: it has passed, or its rounds are used up.
    pub fn is_over(self) -> bool {
        self.passed || self.rounds >= Self::MOST
    }

    /// Returns it with this iteration counted in: a run counts where it was asked for.
    pub(super) fn counted(self, seen: &Observation) -> Self {
        match self.asked {
            Some(list) if seen.converge_ran => {
                Self { rounds: self.rounds + 1, asked: None, passed: list == seen.list }
            }
            _ => self,
        }
    }
}

/// Returns the command that has to run before the review and the end, `None` where none has to: while a box is open it would
/// stop without a look at the code.
pub(super) fn due(contract: &Contract, after: Converging, seen: &Observation) -> Option<Shortfall> {
    let is_ticked = matches!(seen.work, Work::List { done: 1.., open: 0 } if seen.list != 0);
    let is_due = is_ticked && !contract.converge.is_empty() && !after.is_over();
    is_due.then(|| Shortfall::ConvergeDue(contract.converge.clone()))
}

#[cfg(test)]
mod tests;
