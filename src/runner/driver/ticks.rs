//! What the ticks of a run are judged by, from iteration to iteration.

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::task_list::TaskFile;
use crate::judge::Looks;
use crate::judge::ticks::Ticks;
use crate::store::loops::VerifyCommands;
use crate::world::WallTime;

/// What the ticks of a run are judged by.
#[derive(Debug, Default)]
pub struct TickProofs {
    /// When the run began, or the one that it continues.
    pub began_at: WallTime,
    /// How often that one was stopped.
    pub stops: u32,
    /// What the files contained when the run began, and when a task was proved last.
    pub looks: Looks,
    /// The list when the run began.
    pub list_at_start: Option<TaskFile>,
    /// The Verify commands that a person armed.
    pub armed: VerifyCommands,
    /// When the run was armed, where `spool task done` judges by its rule, and keeps what the files contain after a tick.
    pub judged_since: Option<WallTime>,
    /// What was seen of the boxes that were ticked by hand in this iteration.
    pub ticks: Ticks,
    /// How long the checks took that ran last, in milliseconds.
    pub millis: BTreeMap<String, u64>,
    /// The tasks whose tick was taken back.
    pub taken_back: BTreeSet<String>,
    /// The agent program whose review has passed in this iteration, and the tasks that it read; none for all.
    pub reviewed: Option<(String, Vec<String>)>,
    /// The tasks that change nothing, with why, in the agent's words.
    pub no_change: BTreeMap<String, String>,
    /// The protected files of which a person was told what to do about them.
    pub told_put_back: BTreeSet<String>,
}

impl TickProofs {
    /// Returns the agent program whose review in this iteration has found a task good, `None` for none.
    pub fn reviewer_of(&self, task: &str) -> Option<String> {
        let (reader, part) = self.reviewed.as_ref()?;
        let is_read = part.is_empty() || part.iter().any(|id| id == task);
        is_read.then(|| reader.clone())
    }
}
