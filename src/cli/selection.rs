//! Which loop is selected where it may be one in a session or one of a runner.

use anyhow::{Result, bail};

use super::context::Where;
use super::running::{Running, running};
use super::steered::Answer;
use crate::feature::project::Project;
use crate::runner::state::states_folder;
use crate::session::reconcile::settle_all;
use crate::session::select::live_ralph;
use crate::store::loops::Loops;

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
