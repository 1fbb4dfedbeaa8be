//! A runner at work, and requests to it from another terminal.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::feature::project::printable;
use crate::runner::report::live;
use crate::runner::requests::{Requests, RunnerRequest};
use crate::runner::state::{find_state_folder, holder};
use crate::system::processes;

pub struct Running {
    /// The state folder.
    pub folder: PathBuf,
    /// The process id, 0 if unknown.
    pub pid: u32,
}

/// Leaves a request for the runner and wakes it.
pub fn ask(running: &Running, request: RunnerRequest) -> Result<()> {
    Requests::of(&running.folder)
        .ask(request)
        .with_context(|| format!("`{}` cannot be written to", running.folder.display()))?;
    // A suspended runner reads no request.
    processes::wake(running.pid);
    Ok(())
}

/// An error names the changes with a runner.
pub fn on_change(root: &Path, change: &str) -> Result<Running> {
    let folder = find_state_folder(root, change)?;
    let holder = folder.as_deref().map_or(Ok(None), holder)?;
    let (Some(holder), Some(folder)) = (holder, folder) else {
        let live = live(root)?;
        let others = match live.as_slice() {
            [] => "no runner is running here".to_owned(),
            some => format!("runners are running on: {}", some.join(", ")),
        };
        bail!("no runner works on the change `{}`\n{others}", printable(change));
    };
    Ok(Running { folder, pid: holder.pid })
}
