//! The choices that a loop's options are made of, each a word out of a few.

use std::time::Duration;

pub use crate::forms::runner::DoneWhen;
use crate::runner::harness::Approval;

/// Whether tools may run without consent.
pub type Approve = Approval;

/// Whether each iteration continues with the session of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sessions {
    /// A fresh one each time.
    #[default]
    Fresh,
    /// The same one (`--continue-session`).
    Continued,
}

/// How long a usage limit is waited for, the shortest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitWait {
    /// Not at all: nobody asked for it.
    #[default]
    Never,
    /// Until it is lifted, when a person at the terminal confirms that.
    Confirmed,
    /// So long at most.
    AtMost(Duration),
    /// Until it is lifted.
    Always,
}

/// Whether a run goes on with what an earlier one has used, where that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// It does.
    Continued,
    /// All begins at 0.
    FromZero,
}

/// Whether the runner commits what an iteration changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Commits {
    /// The agent does, or nobody.
    #[default]
    Never,
    /// After each iteration, only files that it changed (`--commit`).
    EachIteration,
}

/// Whether the last iteration before a limit is asked to leave a handoff for the next loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Landing {
    /// It is.
    #[default]
    Asked,
    /// It is like any other (`--no-landing`).
    Off,
}

/// Whether the machine is kept awake while a loop runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StayAwake {
    /// It is, where the system has a way.
    #[default]
    Held,
    /// It may fall asleep (`--no-stay-awake`).
    Off,
}

/// What becomes of a loop that is done, but something speaks against it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doubted {
    /// It is reported.
    #[default]
    Told,
    /// It is reported, and the exit code is another one (`--strict`).
    Fails,
}

/// How much of the agent's output is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// Only the runner's own lines.
    Quiet,
    /// What the agent says, and which tools it uses.
    #[default]
    Normal,
    /// Everything.
    Verbose,
}

/// Whether the screen gets words or JSON lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Words.
    #[default]
    Words,
    /// One JSON object a line (`--json`).
    Json,
}
