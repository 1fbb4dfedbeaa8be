//! One run of an agent program: its process tree, its output, its time limits, and its end.

#[cfg(unix)]
mod handle;
#[cfg(unix)]
mod hold;
mod limits;
mod lines;
mod log;
#[cfg(unix)]
mod orphaned;
#[cfg(unix)]
mod protocol;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod supervisor;
mod watch;
#[cfg(windows)]
mod windows;

use std::io;
use std::path::{Path, PathBuf};

pub use lines::LineSplitter;
pub use log::write_some;
#[cfg(unix)]
pub use orphaned::has_supervisor;
#[cfg(unix)]
pub use run::{run, shell};
#[cfg(unix)]
pub use supervisor::supervise_if_asked;
pub use watch::{Control, Cut, ProcessLimits, ProcessOutcome, THINKING, Watcher};
#[cfg(windows)]
pub use windows::{has_supervisor, run, shell, supervise_if_asked};

use super::harness::Launch;

/// The folder of a run: its own, or the one that is given; an error where it is not there.
fn folder_of<'a>(launch: &'a Launch, given: &'a Path) -> io::Result<&'a Path> {
    let folder = launch.folder.as_deref().unwrap_or(given);
    let words = || format!("the folder `{}` is not there", folder.display());
    let missing = || io::Error::new(io::ErrorKind::NotADirectory, words());
    folder.is_dir().then_some(folder).ok_or_else(missing)
}

/// Returns the path under which this program can be started again, also when its file was replaced or
/// deleted meanwhile, where the system allows that.
pub fn own_program() -> io::Result<PathBuf> {
    crate::exec::own_program()
        .ok_or_else(|| io::Error::other("the system does not say where this program is"))
}
