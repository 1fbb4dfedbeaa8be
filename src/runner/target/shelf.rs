//! The changes that a project has, archived ones left out.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use super::change::{Change, ChangeKind};
use super::names;
use super::place::Place;
use crate::evidence::task_list::TASKS;
use crate::feature::lists::{MOST_NAMES, names_in};
use crate::feature::project::Project;
use crate::store::read::{self, Problem};
use crate::system::files::real_path;
use crate::text::grouped;

/// The folder of finished changes; nothing in it is ever matched.
const ARCHIVE: &str = "archive";
/// A folder is a change when one of these is in it.
const DOCUMENTS: [&str; 5] = ["proposal.md", TASKS, "design.md", "spec.md", "plan.md"];

/// All changes of a project.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Spool's and OpenSpec's, by id.
    changes: Vec<Change>,
    /// Spec-kit's features, by name.
    features: Vec<Change>,
    /// Folders that are left out, and why.
    pub refused: Vec<(String, String)>,
}

impl Listing {
    /// Returns every change that may be named.
    pub fn all(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().chain(&self.features)
    }

    /// Returns the changes that are offered when none is named: those of spool and OpenSpec; where
    /// there are none, spec-kit's features, the current one first: a person chooses (spec 004).
    pub fn offered(&self, place: &Place) -> Result<Vec<Change>> {
        if !self.changes.is_empty() || self.features.is_empty() {
            return Ok(self.changes.clone());
        }
        let project = Project { root: place.root.clone() };
        let current = project.current_feature().map_err(|lost| anyhow!("{lost}"))?;
        let of_folder = |folder: &Path| self.features.iter().find(|it| it.folder == folder);
        let current = current.as_ref().and_then(|feature| of_folder(&feature.folder));
        let mut offered: Vec<Change> = current.into_iter().cloned().collect();
        offered.extend(self.features.iter().filter(|it| Some(*it) != current).cloned());
        Ok(offered)
    }
}

/// Returns the changes of a project.
///
/// Two of the same id would share one state: spool's own comes before OpenSpec's, and that before a feature.
pub fn list(place: &Place) -> Listing {
    let mut listing = Listing::default();
    for (kind, folder) in [(ChangeKind::Spool, ".spool"), (ChangeKind::OpenSpec, "openspec")] {
        let shelf = place.root.join(folder).join("changes");
        let (ids, has_more) = names_in(&shelf);
        if has_more {
            let why = format!(
                "it has more than {} entries, and only so many are read",
                grouped(MOST_NAMES as u64)
            );
            listing.refused.push((format!("{folder}/changes"), why));
        }
        for id in ids {
            let known = listing.changes.iter().any(|change| change.id == id);
            if known || id == ARCHIVE || id.starts_with('.') {
                continue;
            }
            match change(place, kind, &id, &shelf.join(&id)) {
                Ok(Some(change)) => listing.changes.push(change),
                Ok(None) => {}
                Err(why) => listing.refused.push((id, why)),
            }
        }
    }
    listing.changes.sort_by(|one, other| one.id.cmp(&other.id));
    let project = Project { root: place.root.clone() };
    for feature in project.features() {
        let known = listing.changes.iter().any(|change| change.id == feature.name);
        if known || feature.name == ARCHIVE || !has_documents(&feature.folder) {
            continue;
        }
        listing.features.push(entry(place, ChangeKind::SpecKit, feature.name, feature.folder));
    }
    listing
}

/// The change in a folder, `None` where the folder holds none; an error says why it must not be used.
fn change(
    place: &Place,
    kind: ChangeKind,
    id: &str,
    path: &Path,
) -> Result<Option<Change>, String> {
    let folder = match read::folder_inside(&place.root, path) {
        Ok(folder) => folder,
        Err(Problem::NotAFolder | Problem::Missing) => return Ok(None),
        Err(problem) => return Err(problem.to_string()),
    };
    // A link from the shelf into its archive brings nothing back.
    let shelf = path.parent().and_then(|shelf| real_path(shelf).ok());
    let archived = shelf.is_some_and(|shelf| folder.starts_with(shelf.join(ARCHIVE)));
    if archived || !has_documents(&folder) {
        return Ok(None);
    }
    Ok(Some(entry(place, kind, id.to_owned(), folder)))
}

fn has_documents(folder: &Path) -> bool {
    DOCUMENTS.iter().any(|name| folder.join(name).is_file())
}

fn entry(place: &Place, kind: ChangeKind, id: String, folder: PathBuf) -> Change {
    let module = match kind {
        ChangeKind::Spool | ChangeKind::OpenSpec => names::module_of(&id).map(str::to_owned),
        ChangeKind::SpecKit => None,
    };
    Change { id, kind, folder, root: place.root.clone(), worktree: place.worktree.clone(), module }
}
