//! `.spool/.state/ralph/<change>/`: its place, how it is made, and what is refused in its place.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::feature::project::printable;
use crate::store::read::{self, folder_inside};
use crate::store::write::{
    Flush, LEFT_ALONE, is_full, make_private_folder, remove_all_leftovers, write_private,
};
use crate::system::files::real_path;

/// Entries read of the folder with all states.
const MOST: usize = 10_000;
/// Bytes of a change's id: with its additions, it still names a file.
const LONGEST: usize = 200;

/// The folder with the state of a change's loop.
pub fn state_folder(root: &Path, change: &str) -> PathBuf {
    states_folder(root).join(change)
}

/// The folder with the states of all changes.
pub fn states_folder(root: &Path) -> PathBuf {
    root.join(".spool").join(".state").join("ralph")
}

/// The id can name a folder and nothing else: no `/`, no leading `.` or `-`, no control characters, at most 200 bytes.
pub fn is_change_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= LONGEST
        && !id.starts_with(['.', '-'])
        && !id.contains(['/', '\\'])
        && crate::text::is_plain(id)
}

/// Makes a change's state folder and returns its real path. No link leads the folder out of the project.
pub fn make_state_folder(root: &Path, change: &str) -> Result<PathBuf> {
    check_id(change)?;
    let root = real_path(root).with_context(|| format!("`{}`", root.display()))?;
    make(&root, &root.join(".spool"))?;
    let states = make_private(&root, &root.join(".spool").join(".state"))?;
    remove_all_leftovers(&states, LEFT_ALONE);
    let ignored = states.join(".gitignore");
    if ignored.symlink_metadata().is_err() {
        write_private(&ignored, b"*\n", Flush::ToSystem).map_err(|error| at(&ignored, &error))?;
    }
    let ralph = make_private(&root, &states.join("ralph"))?;
    let folder = make_private(&root, &ralph.join(change))?;
    make_private(&root, &folder.join("logs"))?;
    Ok(folder)
}

/// `None` if there is no state folder.
pub fn find_state_folder(root: &Path, change: &str) -> Result<Option<PathBuf>> {
    check_id(change)?;
    let folder = state_folder(root, change);
    match folder.symlink_metadata() {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(&folder, &error)),
    }
    let root = real_path(root).with_context(|| format!("`{}`", root.display()))?;
    real_inside(&root, &folder).map(Some)
}

/// Changes whose loops have left a state, by name.
pub fn changes_with_state(root: &Path) -> Vec<String> {
    let found = read::entries(&states_folder(root), MOST);
    let folders =
        found.entries.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    let mut changes: Vec<_> = names.filter(|name| is_change_id(name)).collect();
    changes.sort();
    changes
}

/// Makes a folder if missing. Returns its real path, inside `root`.
pub(super) fn make(root: &Path, folder: &Path) -> Result<PathBuf> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(at(folder, &error)),
        _ => real_inside(root, folder),
    }
}

/// Makes a folder for the owner alone.
pub(super) fn make_private(root: &Path, folder: &Path) -> Result<PathBuf> {
    make_private_folder(folder).map_err(|error| at(folder, &error))?;
    real_inside(root, folder)
}

fn real_inside(root: &Path, folder: &Path) -> Result<PathBuf> {
    match folder_inside(root, folder) {
        Ok(real) => Ok(real),
        Err(problem) => bail!("`{}`: {problem}\n{MOVE_AWAY}", folder.display()),
    }
}

/// An error if anything but a plain file is at this path.
pub(super) fn must_be_free_or_a_file(path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Ok(meta) if !meta.is_file() => {
            let what = match meta.file_type() {
                kind if kind.is_symlink() => "a symbolic link",
                kind if kind.is_dir() => "a folder",
                _ => "not a file",
            };
            bail!("`{}`: it is {what}, and a file is written there\n{MOVE_AWAY}", path.display())
        }
        _ => Ok(()),
    }
}

/// The error with the file's name, and what to do.
pub(super) fn at(path: &Path, error: &io::Error) -> anyhow::Error {
    let words = format!("`{}` cannot be written: {error}\n{MAKE_WRITABLE}", path.display());
    io::Error::new(error.kind(), words).into()
}

/// True if the cause is a full disk.
pub(super) fn is_disk_full(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is_full))
}

fn check_id(change: &str) -> Result<()> {
    if is_change_id(change) {
        return Ok(());
    }
    bail!(
        "the change `{}` has a name that no folder may have\nname it with letters, digits, `.`, `_` and `-`",
        printable(change)
    )
}

const MOVE_AWAY: &str = "move it away, then start again";
const MAKE_WRITABLE: &str = "make it writable and see that the disk has room, then start again";
