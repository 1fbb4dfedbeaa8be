//! A program that runs beside this process, for as long as this process lives.
//!
//! Whatever descends from this process belongs to the program of the moment and ends with it. So a helper starts a
//! supervisor and leaves, and the supervisor gets another parent. Only a pipe connects the two. The system closes it when
//! this process ends for any reason.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, PipeWriter, Read};
use std::process::{Child, Command};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::family;
use super::supervisor::{self, KEEP};
use crate::world::Deadline;

/// Makes this program start a supervisor of the program that follows, and leave.
pub const BESIDE: &str = "run-beside-the-following";
/// How long the supervisor may take to end the program.
const ENDING: Duration = Duration::from_secs(5);
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
    /// Starts a program in the folder `/`; `None` where this process cannot have one. Standard input is
    /// empty.
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
        let status = family::apart(|| start(&mut helper)?.wait())?;
        if !status.success() {
            return Err(io::Error::other(format!("its supervisor cannot be started: {status}")));
        }
        Ok(Some(Self { lifeline: Some(lifeline), said, words: Vec::new(), has_left: false }))
    }

    /// The output so far, at most 4 KiB.
    pub fn words(&mut self) -> &[u8] {
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
    /// Waits until the program has left, or its supervisor has had the time to kill it.
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let deadline = Deadline::after(ENDING);
        while !self.has_left() && !deadline.is_over() {
            self.wait(deadline.left());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the room for it")]
fn start(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Starts a supervisor and gives the exit code of the helper that did.
pub fn start_supervisor(program: &OsStr, arguments: impl Iterator<Item = OsString>) -> i32 {
    let Some(mut supervisor) = supervisor::own(KEEP) else { return 1 };
    i32::from(start(supervisor.arg(program).args(arguments)).is_err())
}
