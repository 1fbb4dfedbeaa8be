//! `spool stop`: ends the loop of a runner from another terminal.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};

use super::context::{Where, whole};
use super::running::{ask, running};
use super::steered::{Answer, Steered};
use crate::feature::project::printable;
use crate::runner::requests::RunnerRequest;
use crate::runner::state::{LoopStatus, holder, read_state};
use crate::world::{self, Deadline};

/// How often to look whether the runner has left.
const LOOK: Duration = Duration::from_millis(50);

/// End a loop of `spool ralph` and its agent; its state stays.
///
/// The runner ends the agent program and all that it started, writes down what the iteration has done
/// so far, and leaves with the exit code 130.
#[derive(clap::Args)]
pub struct StopArgs {
    /// The change; without it, the only one that a runner works on
    #[arg(long, value_name = "ID")]
    change: Option<String>,
    /// How long to wait until the runner has left, in seconds; 0 asks and does not wait
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = whole::<u64, 0, 1_000_000>)]
    wait: u64,
    #[command(flatten)]
    answer: Answer,
    #[command(flatten)]
    place: Where,
}

/// Asks, waits, and says what became of it.
pub fn run(args: &StopArgs) -> Result<ExitCode> {
    let running = running(&args.place.start()?, args.change.as_deref())?;
    let change = printable(&running.change);
    ask(&running, RunnerRequest::Stop)?;
    let steered = Steered::Change(&running.root, &running.change);
    if args.wait == 0 {
        let words = format!("The runner of `{change}` (process {}) was asked to end.", running.pid);
        return args.answer.say(&words, &steered);
    }
    let deadline = Deadline::after(Duration::from_secs(args.wait));
    // A runner that began after the one that was asked is another one.
    let has_left = || match holder(&running.folder) {
        Ok(holder) => holder.is_none_or(|holder| holder.pid != running.pid),
        // Who cannot be seen for a moment has not left.
        Err(_) => false,
    };
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

/// What the runner has left behind.
fn seen(folder: &Path, change: &str) -> String {
    let state = read_state(folder).ok().flatten().map(|(state, _)| state).unwrap_or_default();
    let iterations = match state.current_iteration {
        1 => "1 iteration".to_owned(),
        several => format!("{several} iterations"),
    };
    let words = if state.words.is_empty() { "it was stopped" } else { &state.words };
    let words = printable(words);
    match state.status {
        LoopStatus::Stopped => {
            format!("The loop of `{change}` has ended after {iterations}: {words}.")
        }
        status if status.is_over() => {
            let status = status.word();
            format!(
                "The loop of `{change}` had an end of its own ({status}) after {iterations}: {words}."
            )
        }
        _ => format!(
            "The runner of `{change}` is gone without a last word; the next `spool ralph` records what it was doing."
        ),
    }
}
