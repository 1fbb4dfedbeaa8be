//! Programs beside the agent: checks, reviews, git and `wt-usage`. Limit and process tree work as for an agent program.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use super::harness::{Launch, Stream};
use super::process::{self, Control, Cut, ProcessLimits, ProcessOutcome, Watcher};
use crate::checks::{LOOKED_AT, PASSED, ReviewCall, result, reviewed};
use crate::engine::{Check, CheckResult};

/// Bytes at the end of an output that a message needs at most.
pub const TAIL: usize = 6_000;

#[derive(Clone, Debug, Default)]
pub struct Captured {
    pub ended: ProcessOutcome,
    /// The end of standard output.
    pub output: Vec<u8>,
    /// The end of both outputs.
    pub printed: Vec<u8>,
}

impl Captured {
    pub fn timed_out(&self) -> bool {
        matches!(self.ended.cut, Some(Cut::Wall | Cut::Silence))
    }

    pub fn is_success(&self) -> bool {
        self.ended.cut.is_none() && self.ended.left.code == Some(0)
    }

    /// `None` for a program that was ended.
    pub fn status(&self) -> Option<ExitStatus> {
        self.ended.status.filter(|_| self.ended.cut.is_none())
    }
}

/// Keeps the end of each output: at least `kept` bytes, at most twice as many. `interrupted` asks for an early end.
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

/// Runs a check in a shell in `folder`, or a review with this same program.
///
/// The command line is the person's own, from their command line or their settings.
pub fn run_check(
    supervisor: &Path,
    (check, review): (&Check, Option<&ReviewCall>),
    folder: &Path,
    log: &mut File,
    interrupted: &mut dyn FnMut() -> bool,
) -> CheckResult {
    let Some(call) = review else {
        let (launch, limit) =
            (process::shell(&check.run), Duration::from_secs(check.limit_seconds));
        let kept = if check.looks_at_output() { LOOKED_AT } else { TAIL };
        let ran = capture(supervisor, &launch, folder, (limit, kept), log, interrupted);
        return result(check, ran.map(|ran| (ran.status(), ran.printed)), limit);
    };
    let launch = Launch {
        program: supervisor.into(),
        arguments: call.arguments.iter().map(Into::into).collect(),
        set: vec![(PASSED.to_owned(), call.passed.clone().into())],
        ..Launch::default()
    };
    let ran = capture(supervisor, &launch, folder, (call.limit, LOOKED_AT), log, interrupted);
    let told = |ran: Captured| {
        (ran.status(), if ran.output.is_empty() { ran.printed } else { ran.output })
    };
    reviewed(check, ran.map(told), call.limit)
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
