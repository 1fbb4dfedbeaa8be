//! `spool cancel`: ends a loop, shows what it was, keeps its notes.

use std::process::ExitCode;

use anyhow::{Result, bail};

use super::context::{Where, own_session};
use crate::engine::Demand;
use crate::feature::project::Project;
use crate::session::end::cancel::{cancel, feature_to_cancel, summary};
use crate::session::end::task::{cancelled, end};
use crate::session::reconcile::settle_all;
use crate::session::select::{Wanted, live_ralph, select};
use crate::store::closing::{EndNotice, not_noted};
use crate::store::loops::{Loops, Record};

/// End a loop; its notes and journal stay.
///
/// The state file is removed; .progress.md, tasks.md and the journal are kept.
#[derive(clap::Args)]
pub struct CancelArgs {
    /// The feature; without it, the one this session drives, or the current one
    feature: Option<String>,
    /// The session whose ralph loop is meant; without it, this session's, or the only one
    #[arg(long, value_name = "ID", conflicts_with = "feature")]
    session: Option<String>,
    #[command(flatten)]
    place: Where,
}

/// Shows the loop as it is, then cancels it (spec 003, AC-4.3).
pub fn run(args: &CancelArgs) -> Result<ExitCode> {
    let project = args.place.with_loops()?;
    settle_all(&project.root);
    let session = own_session();
    if let Some(record) = ralph_meant(args, &project, session.as_deref())? {
        let loops = Loops::of(&project.root);
        let ended = end(&loops, &record.session, Demand::Cancelled, EndNotice::Done)?;
        let Some((ended, unnoted)) = ended else {
            bail!("the loop was over before\n`spool status` tells why");
        };
        outln!("{}{}", cancelled(&ended), not_noted(unnoted));
        return Ok(ExitCode::SUCCESS);
    }
    let feature = feature_to_cancel(&project, args.feature.as_deref(), session.as_deref())?;
    if let Some(summary) = summary(&project, &feature) {
        outln!("{summary}\n");
    }
    let done = cancel(&project, &feature)?;
    outln!("{} {}", done.headline(), done.cleanup);
    Ok(ExitCode::SUCCESS)
}

/// The ralph loop to cancel: the named session's, this session's, or the only live loop of all.
fn ralph_meant(
    args: &CancelArgs,
    project: &Project,
    session: Option<&str>,
) -> Result<Option<Record>> {
    let loops = Loops::of(&project.root);
    let all = live_ralph(&loops);
    let named = args.session.as_deref();
    let wanted = Wanted { noun: "ralph loop", state: "live", named, own: session };
    let is_own = |record: &Record| Some(record.session.as_str()) == session;
    if named.is_some() || (args.feature.is_none() && all.iter().any(is_own)) {
        return Ok(Some(select(all, wanted)?));
    }
    if args.feature.is_some() {
        return Ok(None);
    }
    let meant_feature = project.feature_meant(None, session).ok().flatten();
    let has_loop = meant_feature.is_some_and(|feature| {
        loops.claim(&feature.name).is_some_and(|claim| claim.closed.is_none())
    });
    if has_loop || all.is_empty() {
        return Ok(None);
    }
    Ok(Some(select(all, wanted)?))
}
