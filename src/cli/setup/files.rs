//! Small questions to the disk, and removals that are content when there is nothing to remove.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::store::write::remove_if_there;
use crate::system::files::real_path;

/// Returns whether something is at `path`; an error where that cannot be seen: nothing is added or removed on a guess.
pub fn exists(path: &Path) -> Result<bool> {
    path.try_exists().with_context(|| format!("could not look at `{}`", path.display()))
}

/// Returns whether two paths name the same folder.
pub fn is_same_place(one: &Path, other: &Path) -> bool {
    match (real_path(one), real_path(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Returns nothing, after no file is at `path`.
pub fn remove_file(path: &Path) -> Result<()> {
    remove_if_there(path).with_context(|| format!("could not remove `{}`", path.display()))
}

/// Removes an empty folder; one with anything in it stays.
pub fn remove_if_empty(folder: &Path) {
    let _left = fs::remove_dir(folder);
}

/// Returns the folders of `path` that do not exist yet, the outermost first.
pub fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        path.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}
