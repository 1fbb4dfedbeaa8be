//! Temporary files in git's own folder. Each has its process's id in its name, and is locked, so that a killed runner's
//! leftovers can be told.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::evidence::commits::repository_of;
use crate::store::read;
use crate::system::processes;

/// The prefix; the process id and a random word follow.
const BEGINNING: &str = "ralph-";
/// The length of the random word.
const CHANCE: usize = 6;
/// The lock within a folder.
const HELD: &str = "held";

/// A temporary folder. Dropping it removes all that is in it.
pub(super) struct ScratchFolder {
    // Closed first: Windows removes no folder with an open file.
    _held: File,
    pub(super) folder: tempfile::TempDir,
}

/// The prefix of this process's files.
pub(super) fn beginning() -> String {
    format!("{BEGINNING}{}-", std::process::id())
}

/// Locks an open file; others may read it. Where the file system has no locks, leftovers stay.
pub(super) fn hold(file: &File) {
    let _ = file.lock_shared();
}

/// In git's own folder: the folder for all programs may be read-only, as in a container.
pub(super) fn scratch_folder(worktree: &Path) -> io::Result<ScratchFolder> {
    let folder = match repository_of(worktree) {
        Some(repository) => tempfile::TempDir::with_prefix_in(beginning(), repository)?,
        None => tempfile::tempdir()?,
    };
    let held = File::create_new(folder.path().join(HELD))?;
    hold(&held);
    Ok(ScratchFolder { _held: held, folder })
}

/// Removes a killed runner's files from git's own folder: those with our name whose process is gone and that nobody
/// locks. The next run tries the rest again.
pub(super) fn remove_leftovers(worktree: &Path) {
    let Some(repository) = repository_of(worktree) else { return };
    for entry in fs::read_dir(repository).into_iter().flatten().flatten() {
        let owner = entry.file_name().to_str().and_then(owner_of);
        // The kind of a link itself.
        let kind = entry.file_type().ok();
        let (Some(owner), Some(kind)) = (owner, kind) else { continue };
        let is_gone = owner != std::process::id() && !processes::is_alive(owner);
        let path = entry.path();
        if is_gone && kind.is_file() && is_free(&path) {
            let _ = fs::remove_file(path);
        } else if is_gone && kind.is_dir() && is_free(&path.join(HELD)) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// The process id in a file's name; `None` for foreign files.
fn owner_of(name: &str) -> Option<u32> {
    let (process, chance) = name.strip_prefix(BEGINNING)?.split_once('-')?;
    let is_ours = chance.len() == CHANCE && chance.bytes().all(|byte| byte.is_ascii_alphanumeric());
    process.parse().ok().filter(|_| is_ours && process.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Nobody locks the file. A process in another container may, whose id says nothing here.
fn is_free(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_file() => {
            read::open(path).is_ok_and(|(file, _)| file.try_lock().is_ok())
        }
        Ok(_) => false,
        // The process was killed before it could lock its folder.
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_are_ours() {
        assert_eq!(owner_of("ralph-4711-aB3xYz"), Some(4711));
        for name in
            ["ralph-aB3xYz", "ralph-4711-", "ralph-4711-aB3xY.", "ralph-+1-aB3xYz", "x-1-aB3xYz"]
        {
            assert_eq!(owner_of(name), None, "{name}");
        }
    }
}
