//! One run of an agent program: its process tree, output, limits and end.
//!
//! This supervisor differs from the one in `exec` for two reasons. `ralph-hook` links that one, which knows only its
//! arguments and the end of its standard input. This one hears messages: it passes text to the program, stops the tree
//! with the runner, and counts what it had to end. And it has a name by which hooks and the next runner recognise it.
//! Pipes, input, tree and end come from `exec`.

#[cfg(unix)]
mod handle;
mod lines;
mod log;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod supervisor;
mod watched;
#[cfg(windows)]
mod windows;

use std::io;
use std::path::PathBuf;

pub use lines::LineSplitter;
#[cfg(unix)]
pub use run::{run, shell};
#[cfg(unix)]
pub use supervisor::{has_supervisor, supervise_if_asked};
pub use watched::{Control, Cut, ProcessLimits, ProcessOutcome, THINKING, Watcher};
#[cfg(windows)]
pub use windows::{has_supervisor, run, shell, supervise_if_asked};

/// A path that starts this program again, even after its file was replaced or deleted, where the system allows that.
pub fn own_program() -> io::Result<PathBuf> {
    crate::exec::own_program()
        .ok_or_else(|| io::Error::other("the system does not say where this program is"))
}
