//! The limits, the watcher and the result of a run.

use std::process::ExitStatus;
use std::time::Duration;

use crate::runner::harness::{AgentEvent, ExitInfo, Stream, Told};

#[derive(Clone, Copy, Debug)]
pub struct ProcessLimits {
    /// `None` for no limit.
    pub wall: Option<Duration>,
    /// Time without output, `None` for no limit; [`THINKING`] times as long while a model thinks.
    pub silence: Option<Duration>,
    /// Time to leave after the result.
    pub lingering: Duration,
    /// Time between asking and killing.
    pub grace: Duration,
}

/// How much longer a program may be silent while only its model works.
pub const THINKING: u32 = 3;

/// Why the runner ended a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Wall,
    Silence,
    /// A person or a signal asked.
    Asked,
    /// The program lingered after its result.
    Lingering,
}

/// A watcher's decision; a later one outweighs an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    GoOn,
    /// The program works, even if its result seemed to be there.
    AtWork,
    /// The result is there; the process may leave.
    Finished,
    /// Ask, then kill after the grace.
    End,
    Kill,
}

impl Control {
    pub fn of(event: &AgentEvent) -> Self {
        match event {
            AgentEvent::Finished => Self::Finished,
            AgentEvent::Said(_) | AgentEvent::Called { .. } => Self::AtWork,
            AgentEvent::Returned { .. } | AgentEvent::Trouble(_) => Self::GoOn,
        }
    }

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
    /// One line of output without its end; a line of more than 8 MiB is cut.
    fn line(&mut self, stream: Stream, line: &[u8]) -> Control;

    /// New bytes of output, also those of a line that will be cut. Called before their lines.
    fn printed(&mut self, _bytes: usize) -> Control {
        Control::GoOn
    }

    /// Takes what the program has to hear after the lines so far.
    fn tells(&mut self) -> Told {
        Told::default()
    }

    /// A message that asks the program to stop before a signal does; empty where only a signal works.
    fn cancels(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Only the model is at work: no tool call is open.
    fn is_thinking(&self) -> bool {
        false
    }

    /// Called at least five times a second.
    fn moment(&mut self) -> Control;
}

#[derive(Clone, Debug, Default)]
pub struct ProcessOutcome {
    pub left: ExitInfo,
    /// The system's status; `None` where the program was ended and the system does not tell.
    pub status: Option<ExitStatus>,
    /// `None` when the program left by itself.
    pub cut: Option<Cut>,
    /// Processes besides the program that had to be ended.
    pub survivors: usize,
    /// Trouble at the tree's end: its supervisor was killed, or something is alive.
    pub trouble: Option<String>,
    /// Output that is lost and not in the log, in words; a run continues without it.
    pub log_trouble: Option<String>,
    /// The end of the output, for which the disk had no room yet.
    pub log_rest: Vec<u8>,
}
