//! Which loop a person means: one set of arguments for every command that shows or steers loops.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::context::{Where, own_session};
use super::names::{LoopName, NameKind, TypedName, one_of};
use super::running::{Running, on_change, only};
use crate::feature::project::{Feature, Project};
use crate::refusal::Refusal;
use crate::runner::report;
use crate::runner::requests::Requests;
use crate::runner::state::{changes_with_state, state_folder};
use crate::session::reconcile::settle_all;
use crate::session::select::{self, Meant, armed_features, live, live_ralph, to_cancel};
use crate::store::loops::Loops;

/// Why no runner is selected.
const NO_RUNNER: &str = "no loop of `spool ralph` has run here\n`spool status` shows what has run";

/// Which loop is meant.
#[derive(clap::Args)]
pub struct WhichLoop {
    /// The loop, by its session, feature or change; a short form will do where only one answers to it
    #[arg(value_name = "NAME", conflicts_with_all = ["session", "feature", "change"])]
    loop_name: Option<String>,
    /// The loop of this session, also by the beginning of its id
    #[arg(short, long, value_name = "ID", conflicts_with_all = ["feature", "change"])]
    session: Option<String>,
    /// The loop of this feature, such as 001-login, 1 or login
    #[arg(short, long, value_name = "NAME", conflicts_with = "change")]
    feature: Option<String>,
    /// The loop of `spool ralph` on this change, such as 002-01_add-login, 2-1 or login
    #[arg(short, long, value_name = "ID")]
    change: Option<String>,
    #[command(flatten)]
    place: Where,
}

/// What is to happen to a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steering {
    /// It ends.
    Stop,
    /// It pauses.
    Pause,
    /// It continues.
    Resume,
}

/// The loop that is to be steered.
pub enum SelectedLoop {
    /// That of a runner.
    Runner(Running),
    /// That of a session, of a task or of a feature.
    Session(Project, String),
    /// That of a feature, whether a session has it or none does.
    Feature(Project, Feature),
}

/// Where the loops are among which one is selected.
struct Around {
    /// The project with loops in its sessions, `None` where there is none.
    project: Option<Project>,
    /// The root of the project in which runners work, `None` where none has worked.
    runners: Option<PathBuf>,
    /// The session in which the command runs.
    own: Option<String>,
}

impl WhichLoop {
    /// Returns what was typed, `None` where nothing was.
    pub fn typed(&self) -> Option<TypedName<'_>> {
        let all = [
            (None, &self.loop_name),
            (Some(NameKind::Session), &self.session),
            (Some(NameKind::Feature), &self.feature),
            (Some(NameKind::Change), &self.change),
        ];
        all.into_iter().find_map(|(kind, text)| Some(TypedName { kind, text: text.as_ref()? }))
    }

    /// Returns where the command runs.
    pub fn place(&self) -> &Where {
        &self.place
    }

    /// Returns the loop that is to be steered: the named one; without a name this session's, or the only one. An error when
    /// there is none, or when it may be several.
    pub fn selected(&self, steering: Steering) -> Result<SelectedLoop> {
        let start = self.place.start()?;
        let project = self.place.with_loops().ok();
        let runners = self.place.runners();
        if project.is_none() && runners.is_none() {
            bail!(
                "no loop has run at `{}` or above, neither in a session nor of `spool ralph`\ngo to the project, or name it with --project DIR",
                start.display()
            );
        }
        if let Some(project) = &project {
            // Their notes are compared with what was armed.
            settle_all(&project.root);
        }
        let around = Around { project, runners, own: own_session() };
        match (self.typed(), steering) {
            (Some(typed), _) => around.named(typed, self.place.paths().as_ref()),
            (None, Steering::Stop) => around.to_stop(),
            (None, Steering::Pause | Steering::Resume) => around.to_pause_or_resume(steering),
        }
    }
}

impl Around {
    fn named(&self, typed: TypedName<'_>, paths: Option<&Project>) -> Result<SelectedLoop> {
        let names = self.names()?;
        let found = typed.find(&names, paths)?;
        let living: Vec<LoopName> = found.iter().filter(|it| it.lives).cloned().collect();
        let is_feature = |it: &&LoopName| it.kind == NameKind::Feature;
        let one = match living.as_slice() {
            // Of one that does not live, a feature may still have a state file.
            [] => found.iter().find(is_feature).or(found.first()),
            [one] => Some(one),
            several => return Err(typed.several(several)),
        };
        match (one, &self.runners) {
            (Some(one), _) => self.selected(one),
            (None, Some(root)) if typed.kind == Some(NameKind::Change) => {
                on_change(root, typed.text).map(SelectedLoop::Runner)
            }
            (None, _) => Err(typed.unknown(&names)),
        }
    }

    /// The loop with this name.
    fn selected(&self, name: &LoopName) -> Result<SelectedLoop> {
        let id = &name.id;
        if name.kind == NameKind::Change {
            let root = self.runners.as_ref().context(NO_RUNNER)?;
            return on_change(root, id).map(SelectedLoop::Runner);
        }
        let project = self.project.as_ref().context("no session has a loop here")?;
        if name.kind == NameKind::Session {
            return Ok(SelectedLoop::Session(project.clone(), id.clone()));
        }
        let feature = project.feature(id).map_err(Refusal::from)?;
        Ok(SelectedLoop::Feature(project.clone(), feature))
    }

    /// The loop that ends where none is named. In a session it is not that of another one; in a terminal one in a session and
    /// one of a runner are told apart by their names.
    fn to_stop(&self) -> Result<SelectedLoop> {
        let at_work = self.at_work()?;
        let Some(project) = &self.project else { return self.only_runner() };
        if self.own.is_none() && !at_work.is_empty() {
            let loops = Loops::of(&project.root);
            let features = armed_features(project, &loops).into_iter();
            let features = features.map(|it| LoopName::new(NameKind::Feature, &it.name));
            let tasks = live_ralph(&loops).into_iter();
            let tasks = tasks.map(|it| LoopName::new(NameKind::Session, &it.session));
            let in_sessions: Vec<LoopName> = features.chain(tasks).collect();
            return self.runner_beside(in_sessions, &at_work);
        }
        match to_cancel(project, None, None, self.own.as_deref()) {
            Ok(Meant::Task(session)) => Ok(SelectedLoop::Session(project.clone(), session)),
            Ok(Meant::Feature(feature)) => Ok(SelectedLoop::Feature(project.clone(), feature)),
            Err(_) if !at_work.is_empty() => self.only_runner(),
            Err(error) => Err(error.into()),
        }
    }

    /// The loop that pauses or continues where none is named: this session's, or the only one.
    fn to_pause_or_resume(&self, steering: Steering) -> Result<SelectedLoop> {
        let Some(project) = &self.project else { return self.only_runner() };
        let loops = Loops::of(&project.root);
        let own = self.own.as_deref();
        let mut live = live(&loops);
        if steering == Steering::Resume {
            live.retain(|record| record.pause().is_some());
        }
        let mut at_work = self.at_work()?;
        if steering == Steering::Resume && !live.is_empty() {
            at_work.retain(|change| self.is_paused(change));
        }
        let has_own = live.iter().any(|record| Some(record.session.as_str()) == own);
        if !has_own && !at_work.is_empty() {
            let in_sessions = live.iter().map(|it| LoopName::new(NameKind::Session, &it.session));
            return self.runner_beside(in_sessions.collect(), &at_work);
        }
        let record = match steering {
            Steering::Resume => select::to_resume(&loops, None, own)?,
            Steering::Stop | Steering::Pause => select::to_pause(&loops, None, own)?,
        };
        Ok(SelectedLoop::Session(project.clone(), record.session))
    }

    /// The only runner where no session has a loop; an error that names them all where one has.
    fn runner_beside(&self, sessions: Vec<LoopName>, at_work: &[String]) -> Result<SelectedLoop> {
        if sessions.is_empty() {
            return self.only_runner();
        }
        let changes = at_work.iter().map(|change| LoopName::new(NameKind::Change, change));
        let all: Vec<LoopName> = sessions.into_iter().chain(changes).collect();
        bail!("several loops are live here\n{}", one_of(&all))
    }

    fn only_runner(&self) -> Result<SelectedLoop> {
        let root = self.runners.as_ref().context(NO_RUNNER)?;
        only(root).map(SelectedLoop::Runner)
    }

    /// The changes that a runner works on.
    fn at_work(&self) -> Result<Vec<String>> {
        self.runners.as_deref().map_or(Ok(Vec::new()), report::live)
    }

    /// Whether a runner was asked to pause.
    fn is_paused(&self, change: &str) -> bool {
        let folder = self.runners.as_deref().map(|root| state_folder(root, change));
        folder.is_some_and(|folder| Requests::of(&folder).pause_asked().is_some())
    }

    /// All that a loop here can be called.
    fn names(&self) -> Result<Vec<LoopName>> {
        let mut names = Vec::new();
        let mut add = |kind, id: &str, lives| {
            names.push(LoopName { lives, ..LoopName::new(kind, id) });
        };
        if let Some(project) = &self.project {
            let loops = Loops::of(&project.root);
            let live = live(&loops);
            for session in select::sessions(&loops) {
                let lives = live.iter().any(|record| record.session == session);
                add(NameKind::Session, &session, lives);
            }
            let armed = armed_features(project, &loops);
            for feature in project.features() {
                add(NameKind::Feature, &feature.name, armed.contains(&feature));
            }
        }
        if let Some(root) = &self.runners {
            let at_work = self.at_work()?;
            for change in changes_with_state(root) {
                add(NameKind::Change, &change, at_work.contains(&change));
            }
        }
        Ok(names)
    }
}
