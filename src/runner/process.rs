//! One run of an agent program: its process tree, its output, its time limits, and its end.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::harness::{Launch, Left, Stream};

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

/// What the watcher of a run makes of a line or of the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Go on.
    GoOn,
    /// The result is there; the process may leave.
    Finished,
    /// End the process now.
    End,
}

/// Takes part in a run while it goes on.
pub trait Watcher {
    /// Takes in one line of output, without its end; a line that is too long comes cut.
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
    /// Processes of its tree that were still there when it had left, and were ended.
    pub survivors: usize,
}

/// Runs a program in `folder` to its end and returns how it ended; nothing of its tree is left alive.
///
/// All output goes to `log` as it comes. An error means that it could not be started. `keeper` is the
/// program that stands between the runner and the tree, so that nothing outlives a killed runner.
pub fn run(
    _keeper: &Path,
    _launch: &Launch,
    _folder: &Path,
    _limits: &Limits,
    _log: &mut File,
    _watcher: &mut dyn Watcher,
) -> io::Result<Ended> {
    Err(io::Error::other("not built yet"))
}
