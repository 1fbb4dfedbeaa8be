//! What a run of `spool ralph` came to.

use serde::Serialize;

use super::plain::JsonNumber;
use super::story::FileLines;

/// What a run of a loop came to.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunSummaryForm {
    /// The commit on which it began, forty zeros before the first one; null without git.
    pub from_commit: Option<String>,
    /// Its last commit; null where it made none.
    pub to_commit: Option<String>,
    /// Lines that were added in its files, as far as it is known.
    pub lines_added: JsonNumber,
    /// Lines that were removed from its files, as far as it is known.
    pub lines_removed: JsonNumber,
    /// The files that it changed, at most 200 of them.
    pub files: Vec<FileLines>,
    /// What it cost, for the tasks that were finished together; those of the last part, in which none was, at the end.
    pub costs: Vec<TaskCostForm>,
    /// The checks that failed in its last iteration, each with how.
    pub failed_checks: Vec<String>,
    /// The git refs that hold what tries left that did not come to their own end, oldest first.
    pub kept: Vec<String>,
    /// The commands with which a person reads its commits and all that changed; they run in its work tree.
    pub commands: Vec<String>,
}

/// What it cost to finish some tasks.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "each is a field that programs read")]
pub struct TaskCostForm {
    /// Their ids; empty where none was finished.
    pub tasks: Vec<String>,
    /// Iterations, those before it in which no task was finished too.
    pub iterations: u32,
    /// Seconds that they took.
    pub seconds: f64,
    /// Tokens; null where nothing reports them.
    pub tokens: Option<JsonNumber>,
    /// Whether a part of them is an estimate.
    pub tokens_estimated: bool,
    /// Whether the tokens of each iteration are in it.
    pub tokens_complete: bool,
    /// Dollars, as far as it is known; null where nothing tells.
    pub cost_usd: Option<f64>,
    /// Whether a part of that is an estimate, by the prices that a person gave.
    pub cost_estimated: bool,
    /// Whether the cost of each iteration is in it.
    pub cost_complete: bool,
}
