//! `spool resume`: a paused loop goes on.

use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};

use super::{Where, asked_from, own_session};
use crate::ralph::pause;
use crate::store::loops::Loops;

/// Go on with a paused loop.
///
/// The agent is held again from its next stop on. Nothing wakes an idle session: type anything there.
#[derive(clap::Args)]
pub struct ResumeArgs {
    /// The session whose loop is meant; without it, this session's, or the only paused one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    place: Where,
}

/// Ends the pause of the loop that is meant.
pub fn run(args: &ResumeArgs) -> Result<ExitCode> {
    let loops = Loops::of(&args.place.with_loops()?.root);
    let meant = pause::meant_to_go_on(&loops, args.session.as_deref(), own_session().as_deref());
    let session = meant.map_err(|refusal| anyhow!("{refusal}"))?.session;
    let Some(record) = pause::go_on(&loops, &session, asked_from(&session))? else {
        bail!("the loop is not paused any more\n`spool status` tells how it stands");
    };
    anstream::println!("{}", pause::resumed(&record));
    Ok(ExitCode::SUCCESS)
}
