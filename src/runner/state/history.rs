//! `history.jsonl`: a line for each iteration of all runs, only ever appended to.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::loop_state::Iteration;
use crate::store::journal::behind_a_torn_one;
use crate::store::read::{self, Problem};

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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryTail {
    /// The oldest first.
    pub iterations: Vec<Past>,
    /// Lines that could not be read.
    pub unread: usize,
}

#[derive(Serialize)]
struct HistoryLine<'a> {
    run_started_at: &'a str,
    #[serde(flatten)]
    iteration: &'a Iteration,
}

pub(super) fn line(run_started_at: &str, iteration: &Iteration) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(&HistoryLine { run_started_at, iteration })?)
}

/// The iterations of a run in a state folder; none if the history cannot be read.
pub fn of_run(folder: &Path, started_at: &str) -> Vec<Iteration> {
    let past = tail(&folder.join("history.jsonl"), usize::MAX).unwrap_or_default();
    let own = past.iterations.into_iter().filter(|past| past.run_started_at == started_at);
    own.map(|past| past.iteration).collect()
}

/// The last iteration in a state folder; `None` also if the history cannot be read.
pub fn last(folder: &Path) -> Option<Past> {
    tail(&folder.join("history.jsonl"), 1).ok()?.iterations.pop()
}

/// The last iterations, at most `count`.
pub fn tail(path: &Path, count: usize) -> Result<HistoryTail, Problem> {
    let (mut file, meta) = match read::open(path) {
        Ok(open) => open,
        Err(Problem::Missing) => return Ok(HistoryTail::default()),
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
    let mut tail = HistoryTail::default();
    for line in whole.rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        if tail.iterations.len() == count {
            break;
        }
        if let Ok(past) = serde_json::from_slice(line) {
            tail.iterations.push(past);
            continue;
        }
        tail.unread += 1;
        tail.iterations.extend(behind_a_torn_one(line, b"{\"run_started_at\":"));
    }
    tail.iterations.reverse();
    Ok(tail)
}
