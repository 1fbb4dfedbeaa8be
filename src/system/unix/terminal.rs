//! The terminal's size, and its state after Ctrl-C.

use std::io::{self, stdin};
use std::thread::JoinHandle;

use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::SIGINT;
use signal_hook::iterator::{Handle, Signals};

/// A stream that may be a terminal.
pub use std::os::fd::AsFd as AsTerminal;

/// Columns and rows; `None` where the stream is no terminal.
pub fn size(stream: impl AsTerminal) -> Option<(usize, usize)> {
    let size = tcgetwinsize(stream).ok()?;
    Some((usize::from(size.ws_col), usize::from(size.ws_row)))
}

/// Restores the terminal when Ctrl-C comes as a signal.
pub struct InterruptWatch {
    handle: Handle,
    watcher: JoinHandle<()>,
}

impl InterruptWatch {
    /// At an interrupt, restores the terminal of standard input and calls `then`.
    pub fn begin(then: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let before = tcgetattr(stdin()).ok();
        let mut signals = Signals::new([SIGINT])?;
        let handle = signals.handle();
        let watcher = std::thread::Builder::new().spawn(move || {
            if signals.forever().next().is_some() {
                if let Some(before) = before {
                    let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
                }
                then();
            }
        })?;
        Ok(Self { handle, watcher })
    }

    /// Leaves the signal to others.
    pub fn end(self) {
        self.handle.close();
        let _ = self.watcher.join();
    }
}
