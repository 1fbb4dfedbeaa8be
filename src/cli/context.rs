//! Where a command runs: the project, and the session of the agent that started the command.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::person::in_agents_session;
use crate::evidence::commits::top_of;
use crate::evidence::work_trees::all_copies;
use crate::feature::project::{Project, begin};
use crate::runner::report::{self as runners, RunnerReport};
use crate::store::loops::Loops;
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

    /// As the function [`with_loops`], or the current folder: a ralph loop needs no project.
    pub fn with_loops(&self) -> Result<Project> {
        let (start, own) = (self.start()?, own_session());
        let look = if self.project.is_some() { Project::with_loops } else { with_loops };
        look(&start, own.as_deref()).map_or_else(|| self.project(), Ok)
    }

    /// The nearest folder with runners, or the only other work tree where one works.
    pub fn runners(&self) -> Option<PathBuf> {
        let start = self.start().ok()?;
        let near = runners::root_around(&start);
        let is_asked = self.project.is_none() && !in_agents_session();
        let other = near.or_else(|| top_of(&start)).filter(|_| is_asked);
        let other = other.and_then(|near| other_tree(near, &has_runner));
        other.or_else(|| near.map(Path::to_owned))
    }

    /// The folder for relative paths of features and changes; `None` where no loop has run.
    pub fn paths(&self) -> Option<Project> {
        self.with_loops().ok().or_else(|| Some(Project { root: self.runners()? }))
    }

    pub fn project(&self) -> Result<Project> {
        let start = self.start()?;
        begin(&start)?;
        Project::around(&start).with_context(|| {
            format!(
                "no spec-kit project at `{}`: no `.specify` folder here or above\ngo to the project, or name it with --project DIR; without one: /speckit:ralph-loop \"TASK\" in Claude Code",
                start.display()
            )
        })
    }
}

/// The folder of this session's loop, or the nearest one with loops. Where no loop lives there, the same folder in the
/// only other work tree with a live loop.
pub fn with_loops(start: &Path, own: Option<&str>) -> Option<Project> {
    let near = Project::with_loops(start, own);
    let around = near.as_ref().map_or_else(|| top_of(start), |near| Some(&near.root))?;
    let is_asked = own.is_some() || !in_agents_session();
    let has_its_loop = |root: &Path| has_loop(root, own.filter(|_| root != around));
    let other = is_asked.then(|| other_tree(around, &has_its_loop)).flatten();
    other.map_or(near, |root| Project::with_loops(&root, own))
}

/// The session has a loop here; without a session, any loop lives here.
pub fn has_loop(root: &Path, own: Option<&str>) -> bool {
    let loops = Loops::of(root);
    let has_task = || loops.records().any(|record| record.is_live_ralph());
    let any_lives = || !loops.live_pins().is_empty() || has_task();
    own.map_or_else(any_lives, |own| loops.knows(own))
}

pub fn has_runner(root: &Path) -> bool {
    runners::all(root).iter().any(RunnerReport::is_alive)
}

/// The same folder in the only other work tree that `is_meant`. An agent reaches no loop but its own.
fn other_tree(near: &Path, is_meant: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut others = all_copies(near).into_iter().flatten().filter(|root| is_meant(root));
    others.next().filter(|_| !is_meant(near) && others.next().is_none())
}

/// Parses a whole number within bounds. The error reads well behind the argument.
pub fn whole<T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| (LEAST..=MOST).contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("write a whole number from {LEAST} to {MOST}"))
}

/// The session of the agent that started this command.
pub fn own_session() -> Option<String> {
    world::variable("CLAUDE_CODE_SESSION_ID")
        .filter(|session| crate::store::loops::is_session_id(session))
}

/// The session itself, or a person in a terminal.
pub fn asked_from(session: &str) -> PausedBy {
    if own_session().as_deref() == Some(session) { PausedBy::Session } else { PausedBy::Terminal }
}
