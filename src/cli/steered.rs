//! What commands that steer loops share: requests to a runner at work, and the answer, words for a person or the loop's
//! new state for a program.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::handle::LoopHandle;
use crate::feature::project::printable;
use crate::forms;
use crate::forms::status::SteeredForm;
use crate::runner::options::Form;
use crate::runner::report::live;
use crate::runner::requests::{Requests, RunnerRequest};
use crate::runner::state::{find_state_folder, holder};
use crate::system::processes;

/// Who reads the answer.
#[derive(clap::Args)]
pub struct Answer {
    /// Print JSON for programs: the loop as it is now
    #[arg(long)]
    json: bool,
}

impl From<Form> for Answer {
    fn from(form: Form) -> Self {
        Self { json: form == Form::Json }
    }
}

impl Answer {
    pub fn say(&self, words: &str, steered: &LoopHandle) -> Result<ExitCode> {
        if self.json {
            let form = SteeredForm { r#loop: steered.form(), words: words.trim_end().to_owned() };
            dataln!("{}", forms::document(&form)?);
        } else {
            outln!("{}", words.trim_end());
        }
        Ok(ExitCode::SUCCESS)
    }
}

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
