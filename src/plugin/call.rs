//! Calls of other programs that have to end, and errors with advice.

use std::fmt::Display;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::exec::Program;

/// The slowest call reads a few files.
const PATIENCE: Duration = Duration::from_mins(1);
/// The longest answer that is read, in bytes.
const MOST: usize = 16 << 20;

#[derive(Debug)]
pub struct CallAnswer {
    pub status: ExitStatus,
    /// Invalid UTF-8 is replaced.
    pub output: String,
    pub errors: String,
}

/// Adds advice to an error.
pub trait Advise<T> {
    /// The advice goes on a line of its own behind the cause.
    fn advise(self, advice: impl Display) -> Result<T>;
}

impl<T> Advise<T> for Result<T> {
    fn advise(self, advice: impl Display) -> Result<T> {
        self.map_err(|error| anyhow!("{error:#}\n{advice}"))
    }
}

/// An error when the program does not start, does not end within a minute, or prints more than 16 MiB.
pub fn call(command: Command, input: &str) -> Result<CallAnswer> {
    let name = command.get_program().to_string_lossy().into_owned();
    let program = Program::new(command, PATIENCE).input(input.as_bytes());
    // A supervisor ends the program at Ctrl-C.
    let program = if input.is_empty() { program.kept() } else { program };
    let ran =
        program.run(MOST, &mut || false).with_context(|| format!("could not start `{name}`"))?;
    if ran.cut {
        bail!("`{name}` printed more than {} MiB", MOST >> 20);
    }
    let Some(status) = ran.status() else {
        bail!("`{name}` did not end within {} seconds", PATIENCE.as_secs());
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(CallAnswer { status, output: text(&ran.output), errors: text(&ran.errors) })
}
