//! Small questions to the disk, and removals for which a missing file is no error.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::store::write::remove_if_there;
use crate::system::files::real_path;

/// An error where the answer cannot be seen: setup adds or removes nothing on a guess.
pub fn exists(path: &Path) -> Result<bool> {
    path.try_exists().with_context(|| format!("could not look at `{}`", path.display()))
}

pub fn is_same_place(one: &Path, other: &Path) -> bool {
    match (real_path(one), real_path(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

pub fn remove_file(path: &Path) -> Result<()> {
    remove_if_there(path).with_context(|| format!("could not remove `{}`", path.display()))
}

pub fn remove_if_empty(folder: &Path) {
    let _left = fs::remove_dir(folder);
}

/// The missing folders of a path, outermost first.
pub fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        path.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}
