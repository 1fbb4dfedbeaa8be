//! Signals that ask a program to end: here Ctrl-C alone comes from outside.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use signal_hook::consts;

use crate::world;

pub use consts::{SIGINT, SIGTERM};

/// A terminal that closes: no such signal comes here.
pub const SIGHUP: i32 = 1;

/// The signals that ask a program to end.
pub const ENDING: [i32; 2] = [SIGINT, SIGTERM];

/// Does nothing: no file is too long here.
pub fn outlive_long_files() {}

/// The longest that a signal is not seen.
const LOOK: Duration = Duration::from_millis(50);

/// Does nothing: no terminal stops a process here.
#[expect(clippy::unnecessary_wraps, reason = "the other system may refuse")]
pub fn set_when_continued(_: &Arc<AtomicBool>) -> io::Result<()> {
    Ok(())
}

/// What signals wake: here it wakes by itself, again and again.
#[derive(Debug)]
pub struct Alarm;

impl Alarm {
    /// Returns one that no signal wakes yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Has a signal set these flags, in their order, as long as this process lives.
    pub fn set_by(&self, signal: i32, flags: [&Arc<AtomicBool>; 2]) -> io::Result<()> {
        for flag in flags {
            signal_hook::flag::register(signal, Arc::clone(flag))?;
        }
        Ok(())
    }

    /// Waits for this long, or until it is time to look whether a signal came.
    pub fn wait(&self, length: Duration) {
        world::pause(length.min(LOOK));
    }
}
