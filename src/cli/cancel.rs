//! `spool cancel`: ends a loop, shows what it was, keeps its notes.

use std::process::ExitCode;

use anyhow::{Result, bail};

use super::context::{Where, own_session};
use super::steered::{Answer, Steered};
use crate::session::cancel::{cancel_feature, cancel_task, summary};
use crate::session::reconcile::settle_all;
use crate::session::select::{Meant, to_cancel};
use crate::store::loops::Loops;

/// End a loop; its notes and journal stay.
///
/// The state file is removed; .progress.md, tasks.md and the journal are kept.
#[derive(clap::Args)]
pub struct CancelArgs {
    /// The feature; without it, the one this session drives, or the current one
    feature: Option<String>,
    /// The session with the ralph loop; without it, this session's, or in a terminal the only one
    #[arg(long, value_name = "ID", conflicts_with = "feature")]
    session: Option<String>,
    #[command(flatten)]
    answer: Answer,
    #[command(flatten)]
    place: Where,
}

/// Shows the loop as it is, then cancels it (spec 003, AC-4.3).
pub fn run(args: &CancelArgs) -> Result<ExitCode> {
    let project = args.place.with_loops()?;
    settle_all(&project.root);
    let session = own_session();
    let (feature, named) = (args.feature.as_deref(), args.session.as_deref());
    match to_cancel(&project, feature, named, session.as_deref())? {
        Meant::Task(session) => {
            let Some(text) = cancel_task(&Loops::of(&project.root), &session)? else {
                bail!("the loop had ended before\n`spool status` shows why");
            };
            args.answer.say(&text, &Steered::Session(&project, &session))
        }
        Meant::Feature(feature) => {
            let summary = summary(&project, &feature).map(|it| it + "\n\n").unwrap_or_default();
            let done = cancel_feature(&project, &feature)?;
            let words = format!("{summary}{} {}", done.headline(), done.cleanup);
            args.answer.say(&words, &Steered::Feature(&project, &feature.name))
        }
    }
}
