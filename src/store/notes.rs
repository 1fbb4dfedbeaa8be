//! The JSON files of a loop: read within a bound, moved aside if broken, written whole for their owner alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::read::{self, FileContent, Problem};
use super::write::{Flush, write_private};
use crate::world;

pub const VERSION: u32 = 1;
/// The most that is read of a record, in bytes.
pub(super) const MOST: u64 = 1 << 20;
/// Entries read of a folder with one entry for each session.
pub(super) const MOST_SESSIONS: usize = 100_000;
/// Where the notes on the loops of a project are, relative to its root.
pub(super) const NOTES: &str = ".claude/ralph";
/// Where the journal of loops is that no session has taken yet.
pub const TERMINAL: &str = "terminal";

/// A session id that may name a folder: letters, digits, `.`, `_`, `-`, at most 128.
pub fn is_session_id(id: &str) -> bool {
    let first = id.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphanumeric())
        && id.len() <= 128
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        && !matches!(id, "claims" | "lock" | TERMINAL)
}

/// Renames an unreadable file to `<name>.corrupt-<time>`.
pub fn put_aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = path.with_file_name(format!("{name}.corrupt-{}", world::now()));
    fs::rename(path, &aside).map_err(|error| in_file(path, &error))?;
    Ok(aside)
}

/// The error, with the file's name.
pub(super) fn in_file(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

/// Why a file of ours is not loaded.
pub(super) enum NotLoaded {
    /// Not in our form: a new file may take its place, and this one is renamed.
    Broken,
    /// Not to be opened or read now, perhaps as good as ever: it stays.
    Unopened(io::Error),
}

impl NotLoaded {
    /// `None` for a broken file; an error for an unopened one.
    pub(super) fn or_none<T>(self) -> io::Result<Option<T>> {
        match self {
            Self::Broken => Ok(None),
            Self::Unopened(error) => Err(error),
        }
    }
}

pub(super) fn load<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, NotLoaded> {
    read_ours(path, MOST)?.map(|bytes| taken_apart(&bytes)).transpose()
}

pub(super) fn taken_apart<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, NotLoaded> {
    serde_json::from_slice(bytes).map_err(|_| NotLoaded::Broken)
}

/// `None` for a missing file.
pub(super) fn read_ours(path: &Path, most: u64) -> Result<Option<Vec<u8>>, NotLoaded> {
    match read::read(path, most) {
        // A link to nothing blocks the way of the file to be written.
        Err(Problem::Missing) if path.is_symlink() => Err(NotLoaded::Broken),
        Err(Problem::Missing) => Ok(None),
        Err(Problem::Refused(why)) if !path.is_symlink() => {
            let words = format!("`{}` cannot be read: {why}", path.display());
            Err(NotLoaded::Unopened(io::Error::other(words)))
        }
        Err(_) => Err(NotLoaded::Broken),
        Ok(FileContent { bytes, .. }) => Ok(Some(bytes)),
    }
}

/// `None` for a missing or broken file.
pub(super) fn load_whole<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    load(path).or_else(NotLoaded::or_none)
}

pub(super) fn save<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    write_private(path, &bytes, Flush::ToSystem).map_err(|error| in_file(path, &error))
}
