//! `spool pause` and `spool resume`: in a pause the agent may stop, and the loop stays armed.

use std::process::ExitCode;

use anyhow::{Context, Result};

use super::context::asked_from;
use super::handle::NameKind;
use super::selection::{ONLY_ARMED, Steering, WhichLoop};
use super::steered::{Answer, ask, on_change};
use crate::feature::project::printable;
use crate::refusal::Refusal;
use crate::runner::requests::RunnerRequest;
use crate::session::pause;
use crate::store::closing::not_noted;
use crate::store::loops::{Loops, Pause};
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
    let meant = args.which.selected(steering)?;
    if let Some(change) = meant.name(NameKind::Change) {
        let request = if is_pause { RunnerRequest::Pause } else { RunnerRequest::Resume };
        ask(&on_change(&meant.root, change)?, request)?;
        let change = printable(change);
        let words = if is_pause {
            format!(
                "The loop of `{change}` pauses after its iteration.\n`spool resume --change {change}` continues it, `spool stop --change {change}` ends it."
            )
        } else {
            format!("The loop of `{change}` continues.")
        };
        return args.answer.say(&words, &meant);
    }
    let Some(session) = meant.name(NameKind::Session) else {
        let name = meant.name(NameKind::Feature).map(printable).unwrap_or_default();
        let what = format!("no session drives a loop of feature `{name}`{ONLY_ARMED}");
        return Err(Refusal::NoLoop(what).into());
    };
    if !meant.lives || !(is_pause || meant.paused) {
        let (session, state) = (printable(session), if is_pause { "live" } else { "paused" });
        let what = format!("session `{session}` has no loop here that is {state}");
        return Err(Refusal::NoLoop(what).into());
    }
    let loops = Loops::of(&meant.root);
    let by = asked_from(session);
    let (words, noted) = if is_pause {
        let (record, noted) =
            pause::pause(&loops, session, Pause { at: world::now(), by, ..Pause::default() })?
                .context("the loop has ended already\n`spool status` says why")?;
        (pause::paused(&loops, &record), noted)
    } else {
        let (record, noted) = pause::resume(&loops, session, by)?
            .context("the loop is not paused any more\n`spool status` shows its state")?;
        (pause::resumed(&loops, &record), noted)
    };
    args.answer.say(&(words + &not_noted(noted)), &meant)
}
