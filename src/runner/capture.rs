//! A helper program of the runner: a check, or `wt-usage`. Its time limit and its process
//! tree are those of an agent program.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use super::harness::{Launch, Stream};
use super::process::{self, Control, Cut, ProcessLimits, ProcessOutcome, Watcher};

/// The end of an output that a message needs at most, in bytes.
pub const TAIL: usize = 6_000;

/// What a helper program printed, and how it ended.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    /// How it ended.
    pub ended: ProcessOutcome,
    /// The end of what it printed on standard output.
    pub output: Vec<u8>,
    /// The end of all that it printed.
    pub printed: Vec<u8>,
}

impl Captured {
    /// Returns whether it was over its time.
    pub fn timed_out(&self) -> bool {
        matches!(self.ended.cut, Some(Cut::Wall | Cut::Silence))
    }

    /// Returns whether it ended with code 0, by itself.
    pub fn is_success(&self) -> bool {
        self.ended.cut.is_none() && self.ended.left.code == Some(0)
    }

    /// How it ended by itself, `None` for one that was ended.
    pub fn status(&self) -> Option<ExitStatus> {
        self.ended.status.filter(|_| self.ended.cut.is_none())
    }
}

/// Runs a program in `folder` within `limit` and returns the end of its outputs, at least `kept` bytes of them and at
/// most twice as many; ends it early when `interrupted` says so.
pub fn capture(
    supervisor: &Path,
    launch: &Launch,
    folder: &Path,
    (limit, kept): (Duration, usize),
    log: &mut File,
    interrupted: &mut dyn FnMut() -> bool,
) -> io::Result<Captured> {
    let limits = ProcessLimits {
        wall: Some(limit),
        silence: None,
        lingering: limit,
        grace: Duration::from_secs(2),
    };
    let mut monitor = CaptureMonitor { interrupted, kept, output: Vec::new(), printed: Vec::new() };
    let ended = process::run(supervisor, launch, folder, &limits, log, &mut monitor)?;
    Ok(Captured { ended, output: monitor.output, printed: monitor.printed })
}

struct CaptureMonitor<'a> {
    interrupted: &'a mut dyn FnMut() -> bool,
    kept: usize,
    output: Vec<u8>,
    printed: Vec<u8>,
}

impl Watcher for CaptureMonitor<'_> {
    fn line(&mut self, stream: Stream, line: &[u8]) -> Control {
        keep(&mut self.printed, line, self.kept);
        if stream == Stream::Output {
            keep(&mut self.output, line, self.kept);
        }
        Control::GoOn
    }

    fn moment(&mut self) -> Control {
        if (self.interrupted)() { Control::End } else { Control::GoOn }
    }
}

fn keep(tail: &mut Vec<u8>, line: &[u8], kept: usize) {
    tail.extend_from_slice(&line[line.len().saturating_sub(kept)..]);
    tail.push(b'\n');
    if tail.len() > 2 * kept {
        tail.drain(..tail.len() - kept);
    }
}
