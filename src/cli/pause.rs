//! `spool pause` and `spool resume`: in a pause the agent may stop, and the loop stays armed.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::context::{asked_from, own_session};
use super::running::ask;
use super::selection::{SelectedLoop, Steering, WhichLoop};
use super::steered::{Answer, Steered};
use crate::feature::project::{Project, printable};
use crate::runner::requests::RunnerRequest;
use crate::session::{pause, select};
use crate::store::closing::not_noted;
use crate::store::loops::Loops;
use crate::world;

/// Tells an agent that wants to pause its own run what to do instead.
const IN_ITS_RUN: &str = "continue; when a person must decide, end your turn with <blocked>what the person must do</blocked>";

/// Pause a loop: the agent may stop, the loop stays armed.
///
/// The agent finishes its turn and may then stop; nothing is counted until the loop is resumed. Evidence
/// still counts: a loop whose work is done ends as completed. `spool resume` continues it, `spool stop` ends it.
#[derive(clap::Args)]
pub struct PauseArgs {
    #[command(flatten)]
    which: WhichLoop,
    #[command(flatten)]
    answer: Answer,
}

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

pub fn pause(args: &PauseArgs) -> Result<ExitCode> {
    steer(Steering::Pause, &args.which, &args.answer)
}

pub fn resume(args: &ResumeArgs) -> Result<ExitCode> {
    steer(Steering::Resume, &args.which, &args.answer)
}

fn steer(steering: Steering, which: &WhichLoop, answer: &Answer) -> Result<ExitCode> {
    let (project, session) = match which.selected(steering)? {
        SelectedLoop::Runner(runner) => {
            let change = printable(&runner.change);
            let own = world::variable(world::RUNNER).and_then(|id| id.parse().ok());
            if steering == Steering::Pause && own == Some(runner.pid) {
                bail!(
                    "an agent of the loop of `{change}` cannot pause it: nobody would resume it\n{IN_ITS_RUN}"
                );
            }
            let (request, words) = if steering == Steering::Pause {
                (
                    RunnerRequest::Pause,
                    format!(
                        "The loop of `{change}` pauses after its iteration.\n`spool resume --change {change}` continues it, `spool stop --change {change}` ends it."
                    ),
                )
            } else {
                (RunnerRequest::Resume, format!("The loop of `{change}` continues."))
            };
            ask(&runner, request)?;
            return answer.say(&words, &Steered::Change(&runner.root, &runner.change));
        }
        SelectedLoop::Session(project, session) => (project, session),
        SelectedLoop::Feature(project, feature) => {
            let session = select::session_of(&Loops::of(&project.root), &feature)?;
            (project, session)
        }
    };
    let (session, words) = if steering == Steering::Pause {
        paused(&project, &session)?
    } else {
        resumed(&project, &session)?
    };
    answer.say(&words, &Steered::Session(&project, &session))
}

/// The session, and words for the person.
fn paused(project: &Project, session: &str) -> Result<(String, String)> {
    let loops = Loops::of(&project.root);
    let session = select::to_pause(&loops, Some(session), own_session().as_deref())?.session;
    let (record, unnoted) = pause::pause(&loops, &session, asked_from(&session))?
        .context("the loop has ended already\n`spool status` says why")?;
    Ok((session, pause::paused(&record) + &not_noted(unnoted)))
}

/// The session, and words for the person.
fn resumed(project: &Project, session: &str) -> Result<(String, String)> {
    let loops = Loops::of(&project.root);
    let session = select::to_resume(&loops, Some(session), own_session().as_deref())?.session;
    let (record, unnoted) = pause::resume(&loops, &session, asked_from(&session))?
        .context("the loop is not paused any more\n`spool status` shows its state")?;
    Ok((session, pause::resumed(&record) + &not_noted(unnoted)))
}
