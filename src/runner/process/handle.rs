//! A started supervisor, and the pipes to it and its program.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::protocol::{SupervisorCommand, SupervisorEvent, SupervisorOrder, hear, say};
use super::supervisor::SUPERVISOR;
use crate::exec::partner::supervisor_name;
use crate::exec::pipes::Pipes;
use crate::exec::{Outputs, Source};
use crate::runner::harness::Told;
use crate::world::Deadline;

pub struct SupervisorHandle {
    /// The supervisor itself.
    pub child: Child,
    runner_end: UnixStream,
    pipes: Pipes,
}

/// How long a supervisor may take to be ready.
const READY: Duration = Duration::from_secs(20);
/// Ctrl-C may hit a supervisor before it has left the terminal; so often it is started again.
const STARTS: usize = 3;

impl SupervisorHandle {
    /// The supervisor waits for its order.
    pub fn start(program: &Path) -> io::Result<Self> {
        let mut starts = 1;
        loop {
            let mut handle = Self::start_once(program)?;
            if handle.is_ready()? {
                return Ok(handle);
            }
            drop(handle.runner_end);
            let _ = handle.child.kill();
            let status = handle.child.wait()?;
            let of_the_terminal =
                status.signal().is_some_and(|signal| signal != Signal::KILL.as_raw());
            if !of_the_terminal || starts == STARTS {
                return Err(no_supervisor(&io::Error::other(format!("it ended with {status}"))));
            }
            starts += 1;
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the supervisor itself starts it")]
    fn start_once(program: &Path) -> io::Result<Self> {
        let (runner_end, supervisor_end) = UnixStream::pair()?;
        let (pipes, writers) = Pipes::of(Outputs::Apart)?;
        pipes.open().take(1).for_each(hold_much);
        let mut command = Command::new(program);
        command.arg0(supervisor_name(std::process::id())).env(SUPERVISOR, "1");
        command.stdin(Stdio::from(OwnedFd::from(supervisor_end)));
        if let Some(writers) = writers {
            command.stdout(writers.output).stderr(writers.errors);
        }
        let child = command.spawn().map_err(|error| no_supervisor(&error))?;
        Ok(Self { child, runner_end, pipes })
    }

    fn is_ready(&mut self) -> io::Result<bool> {
        let deadline = Deadline::after(READY);
        while !deadline.is_over() {
            if self.turn(deadline.left(), &mut |_, _| {}) {
                return Ok(self.hear() == Some(SupervisorEvent::Ready));
            }
        }
        Err(no_supervisor(&io::Error::from(io::ErrorKind::TimedOut)))
    }

    pub fn order(&mut self, order: &SupervisorOrder) -> io::Result<()> {
        say(&mut self.runner_end, order).map_err(|error| no_supervisor(&error))
    }

    /// A missing supervisor shows when the runner next listens.
    pub fn ask(&mut self, command: &SupervisorCommand) {
        let _ = say(&mut self.runner_end, command);
    }

    pub fn tell(&mut self, told: Told) {
        if !told.text.is_empty() {
            self.ask(&SupervisorCommand::Tell(told.text));
        }
        if told.closes {
            self.ask(&SupervisorCommand::Close);
        }
    }

    /// Continues a stopped supervisor, which would neither end the tree nor report its end.
    pub fn keep_going(&self) {
        let Some(id) = Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(0)) else { return };
        let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if matches!(waitid(WaitId::Pid(id), look), Ok(Some(_))) {
            let _ = kill_process(id, Signal::CONT);
        }
    }

    /// Waits for an event, a signal or the time; hands on the output. Returns whether the supervisor speaks.
    pub fn turn(&mut self, patience: Duration, take: &mut dyn FnMut(Source, &[u8])) -> bool {
        self.pipes.turn(Some(self.runner_end.as_fd()), patience, take)
    }

    /// `None` when the supervisor has gone. Blocks unless there is something to read.
    pub fn hear(&mut self) -> Option<SupervisorEvent> {
        hear(&mut self.runner_end).ok()
    }

    /// Hands on the rest of the output, without waiting for descendants that still write.
    pub fn take_the_rest(&mut self, take: &mut dyn FnMut(Source, &[u8])) {
        self.pipes.take_the_rest(take);
    }
}

fn no_supervisor(cause: &io::Error) -> io::Error {
    io::Error::other(format!("the supervisor of the agent program cannot be used: {cause}"))
}

/// Enlarges a pipe to what everybody may have. Gemini CLI leaves without waiting for its reader, so output that does
/// not fit is lost.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn hold_much(pipe: &io::PipeReader) {
    // A person with many pipes may be refused; the usual size then stays.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn hold_much(_: &io::PipeReader) {}
