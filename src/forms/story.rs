//! `spool log --iteration N --json`.

use serde::Serialize;

use super::plain::JsonNumber;

/// Something that an agent did.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IterationStep {
    /// What kind of step it is.
    pub kind: StepWord,
    /// The tool; null for what is no call.
    pub tool: Option<String>,
    /// What came of the call; null for what is no call, and where the agent program did not say.
    pub outcome: Option<CallOutcome>,
    /// What was said, what the tool was used with, or what went wrong.
    pub words: String,
}

/// What kind of step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepWord {
    /// The agent said something.
    Said,
    /// It used a tool.
    Called,
    /// Something went wrong that did not end the run.
    Trouble,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OutcomeWord"))]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It did what it was to do.
    Done,
    /// It failed.
    Failed,
    /// It was denied.
    Denied,
}

impl CallOutcome {
    /// A denied call has failed as well.
    pub fn of(denied: bool, failed: bool) -> Self {
        match (denied, failed) {
            (true, _) => Self::Denied,
            (false, true) => Self::Failed,
            (false, false) => Self::Done,
        }
    }
}

/// How many lines differ in a file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileLines {
    /// The file.
    pub file: String,
    /// Lines that were added; null for a file that is no text.
    pub added: Option<JsonNumber>,
    /// Lines that were removed; null for a file that is no text.
    pub removed: Option<JsonNumber>,
}

impl FileLines {
    /// A file whose lines are unknown.
    pub fn unknown(file: &str) -> Self {
        Self { file: file.to_owned(), added: None, removed: None }
    }
}

/// A commit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommitMessage {
    /// The commit.
    pub commit: String,
    /// The first line of its message; null where git does not say it.
    pub message: Option<String>,
}
