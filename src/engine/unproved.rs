//! Ticked tasks that count as open, and why.

/// Why a ticked task counts as open. Every reason is certain, none is a guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproved {
    /// Nothing in the project has changed since the task before.
    NothingChanged,
    /// Only these files changed, and are again as they were when the loop was armed.
    OnlyPutBack(Vec<String>),
    /// All files that the task names are as they were when the loop was armed.
    NamedFilesUnchanged(Vec<String>),
    /// None of the files that the task names exists, nor did when the loop was armed.
    NamedFilesMissing(Vec<String>),
    /// The task was done, and these files lost all its work but blanks or comments.
    WorkGone(Vec<String>),
    /// Files that only a person may change have changed.
    ProtectedChanged(Vec<String>),
    /// Since arming the project has outgrown what can be looked at, mostly in this folder; empty where the folder is
    /// not known.
    TreeTooLarge(String),
}

impl Unproved {
    /// The reason concerns every task.
    pub fn holds_up_all(&self) -> bool {
        matches!(self, Self::ProtectedChanged(_) | Self::TreeTooLarge(_))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnprovedTask {
    pub id: String,
    pub why: Unproved,
}
