//! Calls of other programs that must end, and errors that say what to do next.

use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::world::{self, Deadline};

/// How long one call may take; the slowest of them reads a few files.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a program that ended by itself left behind.
#[derive(Debug)]
pub struct Answer {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed; bytes that are no text are replaced.
    pub output: String,
    /// What it said beside that.
    pub errors: String,
}

/// An error that tells what to do next, on a line of its own after the cause.
pub trait Advise<T> {
    /// Returns the value, or the error with `advice` behind its cause.
    fn advise(self, advice: impl Display) -> Result<T>;
}

impl<T> Advise<T> for Result<T> {
    fn advise(self, advice: impl Display) -> Result<T> {
        self.map_err(|error| anyhow!("{error:#}\n{advice}"))
    }
}

/// Returns what `command` answers to `input`; an error when it does not start or end.
pub fn call(command: &mut Command, input: &str) -> Result<Answer> {
    let name = command.get_program().to_string_lossy().into_owned();
    // Files, not pipes: what the program leaves running behind it cannot hold us up.
    let open = || tempfile::tempfile().context("could not make a temporary file");
    let (mut question, output, errors) = (open()?, open()?, open()?);
    question.write_all(input.as_bytes())?;
    question.rewind()?;
    command.stdin(question).stdout(output.try_clone()?).stderr(errors.try_clone()?);
    let mut child = command.spawn().with_context(|| format!("could not start `{name}`"))?;
    let Some(status) = wait(&mut child)? else {
        bail!("`{name}` did not end within {} seconds", PATIENCE.as_secs());
    };
    Ok(Answer { status, output: text_of(output)?, errors: text_of(errors)? })
}

fn wait(child: &mut Child) -> Result<Option<ExitStatus>> {
    let patience = Deadline::after(PATIENCE);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if patience.is_over() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        world::pause(Duration::from_millis(10));
    }
}

fn text_of(mut file: File) -> Result<String> {
    let mut text = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
