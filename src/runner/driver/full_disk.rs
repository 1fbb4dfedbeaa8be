//! A disk that is full ends the loop by name. What has no room any more goes once into the room that was kept free for the end.

use anyhow::{Result, bail};

use super::parts::Driver;
use crate::engine::TerminalReason;
use crate::runner::exit;
use crate::runner::state::is_disk_full;

/// What a person does when the disk was full.
const MAKE_ROOM: &str =
    "Make room on the disk, then run the same command again: it continues this loop.";

impl Driver<'_> {
    /// Has something written into the loop's own files, on a full disk into the room that was kept free for the end; an error
    /// says that it is not written.
    pub(super) fn write<T>(&mut self, mut write: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        match self.write_with_room(&mut write) {
            Err(error) if is_disk_full(&error) && self.files.frees_reserve() => write(self),
            done => done,
        }
    }

    /// Does so without that room, for what comes before the agent: an error means that the agent may not be started.
    pub(super) fn write_with_room<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let done = write(self);
        if let Err(error) = &done
            && is_disk_full(error)
            && self.full_disk.is_none()
        {
            // What happened to which file, without what to do.
            let why = format!("{error:#}");
            let why = why.lines().next().unwrap_or_default();
            self.full_disk = Some(format!("the disk was full: {why}"));
        }
        done
    }

    /// Returns an error where the disk was full: no other step is begun.
    pub(super) fn has_room(&self) -> Result<()> {
        if let Some(words) = &self.full_disk {
            bail!("{words}");
        }
        Ok(())
    }

    /// Returns in words that the loop ended because its disk was full, `None` where it did not.
    pub(super) fn ended_by_full_disk(&self, reason: &TerminalReason) -> Option<&str> {
        self.full_disk.as_deref().filter(|_| *reason == TerminalReason::Stopped)
    }

    /// Returns what a person does next, in one or two sentences; empty when there is nothing to do.
    pub(super) fn what_next(&self, reason: &TerminalReason) -> String {
        let next =
            || exit::what_next(reason, &self.plan.change.id, self.files.state.current_iteration);
        self.ended_by_full_disk(reason).map_or_else(next, |_| MAKE_ROOM.to_owned())
    }
}
