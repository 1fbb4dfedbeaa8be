//! The answer of a command that steers a loop: words for a person, or the loop's new state for a program.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::feature::project::Project;
use crate::forms;
use crate::forms::loops::LoopForm;
use crate::forms::runner::RunnerForm;
use crate::forms::steered::SteeredForm;
use crate::runner::options::Form;
use crate::runner::report::RunnerReport;
use crate::session::report::StatusReport;

/// Who reads the answer.
#[derive(clap::Args)]
pub struct Answer {
    /// Print JSON for programs: the loop as it is now
    #[arg(long)]
    json: bool,
}

pub enum Steered<'a> {
    Session(&'a Project, &'a str),
    Feature(&'a Project, &'a str),
    /// A runner's change.
    Change(&'a Path, &'a str),
}

impl From<Form> for Answer {
    fn from(form: Form) -> Self {
        Self { json: form == Form::Json }
    }
}

impl Answer {
    pub fn say(&self, words: &str, steered: &Steered<'_>) -> Result<ExitCode> {
        if self.json {
            let form = SteeredForm { r#loop: steered.form(), words: words.trim_end().to_owned() };
            dataln!("{}", forms::document(&form)?);
        } else {
            outln!("{}", words.trim_end());
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Steered<'_> {
    /// The loop's present state.
    fn form(&self) -> Option<LoopForm> {
        let (project, session, feature) = match self {
            Self::Change(root, change) => {
                return RunnerForm::from(&RunnerReport::of(root, change).ok()?).r#loop;
            }
            Self::Session(project, session) => (project, Some(*session), None),
            Self::Feature(project, feature) => (project, None, Some(*feature)),
        };
        let report = StatusReport::of(project);
        let features = report.features.iter();
        let mut features = features.filter_map(|feature| feature.form().r#loop);
        let is_it = |found: &LoopForm| match feature {
            Some(feature) => found.about == feature,
            None => found.session.as_deref() == session,
        };
        let of_task = || report.tasks.iter().map(|task| task.form.clone()).find(is_it);
        features.find(is_it).or_else(|| feature.is_none().then(of_task).flatten())
    }
}
