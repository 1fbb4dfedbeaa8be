//! Signals that ask a program to end: only Ctrl-C comes from outside here.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use signal_hook::consts;

use crate::world;

pub use consts::{SIGINT, SIGTERM};

/// No terminal sends this signal here.
pub const SIGHUP: i32 = 1;

pub const ENDING: [i32; 2] = [SIGINT, SIGTERM];

/// No file is too long here.
pub fn outlive_long_files() {}

/// How soon a signal is seen.
const LOOK: Duration = Duration::from_millis(50);

/// No terminal stops a process here.
#[expect(clippy::unnecessary_wraps, reason = "the other system may refuse")]
pub fn set_when_continued(_: &Arc<AtomicBool>) -> io::Result<()> {
    Ok(())
}

/// Wakes by itself, again and again.
#[derive(Debug)]
pub struct Alarm;

impl Alarm {
    pub fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// The signal sets these flags in their order.
    pub fn set_by(&self, signal: i32, flags: [&Arc<AtomicBool>; 2]) -> io::Result<()> {
        for flag in flags {
            signal_hook::flag::register(signal, Arc::clone(flag))?;
        }
        Ok(())
    }

    /// Waits until the next look at the signals, at most `length`.
    pub fn wait(&self, length: Duration) {
        world::pause(length.min(LOOK));
    }
}
