//! A runner that works on a change, and what is asked of it from another terminal.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::feature::project::printable;
use crate::runner::report::{live, only_live};
use crate::runner::requests::{Requests, RunnerRequest};
use crate::runner::state::{
    changes_with_state, find_state_folder, holder, is_change_id, states_folder,
};
use crate::runner::target::{matching, one_of};
use crate::system::processes;

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
