//! Calls of other programs that must end, and errors that say what to do next.

use std::fmt::Display;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::exec::Program;

/// How long one call may take; the slowest of them reads a few files.
const PATIENCE: Duration = Duration::from_mins(1);
/// The most of an answer that is read, in bytes.
const MOST: usize = 16 << 20;

/// What a program answered.
#[derive(Debug)]
pub struct CallAnswer {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed; bytes that are no text are replaced.
    pub output: String,
    /// What it said beside that.
    pub errors: String,
}

/// An error that says what to do next, on a line of its own after the cause.
pub trait Advise<T> {
    /// Returns the value, or the error with `advice` after its cause.
    fn advise(self, advice: impl Display) -> Result<T>;
}

impl<T> Advise<T> for Result<T> {
    fn advise(self, advice: impl Display) -> Result<T> {
        self.map_err(|error| anyhow!("{error:#}\n{advice}"))
    }
}

/// Returns what `command` answers to `input`; an error when it does not start, does not end within a
/// minute, or prints more than 16 MiB.
pub fn call(command: Command, input: &str) -> Result<CallAnswer> {
    let name = command.get_program().to_string_lossy().into_owned();
    let program = Program::new(command, PATIENCE).input(input.as_bytes());
    // With Ctrl-C, it ends as well.
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
