//! Temporary files in git's own folder: named by the process that made them and locked by it, so that what a killed runner has left
//! there is known by that.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::evidence::commits::repository_of;
use crate::store::read;
use crate::system::processes;

/// How their names begin; the number of the process and a word by chance follow.
const BEGINNING: &str = "ralph-";
/// The length of that word.
const CHANCE: usize = 6;
/// What holds a folder for its process.
const HELD: &str = "held";

/// A temporary folder, removed with what is in it when it is dropped.
pub(super) struct ScratchFolder {
    // Closed first: Windows removes no folder with an open file.
    _held: File,
    /// The folder.
    pub(super) folder: tempfile::TempDir,
}

/// How the names of this process's files begin.
pub(super) fn beginning() -> String {
    format!("{BEGINNING}{}-", std::process::id())
}

/// Holds a file as long as it is open. Others may read it; where the file system has no locks, nobody removes what is left.
pub(super) fn hold(file: &File) {
    let _ = file.lock_shared();
}

/// Returns a new temporary folder in git's own folder; the one for all programs may be read-only, as in a container.
pub(super) fn scratch_folder(worktree: &Path) -> io::Result<ScratchFolder> {
    let folder = match repository_of(worktree) {
        Some(repository) => tempfile::TempDir::with_prefix_in(beginning(), repository)?,
        None => tempfile::tempdir()?,
    };
    let held = File::create_new(folder.path().join(HELD))?;
    hold(&held);
    Ok(ScratchFolder { _held: held, folder })
}

/// Removes the temporary files that a killed runner has left in git's own folder: those with a name of ours whose process is
/// gone and that nobody holds. What cannot be removed stays for the next run.
pub(super) fn remove_leftovers(worktree: &Path) {
    let Some(repository) = repository_of(worktree) else { return };
    for entry in fs::read_dir(repository).into_iter().flatten().flatten() {
        let owner = entry.file_name().to_str().and_then(owner_of);
        // Of a link this is not what it leads to.
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

/// The process that has made a file of this name, `None` for one that is not ours.
fn owner_of(name: &str) -> Option<u32> {
    let (process, chance) = name.strip_prefix(BEGINNING)?.split_once('-')?;
    let is_ours = chance.len() == CHANCE && chance.bytes().all(|it| it.is_ascii_alphanumeric());
    process.parse().ok().filter(|_| is_ours && process.bytes().all(|it| it.is_ascii_digit()))
}

/// Whether no process holds a file: one in another container may, whose number says nothing here.
fn is_free(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_file() => {
            read::open(path).is_ok_and(|(file, _)| file.try_lock().is_ok())
        }
        Ok(_) => false,
        // It was killed before it could hold its folder.
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_the_whole_name_is_ours() {
        assert_eq!(owner_of("ralph-4711-aB3xYz"), Some(4711));
        for name in
            ["ralph-aB3xYz", "ralph-4711-", "ralph-4711-aB3xY.", "ralph-+1-aB3xYz", "x-1-aB3xYz"]
        {
            assert_eq!(owner_of(name), None, "{name}");
        }
    }
}
