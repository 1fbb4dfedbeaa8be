//! An iteration of a runner.

use serde::Serialize;

use super::loops::CheckOutcome;
use super::plain::{JsonNumber, JsonTime};
use crate::store::names::{PromiseState, VerdictName};

/// An iteration of a runner: one run of the agent program.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IterationForm {
    /// Its number, from 1 in each run.
    pub number: u32,
    /// When its run was started; null where that is not known.
    pub run_started_at: Option<JsonTime>,
    /// When it began.
    pub started_at: Option<JsonTime>,
    /// When it ended; null while it runs.
    pub ended_at: Option<JsonTime>,
    /// Seconds that it took; null before its end is written down.
    pub seconds: Option<f64>,
    /// Whether the work was done with it.
    pub done: bool,
    /// The verdict; null while it runs, and where its runner was killed.
    pub verdict: Option<VerdictName>,
    /// Why, in words; null for nothing.
    pub words: Option<String>,
    /// What went wrong with the agent program; null for nothing.
    pub failure: Option<String>,
    /// What became of the promise; null where none is asked for.
    pub promise: Option<PromiseState>,
    /// The commits that were made, oldest first.
    pub commits: Vec<String>,
    /// The tasks that were ticked, by id.
    pub tasks_ticked: Vec<String>,
    /// Ticks that nothing proves and that were taken back, each with its task and why.
    pub unproved: Vec<String>,
    /// Files that changed, at most 200 of them.
    pub files: Vec<String>,
    /// How many files changed in all; null before its end is written down, unless git has what was kept of it.
    pub files_changed: Option<JsonNumber>,
    /// Tokens; null where nothing reports them, and before its end is written down.
    pub tokens: Option<JsonNumber>,
    /// Whether the number of tokens is an estimate.
    pub tokens_estimated: bool,
    /// Dollars that it cost; null where nothing tells.
    pub cost_usd: Option<f64>,
    /// Whether that is an estimate, by the prices that a person gave.
    pub cost_estimated: bool,
    /// Tool calls; null where nothing reports them.
    pub tool_calls: Option<JsonNumber>,
    /// How many of them were denied or failed; null before its end is written down.
    pub failed_calls: Option<JsonNumber>,
    /// Tools that were denied.
    pub denied_tools: Vec<String>,
    /// Whether a time limit cut it short.
    pub timed_out: bool,
    /// Whether its runner was stopped or killed in the middle of it.
    pub interrupted: bool,
    /// Whether it was asked to leave a handoff, because a limit was near.
    pub handoff_asked: bool,
    /// The exit code of the agent program; null while it runs, and where a signal ended it.
    pub exit_code: Option<i32>,
    /// The checks that ran.
    pub checks: Vec<CheckOutcome>,
    /// The git ref with its unfinished work; null for none.
    pub kept_as: Option<String>,
    /// The agent program that ran; null where it is not known.
    pub harness: Option<String>,
    /// The model that answered, else the one that was asked for; null where neither is known.
    pub model: Option<String>,
    /// The session of the agent program; null where it is not known.
    pub session: Option<String>,
    /// The file with all that the agent program printed, relative to the folder of the loop; null for none.
    pub log: Option<String>,
}
