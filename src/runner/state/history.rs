//! `history.jsonl`: a line for each iteration of all runs, only ever appended to.

use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::loop_state::Iteration;
use super::time::time_of;
use crate::store::journal::behind_a_torn_one;
use crate::store::read::{self, Problem};
use crate::store::receipts::{Receipt, Receipts, Witness};
use crate::world::WallTime;

/// The file in the state folder.
pub const NAME: &str = "history.jsonl";
/// An agent whose runner was killed may work for this long after the last sign of life.
const STILL_WORKING: Duration = Duration::from_secs(10);
/// Bytes read from the end.
const MOST: u64 = 8 << 20;

/// An iteration, and the run it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Past {
    /// The start of the run: no two runs of a change have the same.
    pub run_started_at: String,
    #[serde(flatten)]
    pub iteration: Iteration,
}

pub(super) fn line(run_started_at: &str, iteration: &Iteration) -> io::Result<Vec<u8>> {
    let (run_started_at, iteration) = (run_started_at.to_owned(), iteration.clone());
    Ok(serde_json::to_vec(&Past { run_started_at, iteration })?)
}

/// The iterations of a run in a state folder; none if the history cannot be read.
pub fn of_run(folder: &Path, started_at: &str) -> Vec<Iteration> {
    let past = tail(folder, usize::MAX).unwrap_or_default();
    let own = past.into_iter().filter(|past| past.run_started_at == started_at);
    own.map(|past| past.iteration).collect()
}

/// Adds the ticks of killed iterations: the next runner judged them after the entry was written.
/// `ended` are iterations of a change, oldest first.
pub fn add_left_ticks<'a>(
    ended: impl DoubleEndedIterator<Item = &'a mut Iteration>,
    root: &Path,
    change: &str,
) {
    let receipts = Receipts::named(root, change).map(|receipts| receipts.all()).unwrap_or_default();
    let mut next: Option<WallTime> = None;
    for entry in ended.rev() {
        let began = time_of(&entry.started);
        if let Some(since) = began.filter(|_| entry.interrupted) {
            let last = entry.ended.as_deref().and_then(time_of).unwrap_or_default();
            let is_its = |receipt: &&Receipt| match receipt.by {
                Witness::Iteration => receipt.iteration == entry.n,
                // This receipt has the number of the session's iteration.
                Witness::Done => receipt.at <= last.after(STILL_WORKING),
                Witness::Stop | Witness::Review | Witness::Drop => false,
            };
            let then = receipts
                .iter()
                .filter(|receipt| receipt.at >= since && next.is_none_or(|next| receipt.at < next));
            let its = then.filter(is_its).map(|receipt| receipt.task.clone());
            let its: BTreeSet<String> = its.filter(|id| !entry.tasks_ticked.contains(id)).collect();
            entry.tasks_ticked.extend(its);
        }
        next = began;
    }
}

/// The last iteration in a state folder; `None` also if the history cannot be read.
pub fn last(folder: &Path) -> Option<Past> {
    tail(folder, 1).ok()?.pop()
}

/// The last iterations in a state folder, at most `count`, the oldest first. Lines that cannot be read are skipped.
pub fn tail(folder: &Path, count: usize) -> Result<Vec<Past>, Problem> {
    let (mut file, meta) = match read::open(&folder.join(NAME)) {
        Ok(open) => open,
        Err(Problem::Missing) => return Ok(Vec::new()),
        Err(problem) => return Err(problem),
    };
    let from = meta.len().saturating_sub(MOST);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    let mut whole = bytes.as_slice();
    if from > 0 {
        // The read may begin in the middle of a line.
        let begin = whole.iter().position(|byte| *byte == b'\n').map_or(whole.len(), |at| at + 1);
        whole = &whole[begin..];
    }
    let lines = whole.rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let past = |line| {
        let whole = serde_json::from_slice(line).ok();
        whole.or_else(|| behind_a_torn_one(line, b"{\"run_started_at\":"))
    };
    let mut past: Vec<Past> = lines.filter_map(past).take(count).collect();
    past.reverse();
    Ok(past)
}
