//! The choices among a loop's options, each one word out of a few.

pub use crate::forms::runner::DoneWhen;

/// Whether a run adds to the count of an earlier run that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    Continued,
    FromZero,
}

/// How much of the agent's output is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// Only the runner's own lines.
    Quiet,
    /// The agent's words and tools.
    #[default]
    Normal,
    Verbose,
}

/// The form of the screen's lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Words,
    /// One JSON object a line (`--json`).
    Json,
}
