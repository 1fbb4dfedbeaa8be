//! The one way to run another program: with a limit, an interrupt, bounded output, and an end of the whole tree.

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

/// How often a running program is looked at and the interrupt asked.
const LOOK: Duration = Duration::from_millis(20);
/// Time between asking a program to end and killing it.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(2);
/// The limit of a program that nobody waits for.
pub const LIMIT_ALONE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard output, or both where they share a pipe.
    Output,
    Errors,
}

/// Where a program's outputs go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    /// Into a pipe each.
    Apart,
    Together,
    /// To the outputs of this process.
    #[cfg(unix)]
    Inherited,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// By itself.
    Left(ExitStatus),
    OverTime,
    Interrupted,
}

/// A program that ended, and the kept part of its output.
#[derive(Clone, Debug)]
pub struct ProgramOutput {
    pub end: ProgramEnd,
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
    /// The program printed more than was kept.
    pub cut: bool,
}

/// A program's answer as text; invalid UTF-8 is replaced.
#[derive(Debug)]
pub struct ProgramAnswer {
    pub status: ExitStatus,
    pub output: String,
    pub errors: String,
}

impl ProgramOutput {
    /// `None` when the program did not leave by itself.
    pub fn status(&self) -> Option<ExitStatus> {
        match self.end {
            ProgramEnd::Left(status) => Some(status),
            ProgramEnd::OverTime | ProgramEnd::Interrupted => None,
        }
    }

    /// `None` when the program did not leave by itself.
    pub fn answer(&self) -> Option<ProgramAnswer> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (output, errors) = (text(&self.output), text(&self.errors));
        self.status().map(|status| ProgramAnswer { status, output, errors })
    }

    pub fn is_success(&self) -> bool {
        self.status().is_some_and(|status| status.success())
    }
}

#[derive(Debug)]
pub struct Program {
    command: Command,
    input: Vec<u8>,
    limit: Option<Duration>,
    #[cfg_attr(windows, expect(dead_code, reason = "the system ends what is in a job"))]
    kept: bool,
}

impl Program {
    /// Standard input is empty.
    pub fn new(command: Command, limit: Duration) -> Self {
        Self { command, input: Vec::new(), limit: Some(limit), kept: false }
    }

    pub fn input(self, input: &[u8]) -> Self {
        Self { input: input.to_vec(), ..self }
    }

    /// Runs the program under a supervisor: a second process of this program, which ends it when this process is
    /// killed.
    ///
    /// Standard input is empty, and the environment is that of this process. Without a supervisor (see
    /// [`supervise::supervise_if_asked`]), the program runs alone.
    pub fn kept(self) -> Self {
        Self { kept: true, ..self }
    }

    /// Keeps the first `most` bytes of each output.
    ///
    /// An error means: the program did not start. `interrupt` asks for an early end.
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

    /// Keeps the end of both outputs together: at least `tail` bytes, at most four times as many.
    ///
    /// An error means: the program did not start. `interrupt` asks for an early end.
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

    /// Hands on the output piece by piece.
    ///
    /// An error means: the program did not start. `interrupt` asks for an early end.
    pub fn stream(
        self,
        interrupt: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> io::Result<ProgramEnd> {
        self.go(Outputs::Apart, interrupt, take)
    }
}

/// A path that starts this program again, even after its file was replaced or deleted, where the system allows that.
pub fn own_program() -> Option<PathBuf> {
    if cfg!(target_os = "linux") {
        return Some(PathBuf::from("/proc/self/exe"));
    }
    world::program()
}

#[cfg(test)]
mod tests;
