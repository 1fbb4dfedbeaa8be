//! The answer of a command that steers a loop: words for a person, or the loop's new state for a program.

use std::process::ExitCode;

use anyhow::Result;

use super::handle::LoopHandle;
use crate::forms;
use crate::forms::status::SteeredForm;
use crate::runner::options::Form;

/// Who reads the answer.
#[derive(clap::Args)]
pub struct Answer {
    /// Print JSON for programs: the loop as it is now
    #[arg(long)]
    json: bool,
}

impl From<Form> for Answer {
    fn from(form: Form) -> Self {
        Self { json: form == Form::Json }
    }
}

impl Answer {
    pub fn say(&self, words: &str, steered: &LoopHandle) -> Result<ExitCode> {
        if self.json {
            let form = SteeredForm { r#loop: steered.form(), words: words.trim_end().to_owned() };
            dataln!("{}", forms::document(&form)?);
        } else {
            outln!("{}", words.trim_end());
        }
        Ok(ExitCode::SUCCESS)
    }
}
