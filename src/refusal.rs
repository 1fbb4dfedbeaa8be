//! Why something that was asked for is not done, for the person or the agent that asked.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why nothing was done. Its text is what is wrong, and what to do next on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// What was typed is not understood: what is wrong, and how the command is written.
    Usage(String, &'static str),
    /// No loop here is the one that is meant: why.
    NoLoop(String),
    /// A file that cannot be read: where it is, and why.
    Unreadable(PathBuf, String),
    /// A file that cannot be written: where it is, and why.
    Unwritable(PathBuf, String),
    /// The notes of a loop cannot be read or written: which file, and why.
    Notes(String),
    /// A loop cannot be ended, because its notes cannot be written: which file, and why.
    NotEnded(String),
    /// There is no work for a loop: why, and what to do next.
    Nothing(Cow<'static, str>, Cow<'static, str>),
    /// Anything else: what is wrong, and what to do next.
    Other(Cow<'static, str>, Cow<'static, str>),
    /// The same, as another room has worded it.
    Worded(String),
}

impl Refusal {
    /// A refusal of no kind of its own: what is wrong, and what to do next.
    pub fn new(what: impl Into<Cow<'static, str>>, next: impl Into<Cow<'static, str>>) -> Self {
        Self::Other(what.into(), next.into())
    }

    /// The refusal where there is no work for a loop: why, and what to do next.
    pub fn nothing(what: impl Into<Cow<'static, str>>, next: impl Into<Cow<'static, str>>) -> Self {
        Self::Nothing(what.into(), next.into())
    }

    /// The refusal for a file that cannot be written.
    pub fn unwritable(path: &Path, error: &io::Error) -> Self {
        Self::Unwritable(path.to_owned(), error.to_string())
    }
}

/// What fails in the rooms of a loop fails at its notes.
impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Notes(error.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what, usage) => write!(out, "{what}\n{usage}"),
            Self::NoLoop(what) => {
                write!(out, "{what}\n`spool status` lists the loops of this project")
            }
            Self::Unreadable(path, why) => {
                let path = path.display();
                write!(out, "`{path}` cannot be read: {why}\nmake it readable, then try again")
            }
            Self::Unwritable(path, why) => {
                let path = path.display();
                write!(out, "`{path}` cannot be written: {why}\nmake it writable, then try again")
            }
            Self::Notes(why) => write!(
                out,
                "the loop's notes cannot be written: {why}\nmake that writable, then try again"
            ),
            Self::NotEnded(why) => write!(
                out,
                "the loop cannot be ended: its notes cannot be written: {why}\nmake that writable and cancel again, or set `enabled: false` in `.claude/ralph-speckit.local.md`"
            ),
            Self::Nothing(what, next) | Self::Other(what, next) => write!(out, "{what}\n{next}"),
            Self::Worded(text) => out.write_str(text),
        }
    }
}

impl std::error::Error for Refusal {}
