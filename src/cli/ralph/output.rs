//! Output for programs: nothing is added, and a failed write is an error.

use std::io::{ErrorKind, Write};

use anyhow::{Context, Result};

use crate::print;

/// For people: lines fit the terminal.
pub fn print_fitted(text: &str) -> Result<()> {
    print(&print::fitted(text, print::size_of(std::io::stdout())))
}

/// A reader that leaves early is no error, a full disk is one.
pub fn print(text: &str) -> Result<()> {
    let mut output = anstream::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("standard output cannot be written to")
        }
        _ => Ok(()),
    }
}
