//! One run of an agent program: its process tree, its output, its time limits, and its end.
//!
//! Its supervisor is another one than that of `exec`, for two reasons. `ralph-hook` links that one, which knows nothing but its
//! arguments and the end of its standard input. This one is spoken to: it hands on what the program is told, stops the tree with
//! the runner, counts what it had to end, and has a name by which hooks and the next runner know whose tree they are in. All else
//! is of `exec`: the pipes, the input, the tree and its end.

#[cfg(unix)]
mod handle;
#[cfg(unix)]
mod hold;
mod lines;
mod log;
#[cfg(unix)]
mod protocol;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod supervisor;
mod watch;
mod watched;
#[cfg(windows)]
mod windows;

use std::io;
use std::path::PathBuf;

pub use lines::LineSplitter;
pub use log::write_some;
#[cfg(unix)]
pub use run::{run, shell};
#[cfg(unix)]
pub use supervisor::{has_supervisor, supervise_if_asked};
pub use watch::{Control, Cut, ProcessLimits, ProcessOutcome, THINKING, Watcher};
#[cfg(windows)]
pub use windows::{has_supervisor, run, shell, supervise_if_asked};

/// Returns the path under which this program can be started again, also when its file was replaced or
/// deleted meanwhile, where the system allows that.
pub fn own_program() -> io::Result<PathBuf> {
    crate::exec::own_program()
        .ok_or_else(|| io::Error::other("the system does not say where this program is"))
}
