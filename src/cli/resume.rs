//! `spool resume`: a paused loop continues.

use std::process::ExitCode;

use anyhow::{Result, bail};

use super::context::{asked_from, own_session};
use super::running::ask;
use super::selection::{SelectedLoop, Steering, WhichLoop};
use super::steered::{Answer, Steered};
use crate::feature::project::{Project, printable};
use crate::runner::requests::RunnerRequest;
use crate::session::{pause, select};
use crate::store::closing::not_noted;
use crate::store::loops::Loops;

/// Continue a paused loop.
///
/// The agent is blocked again from its next stop on. Nothing wakes an idle session: type anything there.
#[derive(clap::Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    which: WhichLoop,
    #[command(flatten)]
    answer: Answer,
}

/// Ends the pause of the selected loop.
pub fn run(args: &ResumeArgs) -> Result<ExitCode> {
    match args.which.selected(Steering::Resume)? {
        SelectedLoop::Runner(runner) => {
            ask(&runner, RunnerRequest::Resume)?;
            let change = printable(&runner.change);
            let words = format!("The loop of `{change}` continues.");
            args.answer.say(&words, &Steered::Change(&runner.root, &runner.change))
        }
        SelectedLoop::Session(project, session) => in_session(args, &project, &session),
        SelectedLoop::Feature(project, feature) => {
            let session = select::session_of(&Loops::of(&project.root), &feature)?;
            in_session(args, &project, &session)
        }
    }
}

fn in_session(args: &ResumeArgs, project: &Project, session: &str) -> Result<ExitCode> {
    let loops = Loops::of(&project.root);
    let session = select::to_resume(&loops, Some(session), own_session().as_deref())?.session;
    let Some((record, unnoted)) = pause::resume(&loops, &session, asked_from(&session))? else {
        bail!("the loop is not paused any more\n`spool status` shows its state");
    };
    let words = format!("{}{}", pause::resumed(&record), not_noted(unnoted));
    args.answer.say(&words, &Steered::Session(project, &session))
}
