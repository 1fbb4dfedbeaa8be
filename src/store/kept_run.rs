//! The state in which a run of `spool ralph` began, kept beside its receipts until the run ends.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::receipts::Receipts;
use super::write::{Flush, write_private, write_private_parts};
use crate::engine::fields::{is_default, read_fields};
use crate::world::WallTime;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KeptRun {
    pub began_at: WallTime,
    /// The folder that was looked through.
    pub folder: PathBuf,
    /// Files that were looked at although git ignores them.
    pub named: Vec<String>,
    /// Times the run was stopped and continued.
    #[serde(skip_serializing_if = "is_default")]
    pub stops: u32,
    /// The task list's bytes at the beginning.
    #[serde(skip)]
    pub list: Vec<u8>,
}

read_fields!(KeptRun { began_at, folder, named, stops } unread list);

/// The state in which a run was stopped; the next runner may continue the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoppedRun {
    pub began_at: WallTime,
    /// Times the run had been stopped before.
    pub stops: u32,
    /// Bytes of the list in the file.
    pub list_bytes: usize,
    /// The task list's bytes.
    #[serde(skip)]
    pub list: Vec<u8>,
    /// The files' contents, as bytes.
    #[serde(skip)]
    pub contents: Vec<u8>,
}

impl Receipts {
    /// Keeps the beginning of a run, with the files' contents then (`start`) and at the last judged task (`tick`),
    /// until [`Self::end_run`]. If the runner is killed, the next one continues from here. A kept stop is forgotten.
    pub fn keep_run(&self, run: &KeptRun, [start, tick]: &[Vec<u8>; 2]) -> io::Result<()> {
        if run.stops == 0 {
            self.end_run()?;
        }
        self.keep_armed(run.began_at.millis(), start, &run.list)?;
        if tick != start {
            self.keep_contents(tick)?;
        }
        // Written last: without this file the others count for nothing.
        write_private(&self.path("began"), &serde_json::to_vec(run)?, Flush::ToSystem)?;
        self.forget_stop()
    }

    pub fn keep_stop(&self, stop: &StoppedRun) -> io::Result<()> {
        let head = StoppedRun { list_bytes: stop.list.len(), ..stop.clone() };
        let head = serde_json::to_vec(&head)?;
        let parts = [&head, b"\n".as_slice(), &stop.list, &stop.contents];
        write_private_parts(&self.path("stop"), &parts, Flush::ToSystem)
    }

    /// How this run was stopped; `None` if its runner was killed.
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

    pub fn forget_stop(&self) -> io::Result<()> {
        self.remove("stop")
    }

    /// The run that has not ended: a runner was stopped or killed. `None` if the last run ended. An error if that is
    /// unknown, or which of its ticks were judged.
    pub fn run(&self) -> io::Result<Option<KeptRun>> {
        let Some(kept) = self.kept_if_any("began")? else { return Ok(None) };
        ["old.jsonl", "jsonl"].iter().try_for_each(|end| self.kept_if_any(end).map(drop))?;
        let run: KeptRun = serde_json::from_slice(&kept).map_err(|_| self.broken("began"))?;
        let list = self.armed_list(run.began_at.millis()).ok_or_else(|| self.broken("list"))?;
        Ok(Some(KeptRun { list, ..run }))
    }

    /// The error for an unusable file, by the end of its name.
    pub fn broken(&self, end: &str) -> io::Error {
        let path = self.path(end);
        io::Error::other(format!(
            "`{}`: it is missing, broken, or of another version or run",
            path.display()
        ))
    }

    /// The kept contents of the files, at the beginning of the run and at its last judged task.
    pub fn run_contents(&self) -> io::Result<[Vec<u8>; 2]> {
        let part = |end| self.kept_if_any(end)?.ok_or_else(|| self.broken(end));
        let next = self.kept_if_any("next")?.filter(|next| self.has_receipt_of(next));
        Ok([part("armed")?, next.map_or_else(|| part("contents"), Ok)?])
    }

    /// Forgets the run: it has ended, and its ticks are judged.
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
