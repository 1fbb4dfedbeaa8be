//! `spool cancel`: ends a loop, shows what it was, keeps its notes.

use std::process::ExitCode;

use anyhow::{Result, anyhow};

use super::{Where, own_session};
use crate::speckit::cancel::{cancel, feature_to_cancel, summary};

/// End a loop; its notes and journal stay.
///
/// The state file is removed; .progress.md, tasks.md and the journal are kept.
#[derive(clap::Args)]
pub struct CancelArgs {
    /// The feature; without it, the one this session drives, or the current one
    feature: Option<String>,
    #[command(flatten)]
    place: Where,
}

/// Shows the loop as it is, then cancels it (spec 003, AC-4.3).
pub fn run(args: &CancelArgs) -> Result<ExitCode> {
    let project = args.place.project()?;
    let session = own_session();
    let feature = feature_to_cancel(&project, args.feature.as_deref(), session.as_deref())
        .map_err(|refusal| anyhow!("{refusal}"))?;
    if let Some(summary) = summary(&project, &feature) {
        anstream::println!("{summary}\n");
    }
    let cancelled = cancel(&project, &feature).map_err(|refusal| anyhow!("{refusal}"))?;
    anstream::println!("Loop cancelled. {}", cancelled.cleanup);
    Ok(ExitCode::SUCCESS)
}
