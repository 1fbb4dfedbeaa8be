//! `spool log --iteration N --json`.

use serde::Serialize;

use super::iteration::IterationForm;
use super::plain::JsonNumber;

/// What happened in one iteration of `spool ralph`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoryForm {
    /// The change.
    pub change: String,
    /// The agent program; null where it is not known.
    pub harness: Option<String>,
    /// What it came to.
    pub iteration: IterationForm,
    /// The prompt; null where it was not kept.
    pub prompt: Option<String>,
    /// What the agent did, in order.
    pub steps: Vec<IterationStep>,
    /// How many steps are left out in the middle of these.
    pub steps_left_out: JsonNumber,
    /// Why there are no steps, in words; null where the log could be read.
    pub log_problem: Option<String>,
    /// The lines that differ in each file, as far as git can say it: what was committed, or kept of a try that was cut short.
    pub changed_lines: Vec<FileLines>,
    /// The commits, with the first line of their messages.
    pub messages: Vec<CommitMessage>,
}

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
    /// Returns what came of a call; one that was denied has failed as well.
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

/// A commit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommitMessage {
    /// The commit.
    pub commit: String,
    /// The first line of its message; null where git does not say it.
    pub message: Option<String>,
}
