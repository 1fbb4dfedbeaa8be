//! Signals that ask a program to end, and the one that continues it.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts;

pub use consts::{SIGHUP, SIGINT, SIGTERM};

pub const ENDING: [i32; 4] = [consts::SIGINT, consts::SIGTERM, consts::SIGHUP, consts::SIGQUIT];

/// Sets the flag whenever anybody continues this process.
pub fn set_when_continued(flag: &Arc<AtomicBool>) -> io::Result<()> {
    signal_hook::flag::register(consts::SIGCONT, Arc::clone(flag)).map(|_| ())
}

/// A file that exceeds `ulimit -f` fails the write instead of ending this process. Children do not inherit that.
pub fn outlive_long_files() {
    // Without it, the signal ends the process as usual.
    let _ = signal_hook::flag::register(consts::SIGXFSZ, Arc::default());
}

/// Wakes at signals.
#[derive(Debug)]
pub struct Alarm {
    wake: UnixStream,
    waker: UnixStream,
}

impl Alarm {
    pub fn new() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        Ok(Self { wake, waker })
    }

    /// The signal sets these flags in their order, then wakes the alarm.
    pub fn set_by(&self, signal: i32, flags: [&Arc<AtomicBool>; 2]) -> io::Result<()> {
        // The woken thread has to find the flags set.
        for flag in flags {
            signal_hook::flag::register(signal, Arc::clone(flag))?;
        }
        signal_hook::low_level::pipe::register(signal, self.waker.try_clone()?)?;
        Ok(())
    }

    /// Waits for a signal, at most `length`.
    pub fn wait(&self, length: Duration) {
        let patience = Timespec::try_from(length).ok();
        let mut wanted = [PollFd::new(&self.wake, PollFlags::IN)];
        // The interruption is what this waits for.
        let _ = poll(&mut wanted, patience.as_ref());
        let mut bytes = [0; 64];
        let _ = (&self.wake).read(&mut bytes);
    }
}
