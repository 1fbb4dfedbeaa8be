//! How well the tasks of a loop are proved.

use serde::Serialize;

use super::plain::JsonNumber;
use crate::engine::proof::Proof;
use crate::engine::scoreboard::{Scoreboard, ScoredTask};

/// How well the tasks of a loop are proved; each task is counted once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProofsForm {
    /// Tasks that another agent program has read and found good.
    pub by_review: JsonNumber,
    /// Tasks whose Verify command passed after the newest change.
    pub by_command: JsonNumber,
    /// Tasks whose own files have changed.
    pub by_files: JsonNumber,
    /// Tasks that were ticked while files changed of which nobody can tell whose work they are.
    pub by_tick: Vec<String>,
    /// Tasks with nothing but the agent's word.
    pub by_word: Vec<ByWordForm>,
    /// What a person should look at first, a sentence each, at most 8.
    pub look_first: Vec<String>,
    /// How many receipts were counted; one that was ticked twice, or reviewed later, has two.
    pub receipts: JsonNumber,
}

/// A task with nothing but the agent's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ByWordForm {
    /// Its id.
    pub task: String,
    /// Why it changes nothing, in the agent's words; null where nobody could look.
    pub why: Option<String>,
}

impl ProofsForm {
    /// `None` for a scoreboard without a task.
    pub fn of(board: &Scoreboard) -> Option<Self> {
        let number = |count: usize| (count as u64).into();
        let form = |one: &ScoredTask| ByWordForm { task: one.task.clone(), why: one.why.clone() };
        let is_known = !board.line().is_empty() || !board.failed.is_empty();
        is_known.then(|| Self {
            by_review: number(board.reviewed()),
            by_command: number(board.count(Proof::Command)),
            by_files: number(board.count(Proof::Files)),
            by_tick: board.of(Proof::Tick).map(|task| task.task.clone()).collect(),
            by_word: board.of(Proof::Word).map(form).collect(),
            look_first: board.look_first(),
            receipts: number(board.receipts),
        })
    }
}
