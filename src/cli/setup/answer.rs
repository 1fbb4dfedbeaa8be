//! The output of `spool setup`: a line for each step, or one document at the end.

use std::process::ExitCode;

use anyhow::Result;

use super::args::SetupArgs;
use super::steps::Tense;
use crate::forms;
use crate::forms::setup::{SetupForm, SetupStepForm, SetupStepName};

pub struct SetupAnswer {
    form: SetupForm,
    is_json: bool,
}

impl SetupAnswer {
    pub fn to(args: &SetupArgs) -> Self {
        let (dry_run, remove) = (args.dry_run, args.remove);
        let form = SetupForm { dry_run, remove, ..SetupForm::default() };
        Self { form, is_json: args.json }
    }

    pub fn tense(&self) -> Tense {
        if self.form.dry_run { Tense::Would } else { Tense::Did }
    }

    pub fn step(&mut self, (name, words): (SetupStepName, String)) {
        if !self.is_json {
            outln!("{words}");
        }
        self.form.steps.push(SetupStepForm { name, words });
    }

    /// Reports something that stays.
    pub fn left(&mut self, words: String) {
        if !self.is_json {
            outln!("{words}");
        }
        self.form.left.push(words);
    }

    /// Explains why Claude Code could not be told, and what to do next.
    pub fn problem(&mut self, words: &str) {
        if !self.is_json {
            errln!("error: {words}");
        }
        let all = self.form.problem.get_or_insert_default();
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(words);
    }

    pub fn next(&mut self, words: &str) {
        if !self.is_json {
            outln!("\nnext: {words}");
        }
        self.form.next = Some(words.to_owned());
    }

    /// Succeeds unless there was a problem in a real run.
    pub fn end(self) -> Result<ExitCode> {
        if self.is_json {
            dataln!("{}", forms::document(&self.form)?);
        }
        let failed = self.form.problem.is_some() && !self.form.dry_run;
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
