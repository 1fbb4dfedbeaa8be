//! A started supervisor: the ends of everything that leads to it and to its program.

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

/// A supervisor, and the ends of everything that leads to it and its program.
pub struct SupervisorHandle {
    /// The supervisor itself.
    pub child: Child,
    runner_end: UnixStream,
    pipes: Pipes,
}

/// The longest that a supervisor has to say that it is ready.
const READY: Duration = Duration::from_secs(20);
/// How often a supervisor is started that Ctrl-C hit before it was out of the terminal's reach.
const STARTS: usize = 3;

impl SupervisorHandle {
    /// Returns a supervisor that waits for its order.
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

    /// Gives the supervisor its order.
    pub fn order(&mut self, order: &SupervisorOrder) -> io::Result<()> {
        say(&mut self.runner_end, order).map_err(|error| no_supervisor(&error))
    }

    /// Asks something of the supervisor. One that is not there any more is found out about when it is heard.
    pub fn ask(&mut self, command: &SupervisorCommand) {
        let _ = say(&mut self.runner_end, command);
    }

    /// Has the program told something.
    pub fn tell(&mut self, told: Told) {
        if !told.text.is_empty() {
            self.ask(&SupervisorCommand::Tell(told.text));
        }
        if told.closes {
            self.ask(&SupervisorCommand::Close);
        }
    }

    /// Continues a supervisor that someone has stopped: it would neither end the tree nor report its end.
    pub fn keep_going(&self) {
        let Some(id) = Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(0)) else { return };
        let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if matches!(waitid(WaitId::Pid(id), look), Ok(Some(_))) {
            let _ = kill_process(id, Signal::CONT);
        }
    }

    /// Waits until something comes, a signal came, or the time is up; hands on the output, and returns whether the
    /// supervisor speaks.
    pub fn turn(&mut self, patience: Duration, take: &mut dyn FnMut(Source, &[u8])) -> bool {
        self.pipes.turn(Some(self.runner_end.as_fd()), patience, take)
    }

    /// What the supervisor says, `None` where it is not there any more; only called when there is something to read.
    pub fn hear(&mut self) -> Option<SupervisorEvent> {
        hear(&mut self.runner_end).ok()
    }

    /// Hands on the rest of the output; what one that escaped still writes is not waited for.
    pub fn take_the_rest(&mut self, take: &mut dyn FnMut(Source, &[u8])) {
        self.pipes.take_the_rest(take);
    }
}

/// Returns the error of a supervisor that does not do its work.
fn no_supervisor(cause: &io::Error) -> io::Error {
    io::Error::other(format!("the supervisor of the agent program cannot be used: {cause}"))
}

/// Makes a pipe hold as much as the system allows anybody: a program may leave without waiting until its
/// output is read (Gemini CLI), and what the pipe does not hold by then is lost.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn hold_much(pipe: &io::PipeReader) {
    // A person with many pipes already may be refused; then it is one of the usual size.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn hold_much(_: &io::PipeReader) {}
