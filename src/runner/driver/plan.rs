//! A loop's plan: its change, its options, and the contract that follows from both.

use super::agents::AgentSeat;
use crate::engine::Contract;
use crate::runner::options::{DoneWhen, Options};
use crate::runner::state::LoopState;
use crate::runner::target::Change;

pub struct Plan<'a> {
    pub change: &'a Change,
    pub options: &'a Options,
    pub contract: Contract,
    pub done: DoneWhen,
}

impl<'a> Plan<'a> {
    pub fn of(change: &'a Change, options: &'a Options) -> Self {
        let done = options.done.unwrap_or_default();
        Self { change, options, contract: options.contract(done), done }
    }

    pub fn first_state(&self, first: &AgentSeat) -> LoopState {
        let Self { change, options, done, .. } = self;
        LoopState {
            max_iterations: options.settings.max_iterations().unwrap_or(0),
            task: options.task.clone(),
            done_criteria: *done,
            stall_threshold: options.settings.stall_threshold().unwrap_or(0),
            iteration_timeout_min: options
                .settings
                .iteration_timeout()
                .map_or(0.0, |limit| limit.as_secs_f64() / 60.0),
            harness: first.harness.name().to_owned(),
            harness_version: first.version.clone(),
            model: first.model.clone().unwrap_or_default(),
            module: change.module.clone().unwrap_or_default(),
            checks: options.checks.clone(),
            notify: options.settings.notify(),
            converge: self.contract.converge.clone(),
            include_optional: options.settings.include_optional(),
            doing: "starting".to_owned(),
            ..LoopState::default()
        }
    }

    /// Only the agent's promise can end the loop.
    pub fn is_by_word(&self) -> bool {
        self.done == DoneWhen::Manual && self.options.checks.is_empty()
    }

    /// The runner commits the changes of each iteration.
    pub fn commits(&self) -> bool {
        self.options.settings.commit()
    }
}
