//! `spool ralph --status --json`.

use serde::{Deserialize, Serialize};

use super::iteration::IterationForm;
use super::loops::LoopForm;
use super::plain::JsonTime;
use super::spent::Spent;
use crate::engine::aside::Aside;

/// What `spool ralph --status --json` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunnerStatusForm {
    /// The loop of the change.
    pub runner: RunnerForm,
}

/// The loop of a runner, with what only runners have.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunnerForm {
    /// The change.
    pub change: String,
    /// The module of the change; null for none.
    pub module: Option<String>,
    /// The folder with the loop's files.
    pub folder: String,
    /// Why its state cannot be read; null where it can.
    pub problem: Option<String>,
    /// The loop; null where nothing is written of it.
    pub r#loop: Option<LoopForm>,
    /// When it ended; null while it lives.
    pub ended_at: Option<JsonTime>,
    /// The exit code of the runner; null while it runs.
    pub exit_code: Option<u8>,
    /// The lines of its task list with a box that do not count, or have an odd mark.
    pub asides: Vec<Aside>,
    /// When the work counts as done.
    pub done_when: DoneWhen,
    /// The agent program; null where it is not known.
    pub harness: Option<String>,
    /// Its version; null where it is not known.
    pub harness_version: Option<String>,
    /// The model that was asked for; null for the agent program's own choice.
    pub model: Option<String>,
    /// When it continues where it waits; null where it does not.
    pub waits_until: Option<JsonTime>,
    /// What this run has used and cost, without its reviews.
    #[serde(flatten)]
    pub spent: Spent,
    /// What each agent did in this run, in the order in which they first worked.
    pub agents: Vec<AgentShareForm>,
    /// Tools that were denied in this run.
    pub denied_tools: Vec<String>,
    /// The git ref with the unfinished work of the last try; null for none.
    pub kept_as: Option<String>,
    /// The iteration that runs, or in which the runner was killed; null for none.
    pub running_iteration: Option<IterationForm>,
    /// The last iterations of all runs, oldest first, at most ten.
    pub iterations: Vec<IterationForm>,
}

/// What one agent of a runner's loop did: an agent program with the model that it was asked for.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgentShareForm {
    /// The agent program.
    pub harness: String,
    /// The model that it was asked for; null for its own choice.
    pub model: Option<String>,
    /// How often it was run.
    pub runs: u32,
    /// What its runs used and cost.
    #[serde(flatten)]
    pub spent: Spent,
}

/// When the work of a runner's loop counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DoneWhen {
    /// Every box of the task list is ticked.
    #[default]
    Tasks,
    /// The agent gives its promise.
    Manual,
    /// The checks pass.
    Check,
}
