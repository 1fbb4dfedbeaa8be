//! Output that a program reads: nothing is added to it, and what cannot be written is an error.

use std::io::{ErrorKind, Write};

use anyhow::{Context, Result};

use crate::print;

/// Prints a text for a person, with lines that fit the terminal where there is one.
pub fn print_fitted(text: &str) -> Result<()> {
    print(&print::fitted(text, print::size_of(std::io::stdout())))
}

/// Prints a text as it is; a reader that has had enough is no error, a full disk is one.
pub fn print(text: &str) -> Result<()> {
    let mut output = anstream::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("standard output cannot be written to")
        }
        _ => Ok(()),
    }
}
