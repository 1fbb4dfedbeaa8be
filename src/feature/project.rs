//! Finds the project around a folder, and the feature at work.

use std::borrow::Cow;
use std::fmt;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use crate::engine::order::{few, sorted};
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::task_list::TASKS;
use crate::exec::find::leave_out;
use crate::refusal::Refusal;
use crate::store::loops::{Loops, is_session_id};
use crate::store::names::LoopKind;
use crate::store::read::{self, Problem};
use crate::system::files::real_path;
use crate::system::names;
use crate::text;
use crate::world;

/// Folders up to a project's root.
pub const LEVELS: usize = 64;
/// Bytes of a file that names the feature.
const MOST: u64 = 1 << 16;
/// Names read from a folder with features, and features taken from it.
const MOST_NAMES: usize = 20_000;
const MOST_FEATURES: usize = 2_000;
/// Features that an error names.
const SHOWN: usize = 8;
/// Folders with features, in the order of a look-up.
pub const SHELVES: [&str; 2] = [".specify/specs", "specs"];

/// A spec-kit project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The folder with `.specify`, as a real path.
    pub root: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The folder's name, such as `001-user-login`.
    pub name: String,
    /// A real path inside the project.
    pub folder: PathBuf,
    /// Relative to the project.
    pub relative: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeatureError {
    /// No folder may have this name; control characters are already removed.
    BadName(String),
    /// A link leads out of the project.
    Outside(String),
    /// No such folder in this project.
    NoFolder(String, PathBuf),
    /// The file that should name the feature cannot be read or understood.
    BadPointer(PathBuf, String),
}

impl fmt::Display for FeatureError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadName(name) => write!(
                out,
                "`{name}` cannot be a feature: a name has no `/`, no `..`, no control characters and no leading `-`"
            ),
            Self::Outside(name) => {
                write!(out, "`{name}` cannot be a feature: a link leads out of the project")
            }
            Self::NoFolder(name, _) => {
                write!(
                    out,
                    "there is no folder for feature `{name}` in `.specify/specs` or `specs`"
                )
            }
            Self::BadPointer(path, why) => {
                write!(out, "`{}` does not name a feature: {why}", path.display())
            }
        }
    }
}

impl From<FeatureError> for Refusal {
    fn from(lost: FeatureError) -> Self {
        let what = lost.to_string();
        match lost {
            FeatureError::NoFolder(name, root) => {
                let project = Project { root };
                let (known, all) = (project.features(), project.features_in_words());
                let near = text::nearest(&name, known.iter().map(|one| one.name.as_str()));
                let meant = near.map(|near| format!("did you mean `{near}`? "));
                Self::new(what, meant.unwrap_or_default() + &all)
            }
            FeatureError::BadPointer(..) => Self::new(what, "mend that file, or name the feature"),
            _ => Self::new(what, "name a feature that exists, or make one with spec-kit first"),
        }
    }
}

impl Feature {
    pub fn task<'a>(&self, list: &'a TaskList, id: &str) -> Result<&'a Task, Refusal> {
        list.find(id).ok_or_else(|| self.no_task(list, id))
    }

    /// The refusal of an unknown id: names the list, and a task with a similar id.
    pub fn no_task(&self, list: &TaskList, id: &str) -> Refusal {
        let near = text::nearest(id, list.tasks.iter().map(|task| task.id.as_str()));
        let near = near.map(|near| format!("did you mean `{}`?", printable(near)));
        let (id, folder) = (printable(id), &self.relative);
        let next = near.unwrap_or_else(|| "`spool task list` shows them".to_owned());
        Refusal::new(format!("there is no task `{id}` in {folder}/{TASKS}"), next)
    }
}

impl Project {
    /// The nearest project at or above `start`.
    pub fn around(start: &Path) -> Option<Self> {
        let start = begin(start).ok()?;
        let mut folders = start.ancestors().take(LEVELS);
        folders.find(|folder| folder.join(".specify").is_dir()).and_then(Self::at)
    }

    /// The project with this session's loop, else the nearest one.
    ///
    /// An agent's `cd` may lead into a project inside the project; a session stays with its loop.
    pub fn around_session(start: &Path, session: &str) -> Option<Self> {
        let begun = begin(start);
        let start = begun.as_deref().unwrap_or(start);
        let mut nearest = None;
        let (mut with_loops, mut path) =
            (Vec::new(), PathBuf::with_capacity(start.as_os_str().len() + 16));
        for folder in start.ancestors().take(LEVELS) {
            if Loops::are_in(folder, &mut path) {
                if Loops::of(folder).knows(session) {
                    return Self::at(folder).map(|near| near.unless_kept_above(session));
                }
                with_loops.push(folder);
            }
            let mut is_project = || read::below_in(&mut path, folder, &[".specify"]).is_dir();
            if nearest.is_none() && begun.is_ok() && is_project() {
                nearest = Some(folder);
            }
        }
        // The notes of the session's loop may have been removed.
        let others = with_loops.into_iter().filter(|folder| Some(*folder) != nearest);
        let is_kept = |project: &Self| project.keeps(session);
        others.filter_map(Self::at).find(is_kept).or_else(|| nearest.and_then(Self::at))
    }

    /// The project above that keeps a record of this session, else this one: anybody can make notes in a folder of the project,
    /// but not a record.
    fn unless_kept_above(self, session: &str) -> Self {
        if self.keeps(session) {
            return self;
        }
        let mut above = self.root.ancestors().skip(1).take(LEVELS);
        let root = above.find(|root| Loops::has_kept(root, session));
        root.map(Path::to_owned).map_or(self, |root| Self { root })
    }

    /// A record of this session exists where no agent makes notes; it is not opened.
    pub fn keeps(&self, session: &str) -> bool {
        Loops::has_kept(&self.root, session)
    }

    /// The folder with this session's loop, or the nearest one that has loops or is a project.
    pub fn with_loops(start: &Path, session: Option<&str>) -> Option<Self> {
        let begun = begin(start);
        let start = begun.as_deref().unwrap_or(start);
        let mut folders = start.ancestors().take(LEVELS);
        let own = session.and_then(|session| folders.find(|at| Loops::of(at).knows(session)));
        let mut folders = start.ancestors().take(LEVELS);
        let is_near = |at: &&Path| at.join(".specify").is_dir() || Loops::of(at).folder().is_dir();
        own.or_else(|| folders.find(is_near).filter(|_| begun.is_ok())).and_then(Self::at)
    }

    /// A search from `start` comes past this folder.
    pub fn looks_at(start: &Path, folder: &Path) -> bool {
        start.ancestors().take(LEVELS).any(|above| above == folder)
    }

    fn at(folder: &Path) -> Option<Self> {
        let root = real_path(folder).ok()?;
        leave_out(&root);
        Some(Self { root })
    }

    /// The feature at work, by `SPECIFY_FEATURE_DIRECTORY`, `.specify/feature.json`, then `.specify/.current-feature`;
    /// `None` if nothing names one.
    pub fn current_feature(&self) -> Result<Option<Feature>, FeatureError> {
        if let Some(feature) = self.feature_of_folder()? {
            return Ok(Some(feature));
        }
        let named = self.pointed_at(".current-feature")?;
        let named = named.as_deref().map(str::trim).filter(|name| !name.is_empty());
        named.map(|name| self.feature(name)).transpose()
    }

    /// The feature that a variable or a file names by its folder, anywhere in the project.
    fn feature_of_folder(&self) -> Result<Option<Feature>, FeatureError> {
        if let Some(folder) = world::variable("SPECIFY_FEATURE_DIRECTORY") {
            return self.feature_at(&folder).map(Some);
        }
        let Some(text) = self.pointed_at("feature.json")? else { return Ok(None) };
        let bad = |why| FeatureError::BadPointer(self.root.join(".specify/feature.json"), why);
        let named: serde_json::Value = serde_json::from_slice(text.as_bytes())
            .map_err(|error| bad(format!("it is no JSON: {error}")))?;
        let folder = named.get("feature_directory").and_then(|folder| folder.as_str());
        let found = folder.map(|folder| self.feature_at(folder)).transpose();
        found.map_err(|error| match error {
            FeatureError::NoFolder(name, _) => bad(format!("there is no folder `{name}`")),
            other => other,
        })
    }

    /// The text of spec-kit's file that names the feature; `None` without the file.
    fn pointed_at(&self, name: &str) -> Result<Option<String>, FeatureError> {
        let folder = self.root.join(".specify");
        let real = read::folder_inside(&self.root, &folder);
        let bad = |why: String| Err(FeatureError::BadPointer(folder.join(name), why));
        match real.and_then(|real| read::read_in(&real, name, MOST)) {
            Ok(content) => match String::from_utf8(content.bytes) {
                // Some editors begin a file with a byte order mark.
                Ok(text) => Ok(Some(text.trim_start_matches('\u{feff}').to_owned())),
                Err(_) => bad("it is not UTF-8 text".to_owned()),
            },
            Err(Problem::Missing) => Ok(None),
            Err(problem) => bad(problem.to_string()),
        }
    }

    /// The named feature, else that of the session's loop, else the current one.
    pub fn feature_meant(
        &self,
        named: Option<&str>,
        session: Option<&str>,
    ) -> Result<Option<Feature>, FeatureError> {
        if let Some(name) = named {
            return self.feature(name).map(Some);
        }
        let loops = Loops::of(&self.root);
        let own = session.filter(|session| is_session_id(session));
        let own = own.and_then(|session| loops.peek(session));
        if let Some(own) = own.filter(|own| own.ledger.is_live() && own.kind != LoopKind::Task) {
            let found = self.feature_at(&own.folder);
            return found.or_else(|lost| self.lost(&own.about, &own.folder).ok_or(lost)).map(Some);
        }
        self.current_feature()
    }

    pub fn feature(&self, name: &str) -> Result<Feature, FeatureError> {
        if !is_feature_name(name) {
            return Err(FeatureError::BadName(printable(name)));
        }
        if let Ok(Some(feature)) = self.feature_of_folder()
            && feature.name == name
        {
            return Ok(feature);
        }
        self.on_shelf(name).or_else(|error| {
            let pin = Loops::of(&self.root).live_pin(name);
            let driven = pin.and_then(|pin| self.feature_at(pin.feature_folder()).ok());
            driven.filter(|feature| feature.name == name).ok_or(error)
        })
    }

    fn on_shelf(&self, name: &str) -> Result<Feature, FeatureError> {
        let folders =
            SHELVES.map(|shelf| read::folder_inside(&self.root, &self.root.join(shelf).join(name)));
        if let Some(folder) = folders.iter().flatten().next() {
            return Ok(self.feature_in(name, folder.clone()));
        }
        Err(if folders.contains(&Err(Problem::Outside)) {
            FeatureError::Outside(name.to_owned())
        } else {
            FeatureError::NoFolder(name.to_owned(), self.root.clone())
        })
    }

    /// The feature that a person typed: its name, its folder, the list in the folder; or its number or title, if only
    /// one feature has that.
    pub fn feature_typed(&self, typed: &str) -> Result<Feature, FeatureError> {
        if typed.contains(['/', '\\']) {
            return self.feature_at(typed).or_else(|error| {
                let here = world::current_folder().map(|here| here.join(folder_typed(typed)));
                here.and_then(|path| self.feature_at(path.to_str()?).ok()).ok_or(error)
            });
        }
        self.feature(typed).or_else(|error| {
            let is_called = |feature: &Feature| {
                let (number, title) = feature.name.split_once('-').unwrap_or_default();
                let number = number.parse::<u64>();
                [title, &feature.name].iter().any(|name| name.eq_ignore_ascii_case(typed))
                    && !typed.is_empty()
                    || (number.is_ok() && number == typed.parse())
            };
            let mut called = self.features().into_iter().filter(is_called);
            called.next().filter(|_| called.next().is_none()).ok_or(error)
        })
    }

    /// The feature of a loop whose folder is gone, so that the loop can still be ended.
    pub fn lost(&self, name: &str, folder: &str) -> Option<Feature> {
        let is_lost = matches!(self.feature_at(folder), Err(FeatureError::NoFolder(..)));
        let (name, relative) = (name.to_owned(), folder.to_owned());
        is_lost.then(|| Feature { name, folder: self.root.join(folder), relative })
    }

    /// The feature in a folder, whose path is relative to the project or inside it, or is that of its list. Windows may
    /// have written the path.
    pub fn feature_at(&self, folder: &str) -> Result<Feature, FeatureError> {
        let path = self.root.join(folder_typed(folder));
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !is_feature_name(name) || folder.contains("..") {
            return Err(FeatureError::BadName(printable(folder)));
        }
        match read::folder_inside(&self.root, &path) {
            Ok(real) if real != self.root => Ok(self.feature_in(name, real)),
            Err(Problem::Outside) => Err(FeatureError::Outside(printable(folder))),
            _ => Err(FeatureError::NoFolder(printable(folder), self.root.clone())),
        }
    }

    /// The names that a person can type, in a sentence.
    pub fn features_in_words(&self) -> String {
        match few(&mut self.features().iter().map(|one| printable(&one.name)), SHOWN) {
            none if none.is_empty() => "there is none yet: make one with spec-kit first".to_owned(),
            names => format!("there are: {names}"),
        }
    }

    /// Features with a folder, by name; beyond a large number the others are left out.
    pub fn features(&self) -> Vec<Feature> {
        let mut found: Vec<Feature> = self.feature_of_folder().ok().flatten().into_iter().collect();
        for shelf in SHELVES {
            let entries = std::fs::read_dir(self.root.join(shelf)).into_iter().flatten().flatten();
            // A link may lead to a folder; only plain files are skipped.
            let is_file = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
            let entries =
                entries.take(MOST_NAMES).filter(|entry| !is_file(entry)).take(MOST_FEATURES);
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            for name in names.filter(|name| is_feature_name(name)) {
                let known = found.iter().any(|feature| feature.name == name);
                if let (false, Ok(feature)) = (known, self.on_shelf(&name)) {
                    found.push(feature);
                }
            }
        }
        // A loop may drive a feature that nothing names any more.
        for pin in Loops::of(&self.root).live_pins() {
            if found.iter().all(|feature| feature.name != pin.about)
                && let Ok(feature) = self.feature_at(pin.feature_folder())
            {
                found.push(feature);
            }
        }
        sorted(found, |one, other| one.name.cmp(&other.name))
    }

    fn feature_in(&self, name: &str, folder: PathBuf) -> Feature {
        let relative = folder.strip_prefix(&self.root).unwrap_or(&folder);
        Feature { name: name.to_owned(), relative: names::with_slashes(relative), folder }
    }
}

/// The start of a search for a project. spec-kit's variable names a project inside of `start`, or of a folder above: an
/// agent changes its folder.
pub fn begin(start: &Path) -> Result<Cow<'_, Path>, Refusal> {
    let Some(named) = world::variable("SPECIFY_INIT_DIR") else { return Ok(start.into()) };
    let mut folders = start.ancestors().take(LEVELS).map(|above| above.join(&named));
    folders.find(|folder| folder.join(".specify").is_dir()).map(Cow::Owned).ok_or_else(|| {
        let named = printable(&named);
        Refusal::new(
            format!("`SPECIFY_INIT_DIR` is `{named}`, and that is no spec-kit project"),
            "name the folder that has `.specify`, or unset the variable",
        )
    })
}

/// The folder in a typed path, which may be that of its list. Windows may have written the path.
pub fn folder_typed(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.trim_end_matches('/');
    path.strip_suffix("/tasks.md").unwrap_or(path).trim_end_matches('/').to_owned()
}

/// A feature's name is no path, and has no control characters and no `-` or `.` in front.
pub fn is_feature_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with(['-', '.'])
        && !name.contains(['/', '\\', '\0'])
        && !name.contains("..")
        && text::is_plain(name)
}

/// One line of at most 200 characters without control characters.
pub fn printable(text: &str) -> String {
    text::title(text, 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_search_is_bounded() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        for number in 0..MOST_FEATURES + 50 {
            std::fs::create_dir_all(root.join(format!("specs/{number:04}-x"))).unwrap();
        }
        std::fs::write(root.join("specs/notes.md"), "").unwrap();
        assert_eq!(Project { root }.features().len(), MOST_FEATURES);
    }
}
