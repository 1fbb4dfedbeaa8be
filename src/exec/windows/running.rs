//! A running program: its output, and at its limit the end of all that it started.

use std::io;
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use super::family::{self, EndedProcesses, end_descendants};
use super::job::Job;
use super::pipes::{self, Pipes};
use crate::exec::find::resolved;
use crate::exec::{LOOK, Outputs, Program, ProgramEnd, Source};
use crate::world::{self, Deadline};

/// Starts a program without a window, out of reach of Ctrl-C.
const NO_WINDOW: u32 = 0x0800_0000;

/// The grace of a program's remains, where they are counted.
const SETTLING: Duration = Duration::from_millis(100);
const ROUND: Duration = Duration::from_millis(5);

impl Program {
    /// A program cannot be asked to end here, so it is killed at its limit.
    pub(in crate::exec) fn go(
        self,
        outputs: Outputs,
        interrupt: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> io::Result<ProgramEnd> {
        self.go_on(outputs, Duration::ZERO, interrupt, take).map(|(end, _)| end)
    }

    /// Runs without outputs; `None` at the limit.
    pub fn run_or_leave(self) -> io::Result<Option<ExitStatus>> {
        Ok(self.run(0, &mut || false)?.status())
    }

    /// A program without a limit.
    pub(crate) fn unlimited(command: Command, input: Vec<u8>) -> Self {
        Self { command, input, limit: None, kept: false }
    }

    /// Hands on the output piece by piece. Also returns the descendants that had to be ended.
    ///
    /// An error means: the program did not start. `interrupt` asks for an early end.
    pub(crate) fn stream_tree(
        self,
        interrupt: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> io::Result<(ProgramEnd, EndedProcesses)> {
        self.go_on(Outputs::Apart, SETTLING, interrupt, take)
    }

    fn go_on(
        mut self,
        outputs: Outputs,
        settling: Duration,
        interrupt: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> io::Result<(ProgramEnd, EndedProcesses)> {
        // The job has to be there before the first child.
        let _ = family::own_job();
        let (mut pipes, writers) = Pipes::of(outputs)?;
        let mut command = resolved(self.command)?;
        command.stdout(writers.output).stderr(writers.errors).creation_flags(NO_WINDOW);
        command.stdin(match pipes::feed(std::mem::take(&mut self.input))? {
            Some(reader) => Stdio::from(reader),
            None => Stdio::null(),
        });
        let mut run = RunningProgram::of(command)?;
        let limit = self.limit.map(Deadline::after);
        let end = run.until_over(limit, &mut pipes, interrupt, take);
        let settling =
            if matches!(end, Ok(ProgramEnd::Left(_))) { settling } else { Duration::ZERO };
        let rest = run.end(settling);
        pipes.take_the_rest(take);
        Ok((end?, rest))
    }
}

/// Dropping it ends all of it.
struct RunningProgram {
    child: Child,
    /// `None` where the system refuses one.
    job: Option<Job>,
}

impl RunningProgram {
    #[expect(clippy::disallowed_methods, reason = "this is the room for it")]
    fn of(mut command: Command) -> io::Result<Self> {
        let job = Job::new().ok();
        let child = command.spawn()?;
        let job = job.filter(|job| job.take_in(&child).is_ok());
        Ok(Self { child, job })
    }

    fn until_over(
        &mut self,
        limit: Option<Deadline>,
        pipes: &mut Pipes,
        interrupt: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> io::Result<ProgramEnd> {
        let mut look = Deadline::after(LOOK);
        loop {
            let came = pipes.turn(LOOK, take);
            if let Some(status) = self.child.try_wait()? {
                return Ok(ProgramEnd::Left(status));
            }
            if !came {
                // A program may close both outputs long before it leaves.
                world::pause(Duration::from_millis(1));
            }
            let wanted = look.is_over() && {
                look = Deadline::after(LOOK);
                interrupt()
            };
            if wanted {
                return Ok(ProgramEnd::Interrupted);
            }
            if limit.is_some_and(|limit| limit.is_over()) {
                return Ok(ProgramEnd::OverTime);
            }
        }
    }

    /// Ends the rest, and returns it without the program itself.
    fn end(&mut self, settling: Duration) -> EndedProcesses {
        let own = self.child.id();
        let members = |job: &Option<Job>| {
            let mut members = job.as_ref().map(Job::members).unwrap_or_default();
            members.remove(&own);
            members
        };
        let settled = Deadline::after(settling);
        while !members(&self.job).is_empty() && !settled.is_over() {
            world::pause(ROUND);
        }
        let left = members(&self.job);
        drop(self.job.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut rest = end_descendants();
        rest.ended.extend(left);
        rest.ended.remove(&own);
        rest
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}
