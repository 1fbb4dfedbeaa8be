//! Windows: no run of an agent program yet.

use std::fs::File;
use std::io;
use std::path::Path;

use super::watch::{ProcessLimits, ProcessOutcome, Watcher};
use crate::runner::harness::Launch;

/// Returns an error: no agent program can be run here yet.
pub fn must_be_possible() -> io::Result<()> {
    let words = "`spool ralph` does not run on Windows yet\nlet a session do the work: type /speckit:implement in Claude Code";
    Err(io::Error::new(io::ErrorKind::Unsupported, words))
}

/// Returns an error: nothing is run here yet.
pub fn run(
    _: &Path,
    _: &Launch,
    _: &Path,
    _: &ProcessLimits,
    _: &mut File,
    _: &mut dyn Watcher,
) -> io::Result<ProcessOutcome> {
    must_be_possible().map(|()| ProcessOutcome::default())
}

/// Does nothing: there are no supervisors here.
pub fn supervise_if_asked() {}

/// Returns whether the runner with this process id has a supervisor that is still there.
pub fn has_supervisor(_: u32) -> bool {
    false
}
