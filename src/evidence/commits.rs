//! Whether commits were made, told by the repository's own log of its head.

use std::fs;
use std::path::{Path, PathBuf};

use crate::engine::Hasher;
use crate::store::read;
use crate::world;

/// Returns a number that changes with every commit and checkout below `root`, 0 without a repository.
pub fn head_fingerprint(root: &Path) -> u64 {
    let Some(repository) = repository_of(root) else {
        return 0;
    };
    let Ok(meta) = fs::metadata(repository.join("logs").join("HEAD")) else {
        return 0;
    };
    let changed = meta.modified().map(world::millis).unwrap_or_default();
    Hasher::default().with_number(meta.len()).with_number(changed).finish()
}

/// Returns the folder with the repository's data, `None` without one; in a work tree `.git` is a file
/// that names it.
pub fn repository_of(root: &Path) -> Option<PathBuf> {
    let git =
        root.ancestors().take(8).map(|folder| folder.join(".git")).find(|git| git.exists())?;
    if git.is_dir() {
        return Some(git);
    }
    let content = read::read(&git, 4096).ok()?;
    let text = String::from_utf8(content.bytes).ok()?;
    let named = text.strip_prefix("gitdir:")?.trim();
    Some(git.parent()?.join(named))
}
