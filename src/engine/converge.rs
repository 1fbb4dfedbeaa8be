//! spec-kit's converge command as a gate before the end. The agent runs it when all else says done. The command appends
//! to the task list what the code lacks of the specification, or leaves the list alone.
//!
//! Only the list tells the result: an unchanged list has passed. A loop asks at most twice.

use serde::Serialize;

use super::contract::Contract;
use super::fields::read_fields;
use super::observation::{Observation, Work};
use super::verdict::Shortfall;

/// The converge command in a loop so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Converging {
    /// Runs that were asked for, 0 to 2.
    pub rounds: u32,
    /// Hash of the list when the agent was last told to run the command; `None` after another message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<u64>,
    /// A run found nothing missing.
    pub passed: bool,
}

read_fields!(Converging { rounds, asked, passed });

impl Converging {
    pub const MOST: u32 = 2;

    pub fn is_over(self) -> bool {
        self.passed || self.rounds >= Self::MOST
    }

    /// Counts a run that was asked for.
    pub(super) fn counted(self, seen: &Observation) -> Self {
        match self.asked {
            Some(list) if seen.converge_ran => {
                Self { rounds: self.rounds + 1, asked: None, passed: list == seen.list }
            }
            _ => self,
        }
    }
}

/// The command that has to run before the review and the end. With an open box the command would stop without a look at
/// the code.
pub(super) fn due(contract: &Contract, after: Converging, seen: &Observation) -> Option<Shortfall> {
    let is_ticked = matches!(seen.work, Work::List { done: 1.., open: 0 } if seen.list != 0);
    let is_due = is_ticked && !contract.converge.is_empty() && !after.is_over();
    is_due.then(|| Shortfall::ConvergeDue(contract.converge.clone()))
}

#[cfg(test)]
mod tests;
