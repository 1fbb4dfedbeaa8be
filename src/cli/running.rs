//! A runner that works on a change, and what is asked of it from another terminal.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::feature::project::printable;
use crate::runner::report::{live, only_live};
use crate::runner::requests::{Requests, RunnerRequest};
use crate::runner::state::{changes_with_state, find_state_folder, holder, is_change_id};
use crate::system::processes;
use crate::text;

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

/// Returns the runner on a change of a project; an error when none works on it, with the change that was probably meant.
pub fn on_change(root: &Path, change: &str) -> Result<Running> {
    let folder = if is_change_id(change) { find_state_folder(root, change)? } else { None };
    let holder = folder.as_deref().map_or(Ok(None), holder)?;
    let (Some(holder), Some(folder)) = (holder, folder) else {
        let live = live(root)?;
        let others = match live.as_slice() {
            [] => "no runner is running here".to_owned(),
            some => format!("runners are running on: {}", some.join(", ")),
        };
        let known = changes_with_state(root);
        let near = text::nearest(change, known.iter().map(String::as_str));
        let near = near.filter(|near| *near != change);
        let near = near.map_or_else(String::new, |near| format!("\ndid you mean `{near}`?"));
        bail!("no runner works on the change `{}`\n{others}{near}", printable(change));
    };
    Ok(Running { change: change.to_owned(), root: root.to_owned(), folder, pid: holder.pid })
}

/// Returns the only runner of a project; an error when there is none, or when there are several.
pub fn only(root: &Path) -> Result<Running> {
    let change = only_live(root)?.with_context(|| {
        format!("no runner is running in `{}`\n`spool status` shows what has run", root.display())
    })?;
    on_change(root, &change)
}
