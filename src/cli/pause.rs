//! `spool pause`: the agent may stop, and the loop stays armed.

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

/// Pauses the selected loop, and says how to continue.
pub fn run(args: &PauseArgs) -> Result<ExitCode> {
    match args.which.selected(Steering::Pause)? {
        SelectedLoop::Runner(runner) => {
            ask(&runner, RunnerRequest::Pause)?;
            let change = printable(&runner.change);
            let words = format!(
                "The loop of `{change}` pauses after its iteration.\n`spool resume --change {change}` continues it, `spool stop --change {change}` ends it."
            );
            args.answer.say(&words, &Steered::Change(&runner.root, &runner.change))
        }
        SelectedLoop::Session(project, session) => in_session(args, &project, &session),
        SelectedLoop::Feature(project, feature) => {
            let session = select::session_of(&Loops::of(&project.root), &feature)?;
            in_session(args, &project, &session)
        }
    }
}

fn in_session(args: &PauseArgs, project: &Project, session: &str) -> Result<ExitCode> {
    let loops = Loops::of(&project.root);
    let session = select::to_pause(&loops, Some(session), own_session().as_deref())?.session;
    let Some((record, unnoted)) = pause::pause(&loops, &session, asked_from(&session))? else {
        bail!("the loop has ended already\n`spool status` says why");
    };
    let words = format!("{}{}", pause::paused(&record), not_noted(unnoted));
    args.answer.say(&words, &Steered::Session(project, &session))
}
