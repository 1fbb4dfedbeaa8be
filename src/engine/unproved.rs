//! Ticked tasks that count as open, and why.

/// Why a ticked task counts as open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproved {
    /// Nothing but its box has changed.
    NothingChanged,
    /// It names these files, and none of them has changed in more than blanks and comments.
    NamedFilesUnchanged(Vec<String>),
    /// Files that nobody but a person may change have changed.
    ProtectedChanged(Vec<String>),
}

/// A ticked task that counts as open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnprovedTask {
    /// Its id.
    pub id: String,
    /// What it lacks.
    pub why: Unproved,
}
