//! `spool stop`, also `spool cancel`: shows a loop and ends it; its notes stay.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};

use super::context::{own_session, whole};
use super::handle::{LoopHandle, NameKind};
use super::person::in_agents_session;
use super::selection::{Steering, WhichLoop};
use super::steered::{Answer, Running, ask, on_change};
use crate::feature::project::printable;
use crate::refusal::Refusal;
use crate::runner::requests::RunnerRequest;
use crate::runner::state::{Holder, LoopStatus, holder, read_state};
use crate::session::cancel::{CancelledFeature, cancel_feature, cancel_task};
use crate::store::closing::EndNotice;
use crate::store::loops::Loops;
use crate::text::counted;
use crate::world::{self, Deadline};

pub const ALIAS: &str = "cancel";
/// How often the runner is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// End a loop; its notes and journal stay.
///
/// Of a loop in a session the state file is removed; .progress.md, tasks.md and the journal are kept. A runner ends the agent
/// program and all that it started, writes down what the iteration has done so far, and leaves with the exit code 130.
/// Without a name it is the loop of this session; in a terminal, the only one that lives.
#[derive(clap::Args)]
pub struct StopArgs {
    #[command(flatten)]
    which: WhichLoop,
    /// How long to wait until a runner has left, in seconds; 0 asks and does not wait
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = whole::<u64, 0, 1_000_000>)]
    wait: u64,
    #[command(flatten)]
    answer: Answer,
}

/// Shows the loop, then ends it (spec 003, AC-4.3). Waits for a runner, and reports its end.
pub fn run(args: &StopArgs) -> Result<ExitCode> {
    let meant = args.which.selected(Steering::Stop)?;
    let words = if let Some(change) = meant.name(NameKind::Change) {
        of_runner(args, &on_change(&meant.root, change)?, &printable(change))?
    } else if meant.name(NameKind::Feature).is_some() {
        of_feature(&meant)?
    } else {
        of_task(&meant)?
    };
    args.answer.say(&words, &meant)
}

/// A loop that ends outside of its session's stop is told at the next one, also where its own agent ends it.
fn telling() -> EndNotice {
    if in_agents_session() { EndNotice::OfAgent } else { EndNotice::AtNextStop }
}

fn of_task(meant: &LoopHandle) -> Result<String> {
    let session = meant.name(NameKind::Session).unwrap_or_default();
    let text = cancel_task(&Loops::of(&meant.root), session, telling())?;
    let none = || Refusal::NoLoop(format!("session `{session}` has no loop that lives"));
    Ok(text.ok_or_else(none)?)
}

fn of_feature(meant: &LoopHandle) -> Result<String> {
    let (project, feature) = (meant.project(), meant.feature()?);
    let CancelledFeature { summary, headline, cleanup } =
        cancel_feature(&project, &feature, own_session().as_deref(), telling())?;
    Ok(format!("{summary}\n\n{headline} {cleanup}"))
}

fn of_runner(args: &StopArgs, running: &Running, change: &str) -> Result<String> {
    ask(running, RunnerRequest::Stop)?;
    if args.wait == 0 {
        return Ok(format!("The runner of `{change}` (process {}) was asked to end.", running.pid));
    }
    let deadline = Deadline::after(Duration::from_secs(args.wait));
    // A younger process is another runner.
    let is_other = |holder: Option<Holder>| holder.is_none_or(|other| other.pid != running.pid);
    // A failed look proves nothing.
    let has_left = || holder(&running.folder).is_ok_and(is_other);
    while !has_left() {
        if deadline.is_over() {
            bail!(
                "the runner of `{change}` was asked to end, and is still there after {} s: process {}\nlook with `spool ralph --status --change {change}`, or end it with `kill {}`",
                args.wait,
                running.pid,
                running.pid
            );
        }
        world::pause(LOOK);
    }
    Ok(seen(&running.folder, change))
}

/// The runner's notes after its end.
fn seen(folder: &Path, change: &str) -> String {
    let state = read_state(folder).ok().flatten().map(|(state, _)| state).unwrap_or_default();
    let iterations = counted(state.current_iteration.into(), "iteration");
    let words = printable(if state.words.is_empty() { "it was stopped" } else { &state.words });
    match state.status {
        LoopStatus::Stopped => {
            format!("The loop of `{change}` has ended after {iterations}: {words}.")
        }
        status if status.is_over() => format!(
            "The loop of `{change}` had an end of its own ({}) after {iterations}: {words}.",
            status.word()
        ),
        _ => format!(
            "The runner of `{change}` is gone without a last word; the next `spool ralph` records what it was doing."
        ),
    }
}
