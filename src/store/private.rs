//! A person's own files outside every project. A file is read only if no other user could write it, and written for its
//! owner alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::notes;
use super::read::{self, Problem, below};
use super::write::{Flush, LEFT_ALONE, remove_leftovers, write_private};
use crate::system::files::{self, real_path};
use crate::world;

/// Our folder in the person's state folder.
const OURS: &str = "ralph-speckit";

/// The folder for a person's decisions, `~/.local/state/ralph-speckit`; an error says why there is none.
pub fn state_home() -> io::Result<PathBuf> {
    let own = world::folder("XDG_STATE_HOME").map(|state| below(&state, &[OURS]));
    let home = || world::home().map(|home| below(&home, &[".local/state", OURS]));
    own.or_else(home).ok_or_else(|| {
        io::Error::other(format!(
            "there is no place outside of the project to keep what is armed: neither `{}` nor `XDG_STATE_HOME` names a folder",
            world::HOME
        ))
    })
}

/// `None` for no file. An error names a file that cannot be read, or that another user could have written.
pub(super) fn load_private<T: DeserializeOwned>(path: &Path, most: u64) -> io::Result<Option<T>> {
    read_private(path, most)?.map(|bytes| parsed(path, &bytes)).transpose()
}

/// An error of the kind `InvalidData` names the file.
pub(super) fn parsed<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> io::Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        let error = in_file(path, &error.to_string());
        io::Error::new(io::ErrorKind::InvalidData, error)
    })
}

pub(super) fn read_private(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => return Err(foreign(path, "it is a symbolic link")),
        Ok(meta) if !files::is_own_and_closed(&meta) => {
            let words = "others than you can write or read it (chmod 600)";
            // A closed file of another owner may be intact.
            let is_closed = files::is_closed_to_others(&meta);
            return Err(if is_closed { in_file(path, words) } else { foreign(path, words) });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    match read::read(path, most) {
        Err(Problem::Missing) => Ok(None),
        Err(problem) => Err(in_file(path, &problem.to_string())),
        Ok(content) => Ok(Some(content.bytes)),
    }
}

/// Only the owner can read the file. An error names the file.
pub(super) fn save<T: Serialize>(path: &Path, value: &T, most: u64) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    if bytes.len() as u64 > most {
        let words = format!("it would have {} bytes, and at most {most} are read", bytes.len());
        return Err(in_file(path, &words));
    }
    remove_leftovers(path, LEFT_ALONE);
    write_private(path, &bytes, Flush::ToDisk).map_err(|error| notes::in_file(path, &error))
}

/// Makes a folder for the owner alone, and missing folders above.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    files::folders_for_their_owner(builder.recursive(true));
    builder.create(folder).map_err(|error| in_file(folder, &error.to_string()))
}

/// An error if the path leads into the project through any links: the agent could write there.
pub(super) fn refuse_inside(root: &Path, path: &Path) -> io::Result<()> {
    let existing = path.ancestors().find_map(|above| real_path(above).ok());
    if path.starts_with(root) || existing.is_some_and(|real| real.starts_with(root)) {
        return Err(io::Error::other(format!(
            "what is armed cannot be kept in `{}`: that lies in the project, where the agent can write; set `XDG_STATE_HOME` to a folder outside of it",
            path.display()
        )));
    }
    Ok(())
}

/// The error for a file that others could have changed. The error stays until a person acts.
fn foreign(path: &Path, words: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, in_file(path, words))
}

pub(super) fn in_file(path: &Path, words: &str) -> io::Error {
    io::Error::other(format!("`{}`: {words}", path.display()))
}
