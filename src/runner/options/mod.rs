//! What a loop is asked for: every default, every flag, every setting, in one place.

pub(crate) mod file;
mod resolve;
mod settings;
mod task;
mod trust;
mod value;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::{Check, Contract, Guardrails, PromiseMatch};

pub use super::harness::HarnessChoice;
pub use resolve::{Defaults, refuse_what_a_command_cannot_do, resolve};
pub use settings::{CHANGE, Layers, ProjectChecks, Setting, Settings};
pub use task::task;
pub use trust::{Trusted, needs_trust, only_what_is_trusted};
pub use value::time_in_words;

/// What counts as done (spec 001, "Default done criteria").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DoneCriteria {
    /// Every box of the task list is ticked.
    #[default]
    Tasks,
    /// The agent's promise.
    Manual,
    /// The checks alone.
    Check,
}

/// All that a loop was asked for, defaults filled in.
#[derive(Clone, Debug)]
pub struct Options {
    /// The person's prompt.
    pub task: String,
    /// The agent program.
    pub harness: HarnessChoice,
    /// The model, in the agent program's words.
    pub model: Option<String>,
    /// The token of the promise (`COMPLETE`).
    pub promise: String,
    /// Where the promise has to stand.
    pub promise_match: PromiseMatch,
    /// Iterations of this run before which no promise is believed, 0 for none.
    pub min_iterations: u32,
    /// The last iteration of this run, `None` for no limit (50).
    pub max_iterations: Option<u32>,
    /// What counts as done, `None` for tasks where there is a list and manual where not.
    pub done: Option<DoneCriteria>,
    /// Commands that must pass.
    pub checks: Vec<Check>,
    /// Iterations in a row without a commit that end the loop, 0 for none.
    pub stall_threshold: u32,
    /// Iterations in a row that change nothing that end the loop, 0 for none.
    pub no_progress: u32,
    /// Failed runs of the agent program in a row that end the loop.
    pub max_failures: u32,
    /// Failed runs without one answer, from the first one on, that end the loop.
    pub max_unanswered: u32,
    /// The longest an iteration may take, `None` for no limit.
    pub iteration_timeout: Option<Duration>,
    /// The longest an agent program may be silent, `None` for no limit.
    pub idle_timeout: Option<Duration>,
    /// The longest the loop may take, `None` for no limit.
    pub max_runtime: Option<Duration>,
    /// The most tokens that the loop may use, `None` for no limit.
    pub token_budget: Option<u64>,
    /// Time between asking an agent program to end and killing it.
    pub grace: Duration,
    /// The pause after a failed run of the agent program, doubled with each more in a row.
    pub retry_pause: Duration,
    /// Whether tools may run without consent.
    pub allow_all: Approve,
    /// Whether each iteration goes on with the session of the one before.
    pub sessions: Sessions,
    /// Whether the runner commits what an iteration changed.
    pub commits: Commits,
    /// What becomes of an end that something speaks against.
    pub doubted: Doubted,
    /// How much of the agent's output is shown.
    pub shown: Shown,
    /// Whether the screen gets words or JSON lines.
    pub form: Form,
    /// The folder in which it was started.
    pub start: PathBuf,
}

impl Options {
    /// Returns the contract that every iteration is held against; checks alone ask for no promise.
    ///
    /// Where nothing limits iterations that change nothing, nothing limits those without a tool call.
    pub fn contract(&self, done: DoneCriteria) -> Contract {
        let limited = |limit: u32| (limit > 0).then_some(limit);
        let unchanged = limited(self.no_progress);
        // Where tool calls cannot be seen, the promise is believed as it stands (spec 004).
        let min_tool_calls = u64::from(!matches!(self.harness, HarnessChoice::Command(_)));
        Contract {
            min_tool_calls,
            token: (done != DoneCriteria::Check).then(|| self.promise.clone()),
            min_iterations: self.min_iterations,
            checks: self.checks.clone(),
            guardrails: Guardrails {
                max_iterations: self.max_iterations,
                max_idle_stops: unchanged.unwrap_or(u32::MAX),
                max_unchanged: unchanged.unwrap_or(u32::MAX),
                max_seconds: self.max_runtime.map(|time| time.as_secs().max(1)),
                max_tokens: self.token_budget,
                max_commitless: limited(self.stall_threshold),
                max_failures: limited(self.max_failures),
                max_unanswered: limited(self.max_unanswered),
            },
            ..Contract::default()
        }
    }
}

/// Whether tools may run without consent.
pub type Approve = super::harness::Approval;

/// Whether each iteration goes on with the session of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sessions {
    /// A fresh one each time.
    #[default]
    Fresh,
    /// The same one (`--continue-session`).
    Continued,
}

/// Whether the runner commits what an iteration changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Commits {
    /// The agent does, or nobody.
    #[default]
    Never,
    /// After each iteration, only files that it changed (`--commit`).
    EachIteration,
}

/// What becomes of a loop that is done, but something speaks against it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doubted {
    /// It is told.
    #[default]
    Told,
    /// It is told, and the exit code is another one (`--strict`).
    Fails,
}

/// How much of the agent's output is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// Only the runner's own lines.
    Quiet,
    /// What the agent says, and which tools it uses.
    #[default]
    Normal,
    /// Everything.
    Verbose,
}

/// Whether the screen gets words or JSON lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Words.
    #[default]
    Words,
    /// One JSON object a line (`--json`).
    Json,
}
