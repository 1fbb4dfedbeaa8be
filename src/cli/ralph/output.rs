//! Output that a program reads: nothing is added to it, and what cannot be written is an error.

use std::io::{ErrorKind, Write};

use anyhow::{Context, Result};

/// Prints a text; a reader that has had enough is no error, a full disk is one.
pub fn print(text: &str) -> Result<()> {
    let mut output = anstream::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("standard output cannot be written to")
        }
        _ => Ok(()),
    }
}
