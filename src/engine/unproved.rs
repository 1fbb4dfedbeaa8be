//! Ticked tasks that count as open, and why.

/// Why a ticked task counts as open. Each is certain: nothing here is a guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproved {
    /// Nothing in the project has changed since the task before.
    NothingChanged,
    /// Nothing but these files, which are again as they were when the loop was armed.
    OnlyPutBack(Vec<String>),
    /// All files that it names are as they were when the loop was armed.
    NamedFilesUnchanged(Vec<String>),
    /// None of the files that it names is there, nor was when the loop was armed.
    NamedFilesMissing(Vec<String>),
    /// It was done, and at most blanks or comments of it are left in these files.
    WorkGone(Vec<String>),
    /// Files that nobody but a person may change have changed.
    ProtectedChanged(Vec<String>),
    /// The project has grown to more than can be looked at since the loop was armed, most of it in this folder; empty where
    /// that is not known.
    TreeTooLarge(String),
}

impl Unproved {
    /// Returns whether it holds up every task, whatever was done for one.
    pub fn holds_up_all(&self) -> bool {
        matches!(self, Self::ProtectedChanged(_) | Self::TreeTooLarge(_))
    }
}

/// A ticked task that counts as open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnprovedTask {
    /// Its id.
    pub id: String,
    /// What it lacks.
    pub why: Unproved,
}
