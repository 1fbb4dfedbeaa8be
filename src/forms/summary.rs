//! What a run of `spool ralph` came to.

use serde::{Serialize, Serializer};

use super::plain::JsonNumber;
use super::spent::Spent;
use super::story::FileLines;

/// Files for programs.
const FILES: usize = 200;

/// What a run of a loop came to.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunSummary {
    /// The commit on which it began, forty zeros before the first one; null without git.
    pub from_commit: Option<String>,
    /// Its last commit; null where it made none.
    pub to_commit: Option<String>,
    /// Lines that were added in its files, as far as it is known.
    pub lines_added: JsonNumber,
    /// Lines that were removed from its files, as far as it is known.
    pub lines_removed: JsonNumber,
    /// The files that it changed, at most 200 of them.
    #[serde(serialize_with = "some")]
    pub files: Vec<FileLines>,
    /// What it cost, for the tasks that were finished together; those of the last part, in which none was, at the end.
    pub costs: Vec<TaskCost>,
    /// The checks that failed in its last iteration, each with how.
    pub failed_checks: Vec<String>,
    /// The git refs that hold what tries left that did not come to their own end, oldest first.
    pub kept: Vec<String>,
    /// The commands with which a person reads its commits and all that changed; they run in its work tree.
    pub commands: Vec<String>,
    /// How many commits it made; `None` where git did not say.
    #[serde(skip)]
    pub commits: Option<u64>,
    /// How many of the files git does not track, so that `git diff` does not show them.
    #[serde(skip)]
    pub untracked: u64,
}

/// What it cost to finish some tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TaskCostForm"))]
pub struct TaskCost {
    /// Their ids; empty where none was finished.
    pub tasks: Vec<String>,
    /// Iterations, those before it in which no task was finished too.
    pub iterations: u32,
    /// Seconds that they took.
    pub seconds: f64,
    /// What they used and cost.
    #[serde(flatten)]
    pub spent: Spent,
}

fn some<S: Serializer>(files: &[FileLines], writer: S) -> Result<S::Ok, S::Error> {
    writer.collect_seq(files.iter().take(FILES))
}
