//! The terminal: how large it is, and giving it back as it was.

use std::io::{self, stdin};
use std::thread::JoinHandle;

use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::SIGINT;
use signal_hook::iterator::{Handle, Signals};

/// Something that may be a terminal: standard output, standard error.
pub use std::os::fd::AsFd as AsTerminal;

/// Returns the columns and rows of a terminal, `None` where it is none.
pub fn size(stream: impl AsTerminal) -> Option<(usize, usize)> {
    let size = tcgetwinsize(stream).ok()?;
    Some((usize::from(size.ws_col), usize::from(size.ws_row)))
}

/// Gives the terminal back as it was when Ctrl-C comes as a signal, as long as it is watched.
pub struct InterruptWatch {
    handle: Handle,
    watcher: JoinHandle<()>,
}

impl InterruptWatch {
    /// Returns a watch that begins now: an interrupt gives the terminal on standard input back as it is, then does this.
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

    /// Ends the watch: afterwards the signal belongs to others.
    pub fn end(self) {
        self.handle.close();
        let _ = self.watcher.join();
    }
}
