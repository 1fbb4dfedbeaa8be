//! A running program: its output, and at its limit the end of all that it started.

use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::Pid;

use super::family::Family;
use super::pipes::{Pipes, Writers};
use super::supervisor::{self, ALONE};
use crate::exec::find::resolved;
use crate::exec::{GRACE, LOOK, Outputs, Program, ProgramEnd, Source};
use crate::world::{self, Deadline};

impl Program {
    pub(in crate::exec) fn go(
        mut self,
        outputs: Outputs,
        interrupt: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> io::Result<ProgramEnd> {
        self.command = resolved(self.command)?;
        let (mut pipes, writers) = Pipes::of(outputs)?;
        let (child, family, lifeline) = self.start(&mut pipes, writers)?;
        let limit = self.limit.map(Deadline::after);
        // The command holds the pipes' writing ends.
        drop(self.command);
        let mut run = RunningProgram { child, family, lifeline, pipes };
        let end = run.until_over(limit, interrupt, take);
        run.family.end();
        run.pipes.take_the_rest(take);
        end
    }

    /// Runs without outputs. `None` at the limit: the program goes on under a supervisor, which ends it after
    /// [`LIMIT_ALONE`](crate::exec::LIMIT_ALONE). Without a supervisor it was ended.
    pub fn run_or_leave(self) -> io::Result<Option<ExitStatus>> {
        let Some(mut supervisor) = supervisor::over(ALONE, &self.command) else {
            return Ok(self.run(0, &mut || false)?.status());
        };
        supervisor.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = spawn(&mut supervisor)?;
        let until = self.limit.map(Deadline::after);
        loop {
            let end = left(&mut child)?;
            if end.is_some() || until.is_some_and(|until| until.is_over()) {
                return Ok(end);
            }
            world::pause(LOOK);
        }
    }

    /// Starts the program or its supervisor, which ends the program when the returned pipe closes.
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
            // The program runs without a supervisor rather than not at all.
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

/// `None` while the program runs. A signal to this process is no answer about the program.
fn left(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    match child.try_wait() {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        status => status,
    }
}

struct RunningProgram {
    child: Child,
    family: Family,
    /// The supervisor's pipe: closing it ends the program.
    lifeline: Option<PipeWriter>,
    pipes: Pipes,
}

impl RunningProgram {
    fn until_over(
        &mut self,
        limit: Option<Deadline>,
        interrupt: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> io::Result<ProgramEnd> {
        let exit = exit_of(&self.child);
        let mut look = Deadline::after(LOOK);
        let mut ended: Option<(ProgramEnd, Deadline)> = None;
        loop {
            self.pipes.turn(exit.as_ref().map(AsFd::as_fd), LOOK, take);
            if let Some(status) = left(&mut self.child)? {
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
                // The supervisor needs its own grace and some rounds of killing.
                drop(lifeline);
                GRACE * 2
            } else {
                self.family.ask();
                GRACE
            };
            ended = Some((end, Deadline::after(until)));
        }
    }
}

impl Drop for RunningProgram {
    /// Even a panic in the reader leaves nothing running.
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

/// A descriptor that becomes readable at the program's end.
#[cfg(target_os = "linux")]
fn exit_of(child: &Child) -> Option<OwnedFd> {
    let id = Pid::from_raw(i32::try_from(child.id()).ok()?)?;
    rustix::process::pidfd_open(id, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_of(_: &Child) -> Option<OwnedFd> {
    None
}
