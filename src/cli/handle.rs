//! The loops that commands choose from, those of sessions and those of runners in one list.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::feature::project::{Feature, Project, printable};
use crate::forms::loops::LoopForm;
use crate::forms::runner::RunnerForm;
use crate::refusal::Refusal;
use crate::runner::report::{self, RunnerReport};
use crate::runner::requests::Requests;
use crate::runner::state::{changes_with_state, state_folder};
use crate::session::report::StatusReport;
use crate::store::loops::Loops;
use crate::store::names::LoopKind;

/// In the order in which lists and errors prefer them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// A feature's name.
    Feature,
    /// A session's id.
    Session,
    /// The id of a runner's change.
    Change,
    /// The first words of a task.
    Task,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoopName {
    pub kind: NameKind,
    pub id: String,
}

/// One loop, or what may have one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopHandle {
    /// Never empty. Lists show the first one; a person may type any of them.
    pub names: Vec<LoopName>,
    pub lives: bool,
    pub paused: bool,
    /// The root of its project.
    pub root: PathBuf,
    /// A feature's folder, relative to the root.
    pub folder: String,
}

impl LoopName {
    pub fn new(kind: NameKind, id: &str) -> Self {
        Self { kind, id: id.to_owned() }
    }

    /// As a person types the name among several.
    pub fn typed(&self) -> String {
        let flag = match self.kind {
            NameKind::Session => "--session ",
            NameKind::Feature => "--feature ",
            NameKind::Change => "--change ",
            NameKind::Task => "",
        };
        format!("{flag}{}", printable(&self.id))
    }
}

impl LoopHandle {
    /// To look a name up: state, root and folder stay empty.
    pub fn named<const NAMES: usize>(names: [(NameKind, &str); NAMES]) -> Self {
        let names = names.into_iter().filter(|(_, id)| !id.is_empty());
        let names = names.map(|(kind, id)| LoopName::new(kind, id)).collect();
        Self { names, ..Self::default() }
    }

    pub fn at(root: &Path, kind: NameKind, id: &str) -> Self {
        Self { root: root.to_owned(), ..Self::named([(kind, id)]) }
    }

    pub fn of_feature(project: &Project, feature: &Feature) -> Self {
        let pin = Loops::of(&project.root).live_pin(&feature.name);
        let session = pin.as_ref().map_or("", |pin| &pin.session);
        let names = [(NameKind::Feature, &*feature.name), (NameKind::Session, session)];
        let (root, folder) = (project.root.clone(), feature.relative.clone());
        Self { lives: pin.is_some(), root, folder, ..Self::named(names) }
    }

    /// Every loop of sessions in the project and of runners in the folder, and every feature.
    pub fn all(project: Option<&Project>, runners: Option<&Path>) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        let mut known = BTreeSet::new();
        let mut add = |handle: Self| {
            if known.insert(handle.names[0].clone()) {
                known.extend(handle.names.iter().cloned());
                all.push(handle);
            }
        };
        if let Some(project) = project {
            let loops = Loops::of(&project.root);
            for record in loops.live_records() {
                let session = (NameKind::Session, record.session.as_str());
                let names = match record.kind {
                    LoopKind::Task => Self::named([session, (NameKind::Task, &record.about)]),
                    _ => Self::named([(NameKind::Feature, &record.about), session]),
                };
                let (root, folder) = (project.root.clone(), record.folder.clone());
                let paused = record.pause().is_some();
                add(Self { lives: true, paused, root, folder, ..names });
            }
            for feature in project.features() {
                add(Self::of_feature(project, &feature));
            }
            // A journal without a record may be the terminal's.
            for session in loops.sessions().into_iter().filter(|one| loops.knows(one)) {
                add(Self::at(&project.root, NameKind::Session, &session));
            }
        }
        if let Some(root) = runners {
            let at_work = report::live(root)?;
            for change in changes_with_state(root) {
                let lives = at_work.contains(&change);
                let requests = Requests::of(&state_folder(root, &change));
                let paused = lives && requests.pause_asked().is_some();
                add(Self { lives, paused, ..Self::at(root, NameKind::Change, &change) });
            }
        }
        all.sort_by(|one, other| one.names.cmp(&other.names));
        Ok(all)
    }

    /// The name of this kind.
    pub fn name(&self, kind: NameKind) -> Option<&str> {
        self.names.iter().find(|name| name.kind == kind).map(|name| name.id.as_str())
    }

    /// This session drives it.
    pub fn is_of(&self, session: Option<&str>) -> bool {
        session.is_some() && self.name(NameKind::Session) == session
    }

    pub fn is_one_of(&self, names: &[LoopName]) -> bool {
        self.names.iter().any(|name| names.contains(name))
    }

    pub fn project(&self) -> Project {
        Project { root: self.root.clone() }
    }

    /// The feature in the loop's folder, of its name on the other shelf, or one whose folder is gone while the loop lives.
    pub fn feature(&self) -> Result<Feature, Refusal> {
        let (project, name) = (self.project(), self.name(NameKind::Feature).unwrap_or_default());
        let found = project.feature_at(&self.folder).or_else(|_| project.feature(name));
        let lost = || project.lost(name, &self.folder).filter(|_| self.lives);
        found.or_else(|why| lost().ok_or(why)).map_err(Refusal::from)
    }

    /// Reads the loop again, for `--json`.
    pub fn form(&self) -> Option<LoopForm> {
        if let Some(change) = self.name(NameKind::Change) {
            return RunnerForm::from(&RunnerReport::of(&self.root, change).ok()?).r#loop;
        }
        let StatusReport { features, tasks, .. } = StatusReport::of(&self.project());
        let features = features.iter().filter_map(|feature| feature.form().r#loop);
        let mut all = features.chain(tasks.into_iter().map(|task| task.form));
        all.find(|found| match self.name(NameKind::Feature) {
            Some(feature) => found.about == feature,
            None => found.session.as_deref() == self.name(NameKind::Session),
        })
    }
}

/// The loop of the own session, or the only one; an error lists them. `state` is `live` or `paused`.
pub fn own_or_only(all: &[LoopHandle], own: Option<&str>, state: &str) -> Result<LoopHandle> {
    match (all.iter().find(|one| one.is_of(own)), all) {
        (Some(one), _) | (None, [one]) => Ok(one.clone()),
        _ => bail!("several loops are {state} here\n{}", one_of(all)),
    }
}

/// Lines that name the loops as a person types them.
pub fn one_of(all: &[LoopHandle]) -> String {
    let line = |one: &LoopHandle| {
        let task = one.name(NameKind::Task).filter(|_| one.names.len() > 1);
        let task = task.map(|task| format!("  {}", printable(task))).unwrap_or_default();
        one.names[0].typed() + &task
    };
    format!("name one of them:\n  {}", all.iter().map(line).collect::<Vec<_>>().join("\n  "))
}
