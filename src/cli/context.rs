//! Where a command runs: its project, and the session whose agent started it.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::feature::project::{Project, begin};
use crate::store::names::PausedBy;
use crate::system::files::real_path;
use crate::world;

/// Which project a command is about.
#[derive(clap::Args)]
pub struct Where {
    /// A folder in the project; without it, the current one
    #[arg(long, value_name = "DIR", global = true)]
    pub project: Option<PathBuf>,
}

impl Where {
    pub fn start(&self) -> Result<PathBuf> {
        match &self.project {
            Some(folder) => real_path(folder)
                .with_context(|| format!("cannot open the folder `{}`", folder.display())),
            None => std::env::current_dir().context("the current folder cannot be read"),
        }
    }

    /// The folder that has loops: this session's, or the nearest one; a ralph loop needs no project.
    pub fn with_loops(&self) -> Result<Project> {
        let start = self.start()?;
        let found = Project::with_loops(&start, own_session().as_deref());
        found.map_or_else(|| self.project(), Ok)
    }

    pub fn project(&self) -> Result<Project> {
        let start = self.start()?;
        begin(&start)?;
        Project::around(&start).with_context(|| {
            format!(
                "no spec-kit project at `{}`: no `.specify` folder here or above\ngo to the project, or name it with --project DIR",
                start.display()
            )
        })
    }
}

/// Returns the whole number in an argument; an error in words that stand behind the argument.
pub fn whole<T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| (LEAST..=MOST).contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("write a whole number from {LEAST} to {MOST}"))
}

/// The session that this command runs in, when an agent started it.
pub fn own_session() -> Option<String> {
    world::variable("CLAUDE_CODE_SESSION_ID")
        .filter(|session| crate::store::loops::is_session_id(session))
}

/// Returns who asks for something about a session's loop: that session, or a person in a terminal.
pub fn asked_from(session: &str) -> PausedBy {
    if own_session().as_deref() == Some(session) { PausedBy::Session } else { PausedBy::Terminal }
}
