//! A started supervisor, the pipes to it and its program, and the messages over its socket: a length, then so much JSON.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::exec::partner::supervisor_name;
use crate::exec::pipes::Pipes;
use crate::exec::{Outputs, Source};
use crate::runner::harness::{Launch, Told};
use crate::world::Deadline;

/// Makes this program a supervisor; the agent program never sees it.
pub const SUPERVISOR: &str = "RALPH_RUNNER_SUPERVISOR";
/// How long a supervisor may take to be ready.
const READY: Duration = Duration::from_secs(20);
/// Ctrl-C may hit a supervisor before it has left the terminal; so often it is started again.
const STARTS: usize = 3;
/// In bytes; no system takes as many as arguments.
const LONGEST: u32 = 256 << 20;

pub struct SupervisorHandle {
    /// The supervisor itself.
    pub child: Child,
    runner_end: UnixStream,
    pipes: Pipes,
}

/// A supervisor's order, before any [`SupervisorCommand`]. The folder is no `PathBuf`, since its bytes may be no text.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupervisorOrder {
    pub launch: Launch,
    pub folder: OsString,
    /// Time between asking and killing.
    pub grace: Duration,
}

/// The runner's later messages.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SupervisorCommand {
    /// Ask the tree to end, then kill it.
    End,
    /// Kill the tree.
    Kill,
    /// Write to the program's standard input.
    Tell(Told),
}

/// The supervisor's messages.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SupervisorEvent {
    /// The supervisor has left the terminal and waits for its order.
    Ready,
    /// The program's process id.
    Started(i32),
    /// The error number of a failed start.
    NotStarted(i32),
    /// The program's exit status, as the system encodes it.
    Left(i32),
    /// Nothing of the tree is left; so many processes besides the program had to be ended.
    Over(usize),
}

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
        if told != Told::default() {
            self.ask(&SupervisorCommand::Tell(told));
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

pub fn say(other: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    other.write_all(&bytes)
}

/// An error for the other side's end, and for anything but a message.
pub fn hear<T: DeserializeOwned>(other: &mut dyn Read) -> io::Result<T> {
    let mut length = [0; 4];
    other.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length as usize];
    other.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;
    use crate::runner::harness::{Ending, Input};

    fn order() -> SupervisorOrder {
        let launch = Launch {
            program: OsString::from_vec(vec![b'/', 0xfe]),
            arguments: vec!["-p".into(), OsString::from_vec(vec![b'a', 0xff, b'\n'])],
            set: vec![("NAME".into(), "value".into())],
            unset: vec!["CLAUDECODE".into()],
            input: Input::Text(b"do it\0\xff".to_vec()),
            ending: Ending::Interrupt,
            ..Launch::default()
        };
        let grace = Duration::from_millis(2500);
        SupervisorOrder { launch, folder: "/a folder".into(), grace }
    }

    fn said(message: &impl Serialize) -> Vec<u8> {
        let mut bytes = Vec::new();
        say(&mut bytes, message).unwrap();
        bytes
    }

    #[test]
    fn an_order_arrives_whatever_its_bytes() {
        let order = order();
        assert_eq!(hear::<SupervisorOrder>(&mut &said(&order)[..]).unwrap(), order);
        assert_eq!(order.launch.arguments[1].len(), 3);
    }

    #[test]
    fn broken_order_is_an_error() {
        let bytes = said(&order());
        for length in 0..bytes.len() {
            assert!(hear::<SupervisorOrder>(&mut &bytes[..length]).is_err(), "{length}");
        }
        let too_long = [&u32::MAX.to_be_bytes()[..], b"{}"].concat();
        assert!(hear::<SupervisorOrder>(&mut &too_long[..]).is_err());
    }

    #[test]
    fn events_arrive_one_by_one() {
        let events = [
            SupervisorEvent::Ready,
            SupervisorEvent::Started(4711),
            SupervisorEvent::NotStarted(2),
            SupervisorEvent::Left(137 << 8),
            SupervisorEvent::Over(3),
        ];
        let bytes: Vec<u8> = events.iter().flat_map(said).collect();
        let mut source = &bytes[..];
        for event in events {
            assert_eq!(hear::<SupervisorEvent>(&mut source).unwrap(), event);
        }
        for command in [
            SupervisorCommand::End,
            SupervisorCommand::Kill,
            SupervisorCommand::Tell(Told { text: b"{}\n\xff".to_vec(), closes: true }),
        ] {
            assert_eq!(hear::<SupervisorCommand>(&mut &said(&command)[..]).unwrap(), command);
        }
    }
}
