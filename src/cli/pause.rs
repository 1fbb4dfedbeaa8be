//! `spool pause`: the agent may stop, and the loop stays armed.

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

/// Pause a loop: the agent may stop, the loop stays armed.
///
/// The agent finishes its turn and may then stop; nothing is counted until the loop is resumed. Evidence
/// still counts: a loop whose work is done ends as completed. `spool resume` continues it, `spool cancel` ends it.
#[derive(clap::Args)]
pub struct PauseArgs {
    #[command(flatten)]
    which: WhichLoop,
}

/// Pauses the selected loop, and says how to continue.
pub fn run(args: &PauseArgs) -> Result<ExitCode> {
    if let Some(runner) = args.which.runner()? {
        ask(&runner, RunnerRequest::Pause)?;
        let change = printable(&runner.change);
        let words = format!(
            "The loop of `{change}` pauses after its iteration.\n`spool resume --change {change}` continues it, `spool stop --change {change}` ends it."
        );
        return args.which.answer().say(&words, &Steered::Change(&runner.root, &runner.change));
    }
    let (project, loops) = args.which.loops()?;
    let session = select::to_pause(&loops, args.which.session(), own_session().as_deref())?.session;
    let Some((record, unnoted)) = pause::pause(&loops, &session, asked_from(&session))? else {
        bail!("the loop has ended already\n`spool status` says why");
    };
    let words = format!("{}{}", pause::paused(&record), not_noted(unnoted));
    args.which.answer().say(&words, &Steered::Session(&project, &session))
}
