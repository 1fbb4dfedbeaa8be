//! `spool block`: the agent needs a person, and the loop ends.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::context::{Where, own_session};
use super::handle::{LoopHandle, NameKind, own_or_only};
use super::person::in_agents_session;
use super::steered::Answer;
use crate::engine::Demand;
use crate::exec::partner::in_run;
use crate::refusal::Refusal;
use crate::session::end::end_task;
use crate::session::task_log::{Books, one_line};
use crate::store::closing::EndNotice;
use crate::store::loops::Loops;

/// End the loop because a person is needed.
///
/// For the agent that works in the loop: it says what the person must do, and ends its turn.
#[derive(clap::Args)]
pub struct BlockArgs {
    /// What the person must do, in one line
    need: String,
    #[command(flatten)]
    answer: Answer,
    #[command(flatten)]
    place: Where,
}

/// The need on one line. Refuses the agent of a run: its last words alone end the loop.
pub fn need_in_session(need: &str) -> Result<String> {
    let need = one_line(need)?;
    if in_run() {
        bail!(
            "the loop of `spool ralph` goes on: its agent ends it by its last words\nend your turn with this line, alone: <blocked>{need}</blocked>"
        );
    }
    Ok(need)
}

/// Ends the session's loop of any kind; outside of a session, the only ralph loop here.
pub fn run(args: &BlockArgs) -> Result<ExitCode> {
    let project = args.place.with_loops()?;
    let session = own_session();
    let need = need_in_session(&args.need)?;
    let mut all = LoopHandle::all(Some(&project), None)?;
    let is_its = |one: &LoopHandle| match &session {
        Some(own) => one.name(NameKind::Session) == Some(own),
        None => !in_agents_session() && one.name(NameKind::Task).is_some(),
    };
    all.retain(|one| one.lives && is_its(one));
    if all.is_empty() {
        return Err(Refusal::NoLoop("no ralph loop is live here".to_owned()).into());
    }
    let meant = own_or_only(&all, None, "live")?;
    if meant.name(NameKind::Feature).is_some() {
        Books::open(&project, &meant.feature()?, session.as_deref())?.block(&need)?;
    } else {
        let session = meant.name(NameKind::Session).unwrap_or_default();
        let loops = Loops::of(&project.root);
        end_task(&loops, session, &Demand::Blocked(need), EndNotice::AtNextStop)?
            .context("the loop has ended already\n`spool status` says why")?
            .tell();
    }
    args.answer.say(
        "Noted, the loop has ended (blocked). End your turn now: say what the person must do and what is done so far.",
        &meant,
    )
}
