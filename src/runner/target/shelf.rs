//! A project's changes, without archived ones.

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

/// Finished changes lie there, and no name matches them.
const ARCHIVE: &str = "archive";
/// A folder with one of these is a change.
const DOCUMENTS: [&str; 5] = ["proposal.md", TASKS, "design.md", "spec.md", "plan.md"];

#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Spool's and OpenSpec's, by id.
    changes: Vec<Change>,
    /// Spec-kit's features, by name.
    features: Vec<Change>,
    /// Refused folders, with the reason.
    pub refused: Vec<(String, String)>,
}

impl Listing {
    /// All changes that may be named.
    pub fn all(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().chain(&self.features)
    }

    /// Changes to choose from: those of spool and OpenSpec. If there are none, spec-kit's features, the current one
    /// first (spec 004).
    pub fn offered(&self, place: &Place) -> Result<Vec<Change>> {
        if !self.changes.is_empty() || self.features.is_empty() {
            return Ok(self.changes.clone());
        }
        let project = Project { root: place.root.clone() };
        let current = project.current_feature().map_err(|lost| anyhow!("{lost}"))?;
        let of_folder = |folder: &Path| self.features.iter().find(|known| known.folder == folder);
        let current = current.as_ref().and_then(|feature| of_folder(&feature.folder));
        let mut offered: Vec<Change> = current.into_iter().cloned().collect();
        offered.extend(self.features.iter().filter(|feature| Some(*feature) != current).cloned());
        Ok(offered)
    }
}

/// Two changes with one id would share a state: spool's own precedes OpenSpec's, which precedes a feature.
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

/// `None` where the folder holds no change; an error tells why it must not be used.
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
