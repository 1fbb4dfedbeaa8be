//! The choices that a loop's options are made of, each a word out of a few.

pub use crate::forms::runner::DoneWhen;
use crate::runner::harness::Approval;

/// Whether tools may run without consent.
pub type Approve = Approval;

/// Whether a run goes on with what an earlier one has used, where that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// It does.
    Continued,
    /// All begins at 0.
    FromZero,
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
