//! The one way to run another program: a limit, an interrupt, a bound on what is kept, and the end of its
//! whole tree.

pub(crate) mod alive;
pub(crate) mod find;
pub(crate) mod partner;
#[cfg(unix)]
mod unix;
pub(crate) mod version;
#[cfg(windows)]
mod windows;

use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::world;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// How often a running program is looked at, and the interrupt asked.
const LOOK: Duration = Duration::from_millis(20);
/// Time between asking a program to end and killing it, unless something else is said.
const GRACE: Duration = Duration::from_secs(2);
/// How long a program may take that nobody waits for.
pub const LIMIT_ALONE: Duration = Duration::from_secs(5);

/// Which of a program's two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard output, or both where they come together.
    Output,
    /// Standard error.
    Errors,
}

/// Where a program's outputs go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    /// Into a pipe each.
    Apart,
    /// Into one pipe.
    Together,
    /// Where those of this process go.
    #[cfg(unix)]
    Inherited,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// By itself, in this way.
    Left(ExitStatus),
    /// It exceeded its limit.
    OverTime,
    /// The interrupt asked for it.
    Interrupted,
}

/// A program that ended, and the part of its output that was kept.
#[derive(Clone, Debug)]
pub struct ProgramOutput {
    /// How it ended.
    pub end: ProgramEnd,
    /// Standard output.
    pub output: Vec<u8>,
    /// Standard error.
    pub errors: Vec<u8>,
    /// Whether it printed more than was kept.
    pub cut: bool,
}

impl ProgramOutput {
    /// Returns how it left by itself, `None` when it was ended.
    pub fn status(&self) -> Option<ExitStatus> {
        match self.end {
            ProgramEnd::Left(status) => Some(status),
            ProgramEnd::OverTime | ProgramEnd::Interrupted => None,
        }
    }

    /// Returns whether it left by itself, with code 0.
    pub fn is_success(&self) -> bool {
        self.status().is_some_and(|status| status.success())
    }
}

/// A program that is about to be run.
#[derive(Debug)]
pub struct Program {
    command: Command,
    input: Vec<u8>,
    limit: Option<Duration>,
    #[cfg_attr(windows, expect(dead_code, reason = "no program can be asked to end there"))]
    grace: Duration,
    #[cfg_attr(windows, expect(dead_code, reason = "the system ends what is in a job"))]
    kept: bool,
}

impl Program {
    /// Returns the program of `command`, which may take this long; its standard input is empty.
    pub fn new(command: Command, limit: Duration) -> Self {
        Self { command, input: Vec::new(), limit: Some(limit), grace: GRACE, kept: false }
    }

    /// Gives it these bytes on its standard input.
    #[must_use]
    pub fn input(self, input: &[u8]) -> Self {
        Self { input: input.to_vec(), ..self }
    }

    /// Gives it this long between being asked to end and being killed.
    #[must_use]
    pub fn grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Runs it under a supervisor, a second process of this program that ends it when this one is killed.
    ///
    /// Without a standard input, and with what this process has as its environment. Where this program
    /// knows no supervisor (see [`supervise::supervise_if_asked`]), it runs without one.
    #[must_use]
    pub fn kept(self) -> Self {
        Self { kept: true, ..self }
    }

    /// Runs it to its end and returns the beginning of both outputs, at most `most` bytes of each.
    ///
    /// An error means that it could not be started. `interrupt` says whether it is to end early.
    pub fn run(
        self,
        most: usize,
        interrupt: &mut dyn FnMut() -> bool,
    ) -> io::Result<ProgramOutput> {
        let (mut output, mut errors, mut cut) = (Vec::new(), Vec::new(), false);
        let end = self.stream(interrupt, &mut |source, piece| {
            let kept = if source == Source::Output { &mut output } else { &mut errors };
            let room = most - kept.len();
            cut |= piece.len() > room;
            kept.extend_from_slice(&piece[..piece.len().min(room)]);
        })?;
        Ok(ProgramOutput { end, output, errors, cut })
    }

    /// Runs it to its end and returns the end of both outputs together, at least `tail` bytes of it and
    /// at most four times as many.
    ///
    /// An error means that it could not be started. `interrupt` says whether it is to end early.
    pub fn run_for_tail(
        self,
        tail: usize,
        interrupt: &mut dyn FnMut() -> bool,
    ) -> io::Result<ProgramOutput> {
        let (mut output, mut cut) = (Vec::new(), false);
        let end = self.go(Outputs::Together, interrupt, &mut |_, piece| {
            output.extend_from_slice(piece);
            if output.len() > 4 * tail {
                output.drain(..output.len() - tail);
                cut = true;
            }
        })?;
        Ok(ProgramOutput { end, output, errors: Vec::new(), cut })
    }

    /// Runs it to its end, hands on its output piece by piece, and returns how it ended.
    ///
    /// An error means that it could not be started. `interrupt` says whether it is to end early.
    pub fn stream(
        self,
        interrupt: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> io::Result<ProgramEnd> {
        self.go(Outputs::Apart, interrupt, take)
    }
}

/// Returns the path under which this program can be started again, also when its file was replaced or
/// deleted meanwhile, where the system allows that; `None` where the system does not say.
pub fn own_program() -> Option<PathBuf> {
    if cfg!(target_os = "linux") {
        return Some(PathBuf::from("/proc/self/exe"));
    }
    world::program()
}

#[cfg(test)]
mod tests;
