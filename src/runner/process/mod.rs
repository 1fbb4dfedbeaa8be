//! One run of an agent program: its process tree, its output, its time limits, and its end.

mod handle;
mod lines;
mod log;
mod orphaned;
mod protocol;
mod run;
mod supervisor;
mod watch;

use std::io;
use std::path::PathBuf;

pub use orphaned::has_supervisor;
pub use run::run;
pub use supervisor::supervise_if_asked;
pub use watch::{Control, Cut, ProcessLimits, ProcessOutcome, Watcher};

/// Returns the path under which this program can be started again, also when its file was replaced or
/// deleted meanwhile, where the system allows that.
pub fn own_program() -> io::Result<PathBuf> {
    crate::exec::supervisor::own_program()
        .ok_or_else(|| io::Error::other("the system does not say where this program is"))
}
