//! Calls of other programs that have to end, and errors with advice.

use std::fmt::Display;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};

use crate::exec::{Program, ProgramAnswer};

/// The slowest call reads a few files.
const PATIENCE: Duration = Duration::from_mins(1);
/// The longest answer that is read, in bytes.
const MOST: usize = 16 << 20;

/// Adds what was tried, or advice, to an error.
pub trait Advise<T> {
    /// The advice goes on a line of its own behind the cause.
    fn advise(self, advice: impl Display) -> Result<T>;

    /// What was not possible, before the cause; the path takes the place of `{}`.
    fn at(self, what: &str, path: &Path) -> Result<T>;
}

impl<T, E: Into<Error>> Advise<T> for Result<T, E> {
    fn advise(self, advice: impl Display) -> Result<T> {
        self.map_err(|error| anyhow!("{:#}\n{advice}", error.into()))
    }

    fn at(self, what: &str, path: &Path) -> Result<T> {
        let what = || what.replacen("{}", &path.display().to_string(), 1);
        self.map_err(|error| error.into().context(what()))
    }
}

/// An error when the program does not start, does not end within a minute, or prints more than 16 MiB.
pub fn call(command: Command, input: &str) -> Result<ProgramAnswer> {
    let name = command.get_program().to_string_lossy().into_owned();
    let program = Program::new(command, PATIENCE).input(input.as_bytes());
    // A supervisor ends the program at Ctrl-C.
    let program = if input.is_empty() { program.kept() } else { program };
    let ran =
        program.run(MOST, &mut || false).with_context(|| format!("could not start `{name}`"))?;
    if ran.cut {
        bail!("`{name}` printed more than {} MiB", MOST >> 20);
    }
    let patience = PATIENCE.as_secs();
    ran.answer().with_context(|| format!("`{name}` did not end within {patience} seconds"))
}
