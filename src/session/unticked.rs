//! Open tasks of a session's loop that may be done and are not ticked: the agent is asked once about each.

use std::io;

use super::proof::{FilesSeen, TaskProofs};
use crate::engine::proof::{ChangedFile, LeastProof};
use crate::engine::tasks::TaskList;
use crate::engine::unticked::{FIRST, UntickedTask, unticked};

/// The most open tasks that a stop asks about, the next ones: it has little time.
const FIRST_AT_STOP: usize = 8;

/// Which open tasks of a list are looked at.
#[derive(Clone, Copy, Debug)]
pub enum Question<'a> {
    /// The next ones, without those that an agent was asked about before.
    Next,
    /// The first ones, without those that an agent was asked about before.
    First,
    /// The one with this id.
    One(&'a str),
}

/// Returns whether a stop finds open tasks that may be done, by these files alone: as a rule there are none, and then nothing is
/// read.
pub fn may_be(list: &TaskList, text: &[u8], seen: &FilesSeen) -> bool {
    !unticked((list, text), FIRST_AT_STOP, &seen.since_arming, &|_| false).is_empty()
}

/// Returns the open tasks of a list that may be done; `own` are files that are known to be the work of other tasks, besides those
/// that a receipt says so of. `text` are the bytes of the list.
pub fn found(
    proofs: &TaskProofs<'_>,
    (list, text): (&TaskList, &[u8]),
    seen: &FilesSeen,
    own: &[&String],
    asked: Question<'_>,
) -> Vec<UntickedTask> {
    if proofs.least != LeastProof::Files || seen.held_up().is_some() {
        return Vec::new();
    }
    let number = proofs.armed_at.millis();
    let (first, before) = match asked {
        Question::Next => (FIRST_AT_STOP, proofs.receipts.asked(number)),
        Question::First => (FIRST, proofs.receipts.asked(number)),
        Question::One(_) => (usize::MAX, Vec::new()),
    };
    let is_known = |id: &str| match asked {
        Question::One(one) => id != one,
        Question::Next | Question::First => before.iter().any(|it| it == id),
    };
    let of = |changed: &[ChangedFile]| unticked((list, text), first, changed, &is_known);
    let all = of(&seen.since_arming);
    if all.is_empty() {
        return all;
    }
    // What is another task's work says nothing of this one.
    let free = proofs.unclaimed_by_any(&seen.since_arming);
    let free: Vec<ChangedFile> =
        free.into_iter().filter(|file| !own.contains(&&file.path)).collect();
    of(&free)
}

/// Notes that an agent is asked about these tasks.
pub fn note(proofs: &TaskProofs<'_>, tasks: &[UntickedTask]) -> io::Result<()> {
    let ids: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    proofs.receipts.note_asked(proofs.armed_at.millis(), &ids)
}
