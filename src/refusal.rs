//! Why a request is refused, for the person or the agent that made it.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The text says what is wrong, and on its own line what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The input is not understood: what is wrong, and how to write the command.
    Usage(String, &'static str),
    /// No loop here is meant: why.
    NoLoop(String),
    /// The file, and why it cannot be read.
    Unreadable(PathBuf, String),
    /// The file, and why it cannot be written.
    Unwritable(PathBuf, String),
    /// A loop's notes cannot be read or written: which file, and why.
    Notes(String),
    /// A loop cannot be ended, because its notes cannot be written: which file, and why.
    NotEnded(String),
    /// There is no work for a loop: why, and what to do next.
    Nothing(Cow<'static, str>, Cow<'static, str>),
    /// A loop stays where it is: why, and how a person takes it all the same.
    Kept(Cow<'static, str>, Cow<'static, str>),
    /// What is wrong, and what to do next.
    Other(Cow<'static, str>, Cow<'static, str>),
    /// In the words of another room.
    Worded(String),
}

impl Refusal {
    /// A refusal of no special kind.
    pub fn new(what: impl Into<Cow<'static, str>>, next: impl Into<Cow<'static, str>>) -> Self {
        Self::Other(what.into(), next.into())
    }

    /// There is no work for a loop.
    pub fn nothing(what: impl Into<Cow<'static, str>>, next: impl Into<Cow<'static, str>>) -> Self {
        Self::Nothing(what.into(), next.into())
    }

    /// Without what only a person may do.
    pub fn for_agent(self) -> Self {
        let Self::Kept(what, _) = self else { return self };
        Self::new(what, "only a person takes it over all the same")
    }

    pub fn unwritable(path: &Path, error: &io::Error) -> Self {
        Self::Unwritable(path.to_owned(), error.to_string())
    }
}

/// An error in the rooms of a loop is one about its notes.
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
            Self::Nothing(what, next) | Self::Kept(what, next) | Self::Other(what, next) => {
                write!(out, "{what}\n{next}")
            }
            Self::Worded(text) => out.write_str(text),
        }
    }
}

impl std::error::Error for Refusal {}
