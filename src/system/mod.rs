//! Where the systems differ. Both rooms have the same items, so nothing above knows its system, except `src/exec`,
//! which runs programs, and `src/runner/process`.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Folder,
    /// A file, or a link to anything.
    File,
    /// Anything else, such as a pipe.
    Other,
    /// The listing does not say; a stat would.
    Unknown,
}
