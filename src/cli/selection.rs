//! The loop that a person means: the same arguments for every command that shows or steers loops.

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
use crate::session::select::{
    armed_features, feature_to_cancel, live, live_ralph, ralph_to_cancel, select,
};
use crate::store::loops::Loops;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steering {
    Stop,
    Pause,
    Resume,
}

pub enum SelectedLoop {
    Runner(Running),
    /// The loop of a session, on a task or a feature.
    Session(Project, String),
    /// The loop of a feature, with or without a session.
    Feature(Project, Feature),
}

/// The loops to choose from.
struct Around {
    /// The project with loops in sessions.
    project: Option<Project>,
    /// The root of the project with runners.
    runners: Option<PathBuf>,
    /// The session in which the command runs.
    own: Option<String>,
}

impl WhichLoop {
    pub fn typed(&self) -> Option<TypedName<'_>> {
        let all = [
            (None, &self.loop_name),
            (Some(NameKind::Session), &self.session),
            (Some(NameKind::Feature), &self.feature),
            (Some(NameKind::Change), &self.change),
        ];
        all.into_iter().find_map(|(kind, text)| Some(TypedName { kind, text: text.as_ref()? }))
    }

    pub fn place(&self) -> &Where {
        &self.place
    }

    /// The named loop; without a name this session's, or the only one. Fails without a loop, and with several
    /// candidates.
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
        let living: Vec<LoopName> = found.iter().filter(|name| name.lives).cloned().collect();
        let is_feature = |name: &&LoopName| name.kind == NameKind::Feature;
        let one = match living.as_slice() {
            // A feature without a live loop may still have a state file.
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

    /// The loop to stop if none is named. In a session, never another session's loop. In a terminal, names have to tell
    /// a session's loop from a runner's.
    fn to_stop(&self) -> Result<SelectedLoop> {
        let at_work = self.at_work()?;
        let Some(project) = &self.project else { return self.only_runner() };
        if self.own.is_none() && !at_work.is_empty() {
            let loops = Loops::of(&project.root);
            let features = armed_features(project, &loops).into_iter();
            let features = features.map(|feature| LoopName::new(NameKind::Feature, &feature.name));
            let tasks = live_ralph(&loops).into_iter();
            let tasks = tasks.map(|task| LoopName::new(NameKind::Session, &task.session));
            let in_sessions: Vec<LoopName> = features.chain(tasks).collect();
            return self.runner_beside(in_sessions, &at_work);
        }
        let own = self.own.as_deref();
        let found = ralph_to_cancel(project, own).and_then(|task| match task {
            Some(record) => Ok(SelectedLoop::Session(project.clone(), record.session)),
            None => feature_to_cancel(project, None, own)
                .map(|feature| SelectedLoop::Feature(project.clone(), feature)),
        });
        match found {
            Err(_) if !at_work.is_empty() => self.only_runner(),
            found => Ok(found?),
        }
    }

    /// The loop to pause or resume if none is named: this session's, or the only one.
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
            let in_sessions =
                live.iter().map(|report| LoopName::new(NameKind::Session, &report.session));
            return self.runner_beside(in_sessions.collect(), &at_work);
        }
        let state = if steering == Steering::Resume { "paused" } else { "live" };
        let record = select(live, "loop", state, own)?;
        Ok(SelectedLoop::Session(project.clone(), record.session))
    }

    /// The only runner, if no session has a loop; otherwise an error lists all of them.
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

    /// The changes with a runner.
    fn at_work(&self) -> Result<Vec<String>> {
        self.runners.as_deref().map_or(Ok(Vec::new()), report::live)
    }

    /// A runner was asked to pause.
    fn is_paused(&self, change: &str) -> bool {
        let folder = self.runners.as_deref().map(|root| state_folder(root, change));
        folder.is_some_and(|folder| Requests::of(&folder).pause_asked().is_some())
    }

    /// Every name of a loop here.
    fn names(&self) -> Result<Vec<LoopName>> {
        let mut names = Vec::new();
        let mut add = |kind, id: &str, lives| {
            names.push(LoopName { lives, ..LoopName::new(kind, id) });
        };
        if let Some(project) = &self.project {
            let loops = Loops::of(&project.root);
            let live = live(&loops);
            for session in loops.sessions() {
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
