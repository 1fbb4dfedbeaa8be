//! Where a command runs: its project, and the session whose agent started it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::person::in_agents_session;
use crate::evidence::commits::top_of;
use crate::evidence::work_trees::all_copies;
use crate::feature::project::{Project, begin};
use crate::runner::report::{self as runners, RunnerReport};
use crate::session::select::live_ralph;
use crate::store::loops::Loops;
use crate::store::names::PausedBy;
use crate::store::pins::{PinKey, Pins};
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

    /// The folder that has loops, as [`with_loops`] has it; a ralph loop needs no project.
    pub fn with_loops(&self) -> Result<Project> {
        let (start, own) = (self.start()?, own_session());
        let look = if self.project.is_some() { Project::with_loops } else { with_loops };
        look(&start, own.as_deref()).map_or_else(|| self.project(), Ok)
    }

    /// The folder in which runners have worked: the nearest one, or that in the only other work tree where one works.
    pub fn runners(&self) -> Option<PathBuf> {
        let start = self.start().ok()?;
        let near = runners::root_around(&start);
        let is_asked = self.project.is_none() && !in_agents_session();
        let other = near.or_else(|| top_of(&start)).filter(|_| is_asked);
        let other = other.and_then(|near| other_tree(near, &has_runner));
        other.or_else(|| near.map(Path::to_owned))
    }

    /// The folder from which the paths of features and changes are read, `None` where no loop has run.
    pub fn paths(&self) -> Option<Project> {
        self.with_loops().ok().or_else(|| Some(Project { root: self.runners()? }))
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

/// Returns the folder that has loops: this session's, the nearest one, or where no loop lives in that, the same folder in the only
/// other work tree of the repository where one does.
pub fn with_loops(start: &Path, own: Option<&str>) -> Option<Project> {
    let near = Project::with_loops(start, own);
    let around = near.as_ref().map_or_else(|| top_of(start), |near| Some(&near.root))?;
    let is_asked = own.is_some() || !in_agents_session();
    let has_its_loop = |root: &Path| has_loop(root, own.filter(|_| root != around));
    let other = is_asked.then(|| other_tree(around, &has_its_loop)).flatten();
    other.map_or(near, |root| Project::with_loops(&root, own))
}

/// Returns whether this session has a loop in the project with this root, or without a session any loop lives.
pub fn has_loop(root: &Path, own: Option<&str>) -> bool {
    let loops = Loops::of(root);
    match own {
        Some(own) => loops.knows(own) || Pins::has(root, PinKey::Session(own)),
        None => !loops.live_claims().is_empty() || !live_ralph(&loops).is_empty(),
    }
}

/// Returns whether a runner works in the project with this root.
pub fn has_runner(root: &Path) -> bool {
    runners::all(root).iter().any(RunnerReport::is_alive)
}

/// The same folder in the only other work tree that is meant where this one is not. An agent reaches no loop but its own.
fn other_tree(near: &Path, is_meant: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut others = all_copies(near).into_iter().flatten().filter(|root| is_meant(root));
    others.next().filter(|_| !is_meant(near) && others.next().is_none())
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
