//! `spool resume`: a paused loop goes on.

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

/// Go on with a paused loop.
///
/// The agent is blocked again from its next stop on. Nothing wakes an idle session: type anything there.
#[derive(clap::Args)]
pub struct ResumeArgs {
    /// The session whose loop is meant; without it, this session's, or the only paused one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The change on which a loop of `spool ralph` works
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    change: Option<String>,
    #[command(flatten)]
    place: Where,
}

/// Ends the pause of the loop that is meant.
pub fn run(args: &ResumeArgs) -> Result<ExitCode> {
    if args.session.is_none()
        && let Some(runner) = rather_a_runner(&args.place, args.change.as_deref())?
    {
        ask(&runner, RunnerRequest::Resume)?;
        let change = printable(&runner.change);
        outln!("The loop of `{change}` goes on.");
        return Ok(ExitCode::SUCCESS);
    }
    let root = args.place.with_loops()?.root;
    settle_all(&root);
    let loops = Loops::of(&root);
    let meant = select::to_resume(&loops, args.session.as_deref(), own_session().as_deref());
    let session = meant?.session;
    let Some((record, unnoted)) = pause::resume(&loops, &session, asked_from(&session))? else {
        bail!("the loop is not paused any more\n`spool status` tells how it stands");
    };
    outln!("{}{}", pause::resumed(&record), not_noted(unnoted));
    Ok(ExitCode::SUCCESS)
}
