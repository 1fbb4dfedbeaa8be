//! `spool stop`: ends the loop of a runner from another terminal.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::context::{Where, whole};
use super::steered::{Answer, Steered};
use crate::feature::project::{Project, printable};
use crate::runner::report::{live, only_live};
use crate::runner::requests::{Requests, RunnerRequest};
use crate::runner::state::{
    LoopStatus, changes_with_state, find_state_folder, holder, is_change_id, read_state,
    states_folder,
};
use crate::runner::target::{matching, one_of};
use crate::session::reconcile::settle_all;
use crate::session::select::live_ralph;
use crate::store::loops::Loops;
use crate::system::processes;
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

/// A runner.
pub struct Running {
    /// Its change.
    pub change: String,
    /// The project.
    pub root: PathBuf,
    /// Its state folder.
    pub folder: PathBuf,
    /// Its process, 0 when it is not known.
    pub pid: u32,
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

/// Writes a request down for a runner.
pub fn ask(running: &Running, request: RunnerRequest) -> Result<()> {
    Requests::of(&running.folder)
        .ask(request)
        .with_context(|| format!("`{}` cannot be written to", running.folder.display()))?;
    // While suspended, it reads no request.
    processes::wake(running.pid);
    Ok(())
}

/// Returns the runner that is meant: the one on this change, or the only one of the project at or above
/// `start`.
pub fn running(start: &Path, change: Option<&str>) -> Result<Running> {
    let root = start.ancestors().find(|folder| states_folder(folder).is_dir());
    let Some(root) = root else {
        bail!(
            "no loop of `spool ralph` has run at `{}` or above\ngo to the project, or name it with --project DIR",
            start.display()
        );
    };
    let live = live(root)?;
    let change = match change {
        Some(change) => id_of(change, &live, root)?,
        None => only_live(root)?.with_context(|| {
            format!("no runner is running in `{}`\nthere is nothing to end", root.display())
        })?,
    };
    let folder = if is_change_id(&change) { find_state_folder(root, &change)? } else { None };
    let holder = folder.as_deref().map_or(Ok(None), holder)?;
    let (Some(holder), Some(folder)) = (holder, folder) else {
        let others = match live.as_slice() {
            [] => "no runner is running here".to_owned(),
            some => format!("runners are running on: {}", some.join(", ")),
        };
        bail!("no runner works on the change `{}`\n{others}", printable(&change));
    };
    Ok(Running { change, root: root.to_owned(), folder, pid: holder.pid })
}

/// The id of the change that a short form stands for: among those with a runner, else among all.
fn id_of(name: &str, live: &[String], root: &Path) -> Result<String> {
    let at_work = matching(name, live);
    let found =
        if at_work.is_empty() { matching(name, &changes_with_state(root)) } else { at_work };
    match found.as_slice() {
        [id] => Ok(id.clone()),
        [] => Ok(name.to_owned()),
        several => {
            bail!("`{}` may be {} changes\n{}", printable(name), several.len(), one_of(several))
        }
    }
}

/// Which loop is selected where it may be one in a session or one of a runner.
#[derive(clap::Args)]
pub struct WhichLoop {
    /// The session with the loop; without it, this session's, or the only one that fits
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The change on which a loop of `spool ralph` works
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    change: Option<String>,
    #[command(flatten)]
    answer: Answer,
    #[command(flatten)]
    place: Where,
}

impl WhichLoop {
    /// Returns who reads the answer.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Returns the session that a person named.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Returns the runner that is selected: the one on the named change, or, when no session has a loop, the only
    /// one that runs.
    pub fn runner(&self) -> Result<Option<Running>> {
        if self.session.is_some() {
            return Ok(None);
        }
        let start = self.place.start()?;
        if self.change.is_some() {
            return running(&start, self.change.as_deref()).map(Some);
        }
        let Ok(project) = self.place.with_loops() else {
            // Without a place for loops in sessions, only a runner can be selected.
            if !start.ancestors().any(|folder| states_folder(folder).is_dir()) {
                bail!(
                    "no loop has run at `{}` or above, neither in a session nor of `spool ralph`\ngo to the project, or name it with --project DIR",
                    start.display()
                );
            }
            return running(&start, None).map(Some);
        };
        if !live_ralph(&Loops::of(&project.root)).is_empty() {
            return Ok(None);
        }
        Ok(running(&start, None).ok())
    }

    /// Returns the project with the loops in its sessions, after their notes were compared with what was armed.
    pub fn loops(&self) -> Result<(Project, Loops)> {
        let project = self.place.with_loops()?;
        settle_all(&project.root);
        let loops = Loops::of(&project.root);
        Ok((project, loops))
    }
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
