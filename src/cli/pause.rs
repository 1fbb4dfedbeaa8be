//! `spool pause`: the agent may stop, and the loop stays armed.

use std::process::ExitCode;

use anyhow::{Result, bail};

use super::context::{Where, asked_from, own_session};
use super::stop::{ask, rather_a_runner};
use crate::feature::project::printable;
use crate::runner::requests::RunnerRequest;
use crate::session::reconcile::settle_all;
use crate::session::{pause, select};
use crate::store::closing::not_noted;
use crate::store::loops::Loops;

/// Pause a loop: the agent may stop, the loop stays armed.
///
/// The agent finishes its turn and may then stop; nothing is counted until the loop is resumed. Evidence
/// still counts: a loop whose work is done ends as completed. `spool resume` continues it, `spool cancel` ends it.
#[derive(clap::Args)]
pub struct PauseArgs {
    /// The session whose loop is meant; without it, this session's, or the only one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The change on which a loop of `spool ralph` works
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    change: Option<String>,
    #[command(flatten)]
    place: Where,
}

/// Pauses the loop that is meant, and says how to go on.
pub fn run(args: &PauseArgs) -> Result<ExitCode> {
    if args.session.is_none()
        && let Some(runner) = rather_a_runner(&args.place, args.change.as_deref())?
    {
        ask(&runner, RunnerRequest::Pause)?;
        let change = printable(&runner.change);
        outln!(
            "The loop of `{change}` pauses when its iteration is over.\n`spool resume --change {change}` goes on with it, `spool stop --change {change}` ends it."
        );
        return Ok(ExitCode::SUCCESS);
    }
    let root = args.place.with_loops()?.root;
    settle_all(&root);
    let loops = Loops::of(&root);
    let meant = select::to_pause(&loops, args.session.as_deref(), own_session().as_deref());
    let session = meant?.session;
    let Some((record, unnoted)) = pause::pause(&loops, &session, asked_from(&session))? else {
        bail!("the loop is over already\n`spool status` tells why");
    };
    outln!("{}{}", pause::paused(&record), not_noted(unnoted));
    Ok(ExitCode::SUCCESS)
}
