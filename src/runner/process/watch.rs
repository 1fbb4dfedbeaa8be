//! What limits a run, what is made of its output, and how it ended.

use std::process::ExitStatus;
use std::time::Duration;

use crate::runner::harness::{ExitInfo, Stream, Told};

/// How long a run may take.
#[derive(Clone, Copy, Debug)]
pub struct ProcessLimits {
    /// Wall time, `None` for no limit.
    pub wall: Option<Duration>,
    /// Time without a byte of output, `None` for no limit; [`THINKING`] times as long while a model thinks.
    pub silence: Option<Duration>,
    /// Time to leave by itself once the result is there.
    pub lingering: Duration,
    /// Time between asking it to end and killing it.
    pub grace: Duration,
}

/// How many times as long a program may be silent while nothing but its model is at work.
pub const THINKING: u32 = 3;

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
pub enum Control {
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

impl Control {
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

/// Takes part in a run.
pub trait Watcher {
    /// Takes in one line of output, without its end; one of more than 8 MiB comes cut.
    fn line(&mut self, stream: Stream, line: &[u8]) -> Control;

    /// Is told how many bytes of output have come, also those of a line that comes cut, before the lines in them.
    fn printed(&mut self, _bytes: usize) -> Control {
        Control::GoOn
    }

    /// Returns what the program is to be told after the lines so far, and forgets it.
    fn tells(&mut self) -> Told {
        Told::default()
    }

    /// Returns what the program is told before it is asked to end; empty where it is asked by a signal alone.
    fn cancels(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Returns whether the lines so far show that nothing but the model is at work: no tool call is open.
    fn is_thinking(&self) -> bool {
        false
    }

    /// Is asked at least five times a second.
    fn moment(&mut self) -> Control;
}

/// How a run ended.
#[derive(Clone, Debug, Default)]
pub struct ProcessOutcome {
    /// How the process left.
    pub left: ExitInfo,
    /// The same as the system has it, `None` where it did not leave by itself and the system does not say.
    pub status: Option<ExitStatus>,
    /// Why the runner ended it, `None` when it left by itself.
    pub cut: Option<Cut>,
    /// Processes of its tree, besides itself, that had to be ended.
    pub survivors: usize,
    /// What a person should know of the end of the tree: someone killed its supervisor, something is alive.
    pub trouble: Option<String>,
    /// What of the output is not in the log and lost, in words; a run continues without it.
    pub log_trouble: Option<String>,
    /// The end of the output that is not in the log yet, because the disk was full.
    pub log_rest: Vec<u8>,
}
