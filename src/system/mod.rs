//! Where the systems differ: files, folders, names, standard input, processes, signals, terminals. Both rooms have the same
//! items: nothing above knows on which system it runs, but for `src/exec`, which runs programs, and `src/runner/process`.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A file, or a link to anything.
    File,
    /// Something else, such as a pipe.
    Other,
    /// The system does not say before it is asked for more.
    Unknown,
}
