//! A running program: listened to, ended at its limit with all that it started.

use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Pid;

use super::family::Family;
use super::pipes::{Pipes, Writers};
use super::supervisor::{self, ALONE};
use crate::exec::find::resolved;
use crate::exec::{LOOK, Outputs, Program, ProgramEnd, Source};
use crate::world::{self, Deadline};

impl Program {
    /// Runs it to its end with these outputs, and returns how it ended.
    pub(in crate::exec) fn go(
        mut self,
        outputs: Outputs,
        interrupt: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> io::Result<ProgramEnd> {
        self.command = resolved(self.command)?;
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

    /// Runs it without outputs and returns how it ended; `None` where that takes longer than its limit: then it goes on under a
    /// supervisor, which ends it after [`LIMIT_ALONE`](crate::exec::LIMIT_ALONE). Where there is none, it was ended.
    pub fn run_or_leave(self) -> io::Result<Option<ExitStatus>> {
        let Some(mut supervisor) = supervisor::over(ALONE, &self.command) else {
            return Ok(self.run(0, &mut || false)?.status());
        };
        supervisor.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = spawn(&mut supervisor)?;
        let until = self.limit.map(Deadline::after);
        loop {
            let end = child.try_wait()?;
            if end.is_some() || until.is_some_and(|until| until.is_over()) {
                return Ok(end);
            }
            world::pause(LOOK);
        }
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
            self.pipes.turn(exit.as_ref().map(AsFd::as_fd), LOOK, take);
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
