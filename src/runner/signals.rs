//! Signals that ask the runner to end: the first one politely, a second Ctrl-C at once.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::store::read;
use crate::system::signals::{Alarm, ENDING, SIGHUP, SIGINT, set_when_continued};
use crate::world::{self, Deadline};

/// The signals since [`Signals::listen`].
#[derive(Debug)]
pub struct Signals {
    came: Vec<(i32, Arc<AtomicBool>)>,
    alarm: Alarm,
    first: Cell<Option<i32>>,
    again: Cell<bool>,
    any: Arc<AtomicBool>,
}

impl Signals {
    /// Listens as long as this process lives: SIGINT, SIGTERM, SIGQUIT, and SIGHUP unless it was ignored, as under
    /// `nohup`. From now on, no limit counts a time in which this process is stopped or the machine sleeps.
    pub fn listen() -> io::Result<Self> {
        set_when_continued(&world::notice_standstills())?;
        let alarm = Alarm::new()?;
        let (mut came, any) = (Vec::new(), Arc::new(AtomicBool::new(false)));
        for signal in ENDING {
            if signal == SIGHUP && is_ignored(signal) {
                continue;
            }
            let flag = Arc::new(AtomicBool::new(false));
            alarm.set_by(signal, [&flag, &any])?;
            came.push((signal, flag));
        }
        Ok(Self { came, alarm, first: Cell::new(None), again: Cell::new(false), any })
    }

    /// The first signal.
    pub fn asked(&self) -> Option<i32> {
        for (signal, flag) in &self.came {
            if !flag.swap(false, Ordering::Relaxed) {
                continue;
            }
            match self.first.get() {
                None => self.first.set(Some(*signal)),
                // A closing terminal may send its signal twice; Ctrl-C twice is a person in a hurry.
                Some(_) if *signal == SIGINT => self.again.set(true),
                Some(_) => {}
            }
        }
        self.first.get()
    }

    /// Turns true at any signal, and stays so.
    pub fn any(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.any)
    }

    /// Ctrl-C came after another request: end at once.
    pub fn hurry(&self) -> bool {
        self.asked();
        self.again.get()
    }

    /// Waits for a signal, at most `length`.
    pub fn wait(&self, length: Duration) -> Option<i32> {
        let deadline = Deadline::after(length);
        loop {
            let asked = self.asked();
            if asked.is_some() || deadline.is_over() {
                return asked;
            }
            self.alarm.wait(deadline.left());
        }
    }
}

/// This process ignores the signal, as far as the system says.
fn is_ignored(signal: i32) -> bool {
    let Ok(status) = read::read(Path::new("/proc/self/status"), 64 << 10) else { return false };
    let status = String::from_utf8_lossy(&status.bytes);
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
