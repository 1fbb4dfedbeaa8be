//! Ticked tasks that count as open, and why.

use serde::Serialize;

/// Why the work of a task does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "UnprovedForm"))]
pub struct Unproved {
    /// The name of the reason.
    pub reason: UnprovedReason,
    /// The files that it is about, or the folder.
    pub files: Vec<String>,
}

/// The name of a reason why the work of a task does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnprovedReason {
    /// Nothing in the project has changed since the task before.
    NothingChanged,
    /// Nothing but files that are again as they were when the loop was armed.
    OnlyPutBack,
    /// All files that it names are as they were when the loop was armed.
    NamedFilesUnchanged,
    /// None of the files that it names is there, nor was when the loop was armed.
    NamedFilesMissing,
    /// It was done, and at most blanks or comments of it are left in its files.
    WorkGone,
    /// Files that nobody but a person may change have changed.
    ProtectedChanged,
    /// The project has grown to more files than can be looked at.
    TreeTooLarge,
}

impl Unproved {
    pub fn of(reason: UnprovedReason, files: &[String]) -> Self {
        Self { reason, files: files.to_vec() }
    }

    /// The reason concerns every task.
    pub fn holds_up_all(&self) -> bool {
        matches!(self.reason, UnprovedReason::ProtectedChanged | UnprovedReason::TreeTooLarge)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnprovedTask {
    pub id: String,
    pub why: Unproved,
}
