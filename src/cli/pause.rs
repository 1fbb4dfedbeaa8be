//! `spool pause` and `spool resume`: in a pause the agent may stop, and the loop stays armed.

use std::process::ExitCode;

use anyhow::{Context, Result};

use super::context::asked_from;
use super::running::ask;
use super::selection::{SelectedLoop, Steering, WhichLoop};
use super::steered::{Answer, Steered};
use crate::feature::project::printable;
use crate::refusal::Refusal;
use crate::runner::requests::RunnerRequest;
use crate::session::{pause, select};
use crate::store::closing::not_noted;
use crate::store::loops::{Loops, Pause, Record};
use crate::world;

#[derive(clap::Args)]
pub struct SteerArgs {
    #[command(flatten)]
    which: WhichLoop,
    #[command(flatten)]
    answer: Answer,
}

pub fn run(steering: Steering, args: &SteerArgs) -> Result<ExitCode> {
    let is_pause = steering == Steering::Pause;
    let (project, session) = match args.which.selected(steering)? {
        SelectedLoop::Runner(runner) => {
            let change = printable(&runner.change);
            ask(&runner, if is_pause { RunnerRequest::Pause } else { RunnerRequest::Resume })?;
            let words = if is_pause {
                format!(
                    "The loop of `{change}` pauses after its iteration.\n`spool resume --change {change}` continues it, `spool stop --change {change}` ends it."
                )
            } else {
                format!("The loop of `{change}` continues.")
            };
            return args.answer.say(&words, &Steered::Change(&runner.root, &runner.change));
        }
        SelectedLoop::Session(project, session) => (project, session),
        SelectedLoop::Feature(project, feature) => {
            let session = select::session_of(&Loops::of(&project.root), &feature)?;
            (project, session)
        }
    };
    let loops = Loops::of(&project.root);
    let is_meant =
        |record: &Record| record.session == session && (is_pause || record.pause().is_some());
    if !select::live(&loops).iter().any(is_meant) {
        let (session, state) = (printable(&session), if is_pause { "live" } else { "paused" });
        let what = format!("session `{session}` has no loop here that is {state}");
        return Err(Refusal::NoLoop(what).into());
    }
    let by = asked_from(&session);
    let (words, noted) = if is_pause {
        let (record, noted) =
            pause::pause(&loops, &session, Pause { at: world::now(), by, ..Pause::default() })?
                .context("the loop has ended already\n`spool status` says why")?;
        (pause::paused(&record), noted)
    } else {
        let (record, noted) = pause::resume(&loops, &session, by)?
            .context("the loop is not paused any more\n`spool status` shows its state")?;
        (pause::resumed(&record), noted)
    };
    args.answer.say(&(words + &not_noted(noted)), &Steered::Session(&project, &session))
}
