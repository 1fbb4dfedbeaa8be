//! A started supervisor: the ends of everything that leads to it and to its program.

use std::io::{self, PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::lines::LineSplitter;
use super::protocol::{SupervisorCommand, SupervisorEvent};
use super::supervisor::SUPERVISOR;
use crate::exec::partner::supervisor_name;
use crate::runner::harness::{Stream, Told};
use crate::world::Deadline;

/// A supervisor, and the ends of everything that leads to it and its program.
pub struct SupervisorHandle {
    /// The supervisor itself.
    pub child: Child,
    runner_end: UnixStream,
    /// The outputs that are still open.
    pub outputs: Vec<OutputPipe>,
    /// The beginning of news.
    heard: Vec<u8>,
}

/// The longest that a supervisor has to say that it is ready.
const READY: Duration = Duration::from_secs(20);
/// How often a supervisor is started that Ctrl-C hit before it was out of the terminal's reach.
const STARTS: usize = 3;

/// One of the two outputs.
pub struct OutputPipe {
    /// Which one.
    pub stream: Stream,
    /// What comes out of it; reading never waits.
    pub pipe: PipeReader,
    /// The line that is being read.
    pub lines: LineSplitter,
}

impl OutputPipe {
    fn new(stream: Stream, pipe: PipeReader) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self { stream, pipe, lines: LineSplitter::default() })
    }
}

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
            let of_the_terminal = status.signal().is_some_and(|it| it != Signal::KILL.as_raw());
            if !of_the_terminal || starts == STARTS {
                return Err(no_supervisor(&io::Error::other(format!("it ended with {status}"))));
            }
            starts += 1;
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the supervisor itself starts it")]
    fn start_once(program: &Path) -> io::Result<Self> {
        let (runner_end, supervisor_end) = UnixStream::pair()?;
        let (output, output_writer) = io::pipe()?;
        let (errors, errors_writer) = io::pipe()?;
        hold_much(&output);
        let outputs = vec![
            OutputPipe::new(Stream::Output, output)?,
            OutputPipe::new(Stream::Errors, errors)?,
        ];
        let mut command = Command::new(program);
        command.arg0(supervisor_name(std::process::id())).env(SUPERVISOR, "1");
        command.stdin(Stdio::from(OwnedFd::from(supervisor_end)));
        command.stdout(output_writer).stderr(errors_writer);
        let child = command.spawn().map_err(|error| no_supervisor(&error))?;
        Ok(Self { child, runner_end, outputs, heard: Vec::new() })
    }

    fn is_ready(&mut self) -> io::Result<bool> {
        let deadline = Deadline::after(READY);
        while !deadline.is_over() {
            let patience = Timespec::try_from(deadline.left()).ok();
            let mut wanted = [PollFd::new(&self.runner_end, PollFlags::IN)];
            match poll(&mut wanted, patience.as_ref()) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => match self.receive()? {
                    FromSupervisor::Nothing => {}
                    FromSupervisor::SupervisorEvent(news) => {
                        return Ok(news == SupervisorEvent::Ready);
                    }
                    FromSupervisor::Silence => return Ok(false),
                },
                Err(error) => return Err(error.into()),
            }
        }
        Err(no_supervisor(&io::Error::from(io::ErrorKind::TimedOut)))
    }

    /// Gives the supervisor its order.
    pub fn order(&mut self, order: &[u8]) -> io::Result<()> {
        self.runner_end.write_all(order).map_err(|error| no_supervisor(&error))
    }

    /// Asks something of the supervisor. One that is not there any more is found out about when it is heard.
    pub fn ask(&mut self, command: SupervisorCommand) {
        let _ = self.runner_end.write_all(&[command.written()]);
    }

    /// Has the program told something.
    pub fn tell(&mut self, told: &Told) {
        if !told.text.is_empty() {
            let _ = self.runner_end.write_all(&SupervisorCommand::telling(&told.text));
        }
        if told.closes {
            self.ask(SupervisorCommand::Close);
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

    /// Waits until there is something to read, a signal came, or the time is up.
    pub fn wait(&self, patience: Duration) -> Ready {
        let patience = Timespec::try_from(patience).ok();
        let mut wanted = vec![PollFd::new(&self.runner_end, PollFlags::IN)];
        wanted.extend(self.outputs.iter().map(|output| PollFd::new(&output.pipe, PollFlags::IN)));
        if poll(&mut wanted, patience.as_ref()).is_err() {
            return Ready { news: false, outputs: Vec::new() };
        }
        let mut ready = wanted.iter().map(|it| !it.revents().is_empty());
        Ready { news: ready.next().unwrap_or(false), outputs: ready.collect() }
    }

    /// Reads what the supervisor says; only called when there is something to read.
    pub fn receive(&mut self) -> io::Result<FromSupervisor> {
        let mut bytes = [0; SupervisorEvent::LENGTH];
        let room = SupervisorEvent::LENGTH - self.heard.len();
        match self.runner_end.read(&mut bytes[..room]) {
            Ok(0) => Ok(FromSupervisor::Silence),
            Ok(count) => {
                self.heard.extend_from_slice(&bytes[..count]);
                let Ok(whole) = <[u8; SupervisorEvent::LENGTH]>::try_from(&self.heard[..]) else {
                    return Ok(FromSupervisor::Nothing);
                };
                self.heard.clear();
                Ok(SupervisorEvent::from(whole)
                    .map_or(FromSupervisor::Nothing, FromSupervisor::SupervisorEvent))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(FromSupervisor::Nothing),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                Ok(FromSupervisor::Silence)
            }
            Err(error) => Err(error),
        }
    }
}

/// What can be read.
pub struct Ready {
    /// Whether the supervisor speaks.
    pub news: bool,
    /// For each output, whether something came.
    pub outputs: Vec<bool>,
}

/// What the supervisor said.
pub enum FromSupervisor {
    /// Nothing whole yet.
    Nothing,
    /// This.
    SupervisorEvent(SupervisorEvent),
    /// It is not there any more.
    Silence,
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
