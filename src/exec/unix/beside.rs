//! A program that runs beside this process, for as long as this process lives.
//!
//! Whatever descends from this process belongs to the program of the moment and ends with it. So a helper starts a
//! keeper and leaves, and the keeper gets another parent. Only a pipe connects the two. The system closes it when this
//! process ends for any reason.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use super::family::{self, Family};
use super::supervisor;
use crate::world::{self, Deadline};

/// Makes this program start a keeper of the program that follows, and leave.
pub const BESIDE: &str = "run-beside-the-following";
/// Makes this program the keeper of the program that follows.
pub const KEEP: &str = "keep-beside-the-following";
/// The limit for starting a keeper.
const STARTING: Duration = Duration::from_secs(5);
/// The grace of the program beside.
const LEAVING: Duration = Duration::from_secs(1);
/// How often a keeper looks whether its program has left.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two looks at a program that was asked to end.
const ROUND: Duration = Duration::from_millis(5);
/// The most output that is kept, in bytes.
const WORDS: usize = 4 << 10;
/// The first process of a system or a container: every orphan's parent.
const FIRST: u32 = 1;

/// A program beside this process. Dropping it ends the program.
#[derive(Debug)]
pub struct Companion {
    lifeline: Option<PipeWriter>,
    said: PipeReader,
    words: Vec<u8>,
    has_left: bool,
}

impl Companion {
    /// Starts a program in the folder `/`; `None` where this process cannot have one. Standard input is a pipe without
    /// content, which closes when this process has gone.
    pub fn start(program: &OsStr, arguments: &[&OsStr]) -> io::Result<Option<Self>> {
        if std::process::id() == FIRST {
            return Ok(None);
        }
        let Some(mut helper) = supervisor::own(BESIDE) else { return Ok(None) };
        let (watched, lifeline) = io::pipe()?;
        let (said, voice) = io::pipe()?;
        rustix::io::ioctl_fionbio(&said, true)?;
        // A relative folder of the `PATH` leads nowhere there.
        helper.arg(program).args(arguments).current_dir("/").stdin(watched);
        helper.stdout(voice.try_clone()?).stderr(voice);
        let status = family::apart(|| end_within(&mut start(&mut helper)?, STARTING))?;
        if !status.success() {
            return Err(io::Error::other(format!("its keeper cannot be started: {status}")));
        }
        Ok(Some(Self { lifeline: Some(lifeline), said, words: Vec::new(), has_left: false }))
    }

    /// The output so far, at most 4 KiB. Waits for some output or the program's end, at most `patience`.
    pub fn words(&mut self, patience: Duration) -> &[u8] {
        if self.words.is_empty() {
            self.wait(patience);
        }
        self.listen();
        &self.words
    }

    pub fn has_left(&mut self) -> bool {
        self.listen();
        self.has_left
    }

    /// Waits for more output or the program's end, at most `patience`.
    pub fn wait(&self, patience: Duration) {
        let patience = Timespec::try_from(patience).ok();
        let _ = poll(&mut [PollFd::new(&self.said, PollFlags::IN)], patience.as_ref());
    }

    fn listen(&mut self) {
        let mut piece = [0; 1 << 10];
        while !self.has_left {
            match self.said.read(&mut piece) {
                Ok(0) => self.has_left = true,
                Ok(count) => {
                    let room = WORDS.saturating_sub(self.words.len()).min(count);
                    self.words.extend_from_slice(&piece[..room]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

impl Drop for Companion {
    /// Waits until the program has left, or its keeper has had the time to kill it.
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let deadline = Deadline::after(2 * LEAVING);
        while !self.has_left() && !deadline.is_over() {
            self.wait(deadline.left());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the room for it")]
fn start(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Kills a process that takes longer, which is an error.
fn end_within(child: &mut Child, limit: Duration) -> io::Result<ExitStatus> {
    let deadline = Deadline::after(limit);
    while !deadline.is_over() {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        world::pause(ROUND);
    }
    child.kill()?;
    let deadline = Deadline::after(LEAVING);
    while child.try_wait()?.is_none() && !deadline.is_over() {
        world::pause(ROUND);
    }
    let words = format!("its keeper did not start within {} s", limit.as_secs());
    Err(io::Error::new(io::ErrorKind::TimedOut, words))
}

/// Starts a keeper and gives the exit code of the helper that did.
pub fn start_keeper(program: &OsStr, arguments: impl Iterator<Item = OsString>) -> i32 {
    let Some(mut keeper) = supervisor::own(KEEP) else { return 1 };
    i32::from(start(keeper.arg(program).args(arguments)).is_err())
}

/// Runs a program until standard input closes or the program leaves. Returns the keeper's exit code.
pub fn keep(program: &OsStr, arguments: impl Iterator<Item = OsString>) -> i32 {
    // A session of its own keeps the keeper out of the caller's process group and terminal.
    let _ = rustix::process::setsid();
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    let mut family = Family::of(&mut command);
    let mut child = match start(&mut command) {
        Ok(child) => child,
        Err(error) => {
            let _ = io::Write::write_fmt(
                &mut io::stderr(),
                format_args!("it cannot be started: {error}\n"),
            );
            return 1;
        }
    };
    family.leader = Pid::from_raw(i32::try_from(child.id()).unwrap_or(0));
    // The program alone keeps the outputs open: its end closes them.
    if let Ok(null) = std::fs::File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    let stdin = io::stdin();
    while !is_closed(&stdin, LOOK) {
        if !matches!(child.try_wait(), Ok(None)) {
            family.end();
            return 0;
        }
    }
    family.ask();
    let deadline = Deadline::after(LEAVING);
    while matches!(child.try_wait(), Ok(None)) && !deadline.is_over() {
        world::pause(ROUND);
    }
    family.kill();
    let _ = child.wait();
    family.end();
    0
}

/// Waits for the other end to close. Nothing is ever written to it.
pub fn is_closed(stdin: &io::Stdin, patience: Duration) -> bool {
    let patience = Timespec::try_from(patience).ok();
    let mut wanted = [PollFd::new(stdin, PollFlags::IN)];
    poll(&mut wanted, patience.as_ref()).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_helper_is_killed() {
        let mut child = start(Command::new("sleep").arg("600")).unwrap();
        let error = end_within(&mut child, Duration::from_secs(1)).unwrap_err();
        assert_eq!(error.to_string(), "its keeper did not start within 1 s");
        assert!(child.try_wait().unwrap().is_some(), "it lives on");
        let mut child = start(&mut Command::new("false")).unwrap();
        assert_eq!(end_within(&mut child, Duration::from_mins(1)).unwrap().code(), Some(1));
    }
}
