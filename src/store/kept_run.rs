//! What a run of the runner began with, kept beside its receipts until it ends.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::receipts::Receipts;
use super::write::{Flush, write_private, write_private_parts};
use crate::engine::fields::{is_default, read_fields};
use crate::world::WallTime;

/// What a run of `spool ralph` began with, as it is kept until the run ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KeptRun {
    /// When it began.
    pub began_at: WallTime,
    /// The folder whose files were looked at.
    pub folder: PathBuf,
    /// The files that were looked at also where git ignores them.
    pub named: Vec<String>,
    /// How often it was stopped and has continued.
    #[serde(skip_serializing_if = "is_default")]
    pub stops: u32,
    /// The task list then, as bytes.
    #[serde(skip)]
    pub list: Vec<u8>,
}

read_fields!(KeptRun { began_at, folder, named, stops } unread list);

/// How a run of `spool ralph` was left that was stopped and may continue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoppedRun {
    /// When the run began.
    pub began_at: WallTime,
    /// How often it had been stopped before.
    pub stops: u32,
    /// The length of the list as it is kept, in bytes.
    pub list_bytes: usize,
    /// The task list, as bytes.
    #[serde(skip)]
    pub list: Vec<u8>,
    /// What the files contained, as bytes.
    #[serde(skip)]
    pub contents: Vec<u8>,
}

impl Receipts {
    /// Keeps what a run begins or continues with, and what the files contained when it began and when a task of it was judged
    /// last, until [`Self::end_run`]: where its runner is killed, the next one goes by it. How it was left counts until then.
    pub fn keep_run(&self, run: &KeptRun, [start, tick]: &[Vec<u8>; 2]) -> io::Result<()> {
        if run.stops == 0 {
            self.end_run()?;
        }
        self.keep_armed(run.began_at.millis(), start, &run.list)?;
        if tick != start {
            self.keep_contents(tick)?;
        }
        // It comes last: without it the rest counts for nothing.
        write_private(&self.path("began"), &serde_json::to_vec(run)?, Flush::ToSystem)?;
        self.forget_stop()
    }

    /// Keeps how that run is left, which is stopped and may continue.
    pub fn keep_stop(&self, stop: &StoppedRun) -> io::Result<()> {
        let head = StoppedRun { list_bytes: stop.list.len(), ..stop.clone() };
        let head = serde_json::to_vec(&head)?;
        let parts = [&head, b"\n".as_slice(), &stop.list, &stop.contents];
        write_private_parts(&self.path("stop"), &parts, Flush::ToSystem)
    }

    /// How this run was left when it was stopped; `None` where its runner was killed.
    pub fn stop_of(&self, run: &KeptRun) -> io::Result<Option<StoppedRun>> {
        let parsed = |kept: &[u8]| {
            let (head, rest) = kept.split_at(memchr::memchr(b'\n', kept)?);
            let stop: StoppedRun = serde_json::from_slice(head).ok()?;
            let (list, contents) = rest[1..].split_at_checked(stop.list_bytes)?;
            Some(StoppedRun { list: list.to_vec(), contents: contents.to_vec(), ..stop })
        };
        let Some(kept) = self.kept_if_any("stop")? else { return Ok(None) };
        let stop = parsed(&kept).ok_or_else(|| self.broken("stop"))?;
        Ok((stop.began_at == run.began_at && stop.stops == run.stops).then_some(stop))
    }

    /// Removes how the last run was left.
    pub fn forget_stop(&self) -> io::Result<()> {
        self.remove("stop")
    }

    /// What a run began with that has not ended: it was stopped, or its runner killed. `None` where the last one ended; an
    /// error where that cannot be told, or not which of its ticks were judged.
    pub fn run(&self) -> io::Result<Option<KeptRun>> {
        let Some(kept) = self.kept_if_any("began")? else { return Ok(None) };
        ["old.jsonl", "jsonl"].iter().try_for_each(|end| self.kept_if_any(end).map(drop))?;
        let run: KeptRun = serde_json::from_slice(&kept).map_err(|_| self.broken("began"))?;
        let list = self.armed_list(run.began_at.millis()).ok_or_else(|| self.broken("list"))?;
        Ok(Some(KeptRun { list, ..run }))
    }

    /// The error for a file that is there and says nothing, by the end of its name.
    pub fn broken(&self, end: &str) -> io::Error {
        let path = self.path(end);
        io::Error::other(format!(
            "`{}`: it is missing, broken, or of another version or run",
            path.display()
        ))
    }

    /// The bytes that were kept of what the files contained when that run began, and when a task of it was judged last.
    pub fn run_contents(&self) -> io::Result<[Vec<u8>; 2]> {
        let part = |end| self.kept_if_any(end)?.ok_or_else(|| self.broken(end));
        let next = self.kept_if_any("next")?.filter(|next| self.has_receipt_of(next));
        Ok([part("armed")?, next.map_or_else(|| part("contents"), Ok)?])
    }

    /// Removes what a run began with: it has ended, and its ticks were judged.
    pub fn end_run(&self) -> io::Result<()> {
        ["began", "armed", "next", "contents", "list", "stop"].iter().try_for_each(|end| {
            let named = |error: io::Error| {
                let words = format!("`{}` cannot be removed: {error}", self.path(end).display());
                io::Error::new(error.kind(), words)
            };
            self.remove(end).map_err(named)
        })
    }
}
