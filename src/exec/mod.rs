//! The one way to run another program: a limit, an interrupt, a bound on what is kept, and the end of its
//! whole tree.

pub(crate) mod alive;
pub(crate) mod family;
pub(crate) mod find;
pub(crate) mod partner;
mod pipes;
pub(crate) mod supervise;
pub(crate) mod supervisor;
pub(crate) mod tree;
pub(crate) mod version;

use std::io::{self, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Pid;

use crate::world::Deadline;
use family::Family;
use pipes::{Outputs, Pipes, Writers};

pub use pipes::Source;

/// How often a running program is looked at, and the interrupt asked.
const LOOK: Duration = Duration::from_millis(20);
/// Time between asking a program to end and killing it, unless something else is said.
const GRACE: Duration = Duration::from_secs(2);

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
    grace: Duration,
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

    fn go(
        mut self,
        outputs: Outputs,
        interrupt: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> io::Result<ProgramEnd> {
        let (mut pipes, writers) = Pipes::of(outputs)?;
        let (child, family, lifeline) = self.start(&mut pipes, writers)?;
        let (limit, grace) = (self.limit.map(Deadline::after), self.grace);
        // It holds the writing ends of the pipes.
        drop(self.command);
        let mut run = RunningProgram { child, family, lifeline, pipes };
        let end = run.until_over(limit, grace, interrupt, take);
        run.family.end();
        run.pipes.take_the_rest(take);
        end
    }

    /// Starts the program, or a supervisor of it; closing the pipe that is returned has the supervisor end it.
    fn start(
        &mut self,
        pipes: &mut Pipes,
        writers: Option<Writers>,
    ) -> io::Result<(Child, Family, Option<PipeWriter>)> {
        if self.kept
            && let Some((mut supervisor, lifeline)) = supervisor::of(&self.command)?
        {
            if let Some(writers) = &writers {
                supervisor.stdout(writers.output.try_clone()?).stderr(writers.errors.try_clone()?);
            }
            let family = Family::of(&mut supervisor);
            // A supervisor that cannot be started is no reason not to run what is asked for.
            if let Ok(child) = spawn(&mut supervisor) {
                return Ok((child, family, Some(lifeline)));
            }
        }
        let command = &mut self.command;
        if let Some(writers) = writers {
            command.stdout(writers.output).stderr(writers.errors);
        }
        command.stdin(match pipes.feed(std::mem::take(&mut self.input))? {
            Some(reader) => Stdio::from(reader),
            None => Stdio::null(),
        });
        command.process_group(0);
        let mut family = Family::of(command);
        let child = spawn(command)?;
        family.leader = Pid::from_raw(i32::try_from(child.id()).unwrap_or(0));
        Ok((child, family, None))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the room for it")]
fn spawn(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// A running program.
struct RunningProgram {
    child: Child,
    family: Family,
    /// The end that a supervisor watches; closing it has the program ended.
    lifeline: Option<PipeWriter>,
    pipes: Pipes,
}

impl RunningProgram {
    fn until_over(
        &mut self,
        limit: Option<Deadline>,
        grace: Duration,
        interrupt: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> io::Result<ProgramEnd> {
        let exit = exit_of(&self.child);
        let mut look = Deadline::after(LOOK);
        let mut ended: Option<(ProgramEnd, Deadline)> = None;
        loop {
            self.pipes.turn(exit.as_ref(), LOOK, take);
            if let Some(status) = self.child.try_wait()? {
                return Ok(ended.map_or(ProgramEnd::Left(status), |(end, _)| end));
            }
            if let Some((end, until)) = ended {
                if until.is_over() {
                    self.family.kill();
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return Ok(end);
                }
                continue;
            }
            let wanted = look.is_over() && {
                look = Deadline::after(LOOK);
                interrupt()
            };
            let end = match limit {
                _ if wanted => ProgramEnd::Interrupted,
                Some(limit) if limit.is_over() => ProgramEnd::OverTime,
                _ => continue,
            };
            self.family.note();
            let until = if let Some(lifeline) = self.lifeline.take() {
                // The supervisor has its own grace, and some rounds of killing.
                drop(lifeline);
                grace * 2
            } else {
                self.family.ask();
                grace
            };
            ended = Some((end, Deadline::after(until)));
        }
    }
}

impl Drop for RunningProgram {
    /// A panic while the output is handed on leaves nothing running either.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        self.family.note();
        self.family.kill();
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.family.end();
    }
}

/// Something that can be waited for together with the pipes: the end of the program.
#[cfg(target_os = "linux")]
fn exit_of(child: &Child) -> Option<OwnedFd> {
    let id = Pid::from_raw(i32::try_from(child.id()).ok()?)?;
    rustix::process::pidfd_open(id, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_of(_: &Child) -> Option<OwnedFd> {
    None
}

#[cfg(test)]
mod tests;
