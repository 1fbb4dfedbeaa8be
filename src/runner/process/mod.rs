//! One run of an agent program: its process tree, its output, its time limits, and its end.

mod keeper;
mod kept;
mod lines;
mod log;
mod orphaned;
mod run;
mod words;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::harness::{Launch, Left, Stream};

pub use keeper::keep_if_asked;
pub use orphaned::has_keeper;

/// How long a run may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Wall time, `None` for no limit.
    pub wall: Option<Duration>,
    /// Time without a byte of output, `None` for no limit.
    pub silence: Option<Duration>,
    /// Time to leave by itself once the result is there.
    pub lingering: Duration,
    /// Time between asking it to end and killing it.
    pub grace: Duration,
}

/// Why the runner ended a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Over its wall time.
    Wall,
    /// Silent for too long.
    Silence,
    /// A person or a signal asked for it.
    Asked,
    /// It lingered after its result.
    Lingering,
}

/// What the watcher of a run makes of a line or of the moment; a later one outweighs an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Watch {
    /// Go on.
    GoOn,
    /// It works, also when its result seemed to be there.
    AtWork,
    /// The result is there; the process may leave.
    Finished,
    /// End the process: ask first, then, after the grace, without asking.
    End,
    /// End the process without asking.
    Kill,
}

impl Watch {
    /// Returns what two answers come to, one after the other.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        match (self, next) {
            (_, Self::GoOn) => self,
            (Self::End | Self::Kill, _) => self.max(next),
            _ => next,
        }
    }
}

/// Takes part in a run while it goes on.
pub trait Watcher {
    /// Takes in one line of output, without its end; one of more than 8 MiB comes cut.
    fn line(&mut self, stream: Stream, line: &[u8]) -> Watch;

    /// Is asked at least five times a second.
    fn moment(&mut self) -> Watch;
}

/// How a run ended.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// How the process left.
    pub left: Left,
    /// Why the runner ended it, `None` when it left by itself.
    pub cut: Option<Cut>,
    /// Processes of its tree, besides itself, that had to be ended.
    pub survivors: usize,
    /// What a person should know of the end of the tree: somebody killed its keeper, something is alive.
    pub trouble: Option<String>,
    /// What kept output out of the log, such as a full disk; a run goes on without it.
    pub log_trouble: Option<String>,
}

/// Returns the path under which this program can be started again, also when its file was replaced or
/// deleted meanwhile, where the system allows that.
pub fn own_program() -> io::Result<PathBuf> {
    crate::exec::keeper::own_program()
        .ok_or_else(|| io::Error::other("the system does not tell where this program is"))
}

/// Runs a program in `folder` to its end and returns how it ended; nothing of its tree is left alive.
///
/// All output goes to `log` as it comes: the first 64 MiB, and of more than that the last MiB. An error
/// means that it could not be started. `keeper` is the program that stands between the runner and the
/// tree, so that nothing outlives a killed runner: [`own_program`], which calls [`keep_if_asked`].
///
/// Where orphans cannot be adopted (macOS), what left the process group *and* lost its parent before the
/// end is not found.
pub fn run(
    keeper: &Path,
    launch: &Launch,
    folder: &Path,
    limits: &Limits,
    log: &mut File,
    watcher: &mut dyn Watcher,
) -> io::Result<Ended> {
    run::run(keeper, launch, folder, limits, log, watcher)
}
