//! Finding the project around a folder, and the feature that is worked on.

use std::borrow::Cow;
use std::fmt;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use crate::engine::order::sorted;
use crate::exec::find::leave_out;
use crate::refusal::Refusal;
use crate::store::loops::{Loops, is_session_id};
use crate::store::names::LoopKind;
use crate::store::read::{self, Problem};
use crate::system::files::real_path;
use crate::system::names;
use crate::text;
use crate::world;

/// How far up a project's root is looked for.
const LEVELS: usize = 64;
/// The most that is read of a file that names the feature, in bytes.
const MOST: u64 = 1 << 16;
/// The most names in such a folder that are looked at, and the most features that are taken from them.
const MOST_NAMES: usize = 20_000;
const MOST_FEATURES: usize = 2_000;
/// Where features are kept, in the order in which a name is looked up.
pub const SHELVES: [&str; 2] = [".specify/specs", "specs"];

/// A spec-kit project; its root is a real path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The folder that holds `.specify`.
    pub root: PathBuf,
}

/// A feature of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The name of its folder, such as `001-user-login`.
    pub name: String,
    /// Its folder, a real path inside the project.
    pub folder: PathBuf,
    /// The same, relative to the project.
    pub relative: String,
}

/// Why a feature cannot be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeatureError {
    /// A name that no folder may have; control characters are already taken out.
    BadName(String),
    /// A link leads from its folder out of the project.
    Outside(String),
    /// There is no folder for it in this project.
    NoFolder(String, PathBuf),
    /// The file that should name it cannot be read or understood.
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
        if let FeatureError::NoFolder(name, root) = lost {
            let known = Project { root }.features();
            if let Some(near) = text::nearest(&name, known.iter().map(|it| it.name.as_str())) {
                return Self::new(what, format!("did you mean `{near}`?"));
            }
        }
        Self::new(what, "name a feature that exists, or make one with spec-kit first")
    }
}

impl Project {
    /// The nearest project at or above a folder.
    pub fn around(start: &Path) -> Option<Self> {
        let start = begin(start).ok()?;
        let mut folders = start.ancestors().take(LEVELS);
        folders.find(|folder| folder.join(".specify").is_dir()).and_then(Self::at)
    }

    /// Returns the project that this session has a loop in, or the nearest one.
    ///
    /// The agent's folder drifts with its `cd`, also into a project inside the project; a session
    /// stays with the loop it has.
    pub fn around_session(start: &Path, session: &str) -> Option<Self> {
        let begun = begin(start);
        let start = begun.as_deref().unwrap_or(start);
        let mut nearest = None;
        let mut with_loops = Vec::new();
        for folder in start.ancestors().take(LEVELS) {
            if Loops::are_in(folder) {
                if Loops::has_known(folder, session) {
                    return Self::at(folder).map(|near| near.unless_kept_above(session));
                }
                with_loops.push(folder);
            }
            if nearest.is_none() && begun.is_ok() && read::below(folder, &[".specify"]).is_dir() {
                nearest = Some(folder);
            }
        }
        // The notes of its loop may have been taken away.
        let others = with_loops.into_iter().filter(|folder| Some(*folder) != nearest);
        let is_kept = |project: &Self| project.keeps(session);
        others.filter_map(Self::at).find(is_kept).or_else(|| nearest.and_then(Self::at))
    }

    /// The project above in which a person armed the loop of this session, otherwise this one: notes in a
    /// folder of the project are quickly made, what was armed is not.
    fn unless_kept_above(self, session: &str) -> Self {
        if self.keeps(session) {
            return self;
        }
        let mut above = self.root.ancestors().skip(1).take(LEVELS);
        let root = above.find(|root| Loops::has_kept(root, session));
        root.map(Path::to_owned).map_or(self, |root| Self { root })
    }

    /// Returns whether the loop of this session is kept where no agent makes notes; opens no file.
    pub fn keeps(&self, session: &str) -> bool {
        Loops::has_kept(&self.root, session)
    }

    /// Returns the folder in which this session has a loop, or the nearest one that has loops or is
    /// a project.
    pub fn with_loops(start: &Path, session: Option<&str>) -> Option<Self> {
        let begun = begin(start);
        let start = begun.as_deref().unwrap_or(start);
        let mut folders = start.ancestors().take(LEVELS);
        let own = session.and_then(|session| folders.find(|it| Loops::has_known(it, session)));
        let mut folders = start.ancestors().take(LEVELS);
        let is_near = |it: &&Path| it.join(".specify").is_dir() || Loops::of(it).folder().is_dir();
        own.or_else(|| folders.find(is_near).filter(|_| begun.is_ok())).and_then(Self::at)
    }

    /// Returns whether a search that begins at `start` comes past this folder.
    pub fn looks_at(start: &Path, folder: &Path) -> bool {
        start.ancestors().take(LEVELS).any(|above| above == folder)
    }

    fn at(folder: &Path) -> Option<Self> {
        let root = real_path(folder).ok()?;
        leave_out(&root);
        Some(Self { root })
    }

    /// Returns the feature that is worked on: `SPECIFY_FEATURE_DIRECTORY`, `.specify/feature.json`,
    /// then `.specify/.current-feature`; `None` when nothing names one.
    pub fn current_feature(&self) -> Result<Option<Feature>, FeatureError> {
        if let Some(feature) = self.feature_of_folder()? {
            return Ok(Some(feature));
        }
        let named = self.pointed_at(".current-feature")?;
        let named = named.as_deref().map(str::trim).filter(|name| !name.is_empty());
        named.map(|name| self.feature(name)).transpose()
    }

    /// The feature whose folder a variable or a file names, wherever in the project that is.
    fn feature_of_folder(&self) -> Result<Option<Feature>, FeatureError> {
        if let Some(folder) = world::variable("SPECIFY_FEATURE_DIRECTORY") {
            return self.feature_at(&folder).map(Some);
        }
        let Some(text) = self.pointed_at("feature.json")? else { return Ok(None) };
        let named: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
            let path = self.root.join(".specify/feature.json");
            FeatureError::BadPointer(path, error.to_string())
        })?;
        let folder = named.get("feature_directory").and_then(|folder| folder.as_str());
        folder.map(|folder| self.feature_at(folder)).transpose()
    }

    /// The text of a file of spec-kit that names the feature, `None` where there is none.
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

    /// Returns the feature that is meant: the named one, the one the session drives, or the current one.
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
        if let Some(own) = own.filter(|own| own.ledger.is_live() && own.kind != LoopKind::Task)
            && let Ok(feature) = self.feature_at(&own.folder)
        {
            return Ok(Some(feature));
        }
        self.current_feature()
    }

    /// Returns the feature of this name.
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
            let claim = Loops::of(&self.root).claim(name).filter(|claim| claim.closed.is_none());
            let claimed = claim.and_then(|claim| self.feature_at(&claim.folder).ok());
            claimed.filter(|feature| feature.name == name).ok_or(error)
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

    /// Returns the feature that a person means: by its name, its folder or the list in that; by the number or the title alone,
    /// where only one has it.
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

    /// Returns the feature in a folder, given as a path relative to the project or inside it, or as that of its list; Windows
    /// may have written it.
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

    /// Returns the features that have a folder, by name; not all where there are more than anybody has.
    pub fn features(&self) -> Vec<Feature> {
        let mut found: Vec<Feature> = self.feature_of_folder().ok().flatten().into_iter().collect();
        for shelf in SHELVES {
            let entries = std::fs::read_dir(self.root.join(shelf)).into_iter().flatten().flatten();
            // What is no folder says so itself; a link may lead to one.
            let is_file = |entry: &DirEntry| entry.file_type().is_ok_and(|it| it.is_file());
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
        for claim in Loops::of(&self.root).live_claims() {
            if found.iter().all(|feature| feature.name != claim.about)
                && let Ok(feature) = self.feature_at(&claim.folder)
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

/// Where the search for a project begins: spec-kit's variable names a project inside of this folder, or of one above, for an agent
/// changes its folder.
pub fn begin(start: &Path) -> Result<Cow<'_, Path>, Refusal> {
    let Some(named) = world::variable("SPECIFY_INIT_DIR") else { return Ok(start.into()) };
    let mut folders = start.ancestors().take(LEVELS).map(|above| above.join(&named));
    folders.find(|folder| folder.join(".specify").is_dir()).map(Cow::Owned).ok_or_else(|| {
        Refusal::new(
            format!(
                "`SPECIFY_INIT_DIR` is `{}`, and that is no spec-kit project",
                printable(&named)
            ),
            "name the folder that has `.specify`, or unset the variable",
        )
    })
}

/// The folder in a typed path, which may be that of its list; Windows may have written it.
pub fn folder_typed(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.trim_end_matches('/');
    path.strip_suffix("/tasks.md").unwrap_or(path).trim_end_matches('/').to_owned()
}

/// Returns whether a name may be a feature's: no path, no control characters, no leading `-` or `.`.
pub fn is_feature_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with(['-', '.'])
        && !name.contains(['/', '\\', '\0'])
        && !name.contains("..")
        && text::is_plain(name)
}

/// Returns a text as one line of at most 200 characters that a terminal only shows.
pub fn printable(text: &str) -> String {
    text::title(text, 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_more_features_than_anybody_has_is_not_looked_through_to_its_end() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        for number in 0..MOST_FEATURES + 50 {
            std::fs::create_dir_all(root.join(format!("specs/{number:04}-x"))).unwrap();
        }
        std::fs::write(root.join("specs/notes.md"), "").unwrap();
        assert_eq!(Project { root }.features().len(), MOST_FEATURES);
    }
}
