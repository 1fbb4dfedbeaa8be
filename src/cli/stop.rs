//! `spool stop`, also `spool cancel`: shows a loop and ends it; its notes stay.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};

use super::context::{own_session, whole};
use super::person::in_agents_session;
use super::running::{Running, ask};
use super::selection::{SelectedLoop, Steering, WhichLoop};
use super::steered::{Answer, Steered};
use crate::feature::project::{Feature, Project, printable};
use crate::runner::requests::RunnerRequest;
use crate::runner::state::{Holder, LoopStatus, holder, read_state};
use crate::session::cancel::{CancelledFeature, cancel_feature, cancel_task};
use crate::session::select::feature_of;
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
    match args.which.selected(Steering::Stop)? {
        SelectedLoop::Runner(running) => runner(args, &running),
        SelectedLoop::Feature(project, feature) => of_feature(args, &project, &feature),
        SelectedLoop::Session(project, session) => match feature_of(&project, &session) {
            Some(feature) => of_feature(args, &project, &feature),
            None => of_task(args, &project, &session),
        },
    }
}

/// A loop that ends outside of its session's stop is told at the next one, also where its own agent ends it.
fn telling() -> EndNotice {
    if in_agents_session() { EndNotice::OfAgent } else { EndNotice::AtNextStop }
}

fn of_task(args: &StopArgs, project: &Project, session: &str) -> Result<ExitCode> {
    let Some(text) = cancel_task(&Loops::of(&project.root), session, telling())? else {
        bail!(
            "session `{session}` has no loop that lives\n`spool status` lists the loops of this project"
        );
    };
    args.answer.say(&text, &Steered::Session(project, session))
}

fn of_feature(args: &StopArgs, project: &Project, feature: &Feature) -> Result<ExitCode> {
    let CancelledFeature { summary, headline, cleanup } =
        cancel_feature(project, feature, own_session().as_deref(), telling())?;
    let words = format!("{summary}\n\n{headline} {cleanup}");
    args.answer.say(&words, &Steered::Feature(project, &feature.name))
}

fn runner(args: &StopArgs, running: &Running) -> Result<ExitCode> {
    let change = printable(&running.change);
    ask(running, RunnerRequest::Stop)?;
    let steered = Steered::Change(&running.root, &running.change);
    if args.wait == 0 {
        let words = format!("The runner of `{change}` (process {}) was asked to end.", running.pid);
        return args.answer.say(&words, &steered);
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
    args.answer.say(&seen(&running.folder, &change), &steered)
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
