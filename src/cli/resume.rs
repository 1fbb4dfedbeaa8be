//! `spool resume`: a paused loop continues.

use std::process::ExitCode;

use anyhow::{Result, bail};

use super::context::{asked_from, own_session};
use super::running::ask;
use super::selection::WhichLoop;
use super::steered::Steered;
use crate::feature::project::printable;
use crate::runner::requests::RunnerRequest;
use crate::session::{pause, select};
use crate::store::closing::not_noted;

/// Continue a paused loop.
///
/// The agent is blocked again from its next stop on. Nothing wakes an idle session: type anything there.
#[derive(clap::Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    which: WhichLoop,
}

/// Ends the pause of the selected loop.
pub fn run(args: &ResumeArgs) -> Result<ExitCode> {
    if let Some(runner) = args.which.runner()? {
        ask(&runner, RunnerRequest::Resume)?;
        let change = printable(&runner.change);
        let words = format!("The loop of `{change}` continues.");
        return args.which.answer().say(&words, &Steered::Change(&runner.root, &runner.change));
    }
    let (project, loops) = args.which.loops()?;
    let session =
        select::to_resume(&loops, args.which.session(), own_session().as_deref())?.session;
    let Some((record, unnoted)) = pause::resume(&loops, &session, asked_from(&session))? else {
        bail!("the loop is not paused any more\n`spool status` shows its state");
    };
    let words = format!("{}{}", pause::resumed(&record), not_noted(unnoted));
    args.which.answer().say(&words, &Steered::Session(&project, &session))
}
