//! Signals that ask a program to end, and the one that continues it.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts;

pub use consts::{SIGHUP, SIGINT, SIGTERM};

/// The signals that ask a program to end.
pub const ENDING: [i32; 4] = [consts::SIGINT, consts::SIGTERM, consts::SIGHUP, consts::SIGQUIT];

/// Has this flag set whenever this process is continued, by `fg` after Ctrl-Z or by anybody else, as long as it lives.
pub fn set_when_continued(flag: &Arc<AtomicBool>) -> io::Result<()> {
    signal_hook::flag::register(consts::SIGCONT, Arc::clone(flag)).map(|_| ())
}

/// Has a file that would be longer than `ulimit -f` allows end a write, and not this process. What this process starts does not
/// inherit that.
pub fn outlive_long_files() {
    // Where it cannot be had, the system does as it always did.
    let _ = signal_hook::flag::register(consts::SIGXFSZ, Arc::default());
}

/// What signals wake.
#[derive(Debug)]
pub struct Alarm {
    wake: UnixStream,
    waker: UnixStream,
}

impl Alarm {
    /// Returns one that no signal wakes yet.
    pub fn new() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        Ok(Self { wake, waker })
    }

    /// Has a signal set these flags, in their order, and then wake it, as long as this process lives.
    pub fn set_by(&self, signal: i32, flags: [&Arc<AtomicBool>; 2]) -> io::Result<()> {
        // The flags first: what is woken must find them.
        for flag in flags {
            signal_hook::flag::register(signal, Arc::clone(flag))?;
        }
        signal_hook::low_level::pipe::register(signal, self.waker.try_clone()?)?;
        Ok(())
    }

    /// Waits for this long, or until a signal comes.
    pub fn wait(&self, length: Duration) {
        let patience = Timespec::try_from(length).ok();
        let mut wanted = [PollFd::new(&self.wake, PollFlags::IN)];
        // Being interrupted is what is waited for.
        let _ = poll(&mut wanted, patience.as_ref());
        let mut bytes = [0; 64];
        let _ = (&self.wake).read(&mut bytes);
    }
}
