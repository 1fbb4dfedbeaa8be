//! Temporary files in git's own folder: the folder for all programs may be read-only, as in a container.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::evidence::commits::repository_of;

/// A work tree has one runner, so what a killed one has left is free.
const NAME: &str = "ralph-scratch";

/// An empty folder. Dropping it removes all that is in it.
pub(super) struct ScratchFolder(pub PathBuf);

impl ScratchFolder {
    pub fn of(worktree: &Path) -> io::Result<Self> {
        let repository = repository_of(worktree).ok_or(io::ErrorKind::NotFound)?;
        let folder = repository.join(NAME);
        remove(&folder);
        fs::create_dir(&folder)?;
        Ok(Self(folder))
    }
}

/// Removes the folder of a killed runner.
pub(super) fn remove_leftovers(worktree: &Path) {
    if let Some(repository) = repository_of(worktree) {
        remove(&repository.join(NAME));
    }
}

/// A link is removed, never followed. A folder that stays fails the next `create_dir`, which says so.
fn remove(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}
