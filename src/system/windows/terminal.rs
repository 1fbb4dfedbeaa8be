//! The terminal: how large it is, and giving it back as it was.

use std::io;

use terminal_size::{Height, Width, terminal_size_of};

/// Something that may be a terminal: standard output, standard error.
pub use std::os::windows::io::AsHandle as AsTerminal;

/// Returns the columns and rows of a terminal, `None` where it is none.
pub fn size(stream: impl AsTerminal) -> Option<(usize, usize)> {
    let (Width(columns), Height(rows)) = terminal_size_of(stream)?;
    Some((usize::from(columns), usize::from(rows)))
}

/// Gives the terminal back as it was when Ctrl-C comes as a signal: the system itself does.
pub struct InterruptWatch;

impl InterruptWatch {
    /// Returns a watch that has nothing to do.
    pub fn begin(_: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        Ok(Self)
    }

    /// Ends the watch.
    pub fn end(self) {}
}
