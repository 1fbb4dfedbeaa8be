//! The JSON files of a loop: read within a bound, moved aside if broken, written whole for their owner alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::read::{self, Problem};
use super::write::{Flush, write_private};
use crate::world;

pub const VERSION: u32 = 1;
/// The most that is read of a record, in bytes.
pub(super) const MOST: u64 = 1 << 20;
/// Entries read of a folder with one entry for each session.
pub(super) const MOST_SESSIONS: usize = 100_000;
/// The folder of a project's loop notes, relative to its root.
pub(super) const NOTES: &str = ".claude/ralph";
/// Stands for the session in the journal of a loop that no session has taken yet.
pub const TERMINAL: &str = "terminal";
/// Stands for the session in the journal of an agent of `spool ralph`.
pub const RUNNER: &str = "ralph";

/// A session id that may name a folder: letters, digits, `.`, `_`, `-`, at most 128.
pub fn is_session_id(id: &str) -> bool {
    let first = id.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphanumeric())
        && id.len() <= 128
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        && !matches!(id, "claims" | "lock" | TERMINAL | RUNNER)
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

/// `None` for a missing file, and for a file that is not in our form. A file that cannot be opened is an error, because
/// it may be intact.
pub(super) fn load<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    Ok(read_ours(path, MOST)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// The bytes that [`load`] parses.
pub(super) fn read_ours(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    match read::read(path, most) {
        Err(Problem::Refused(why)) if !path.is_symlink() => {
            Err(io::Error::other(format!("`{}` cannot be read: {why}", path.display())))
        }
        content => Ok(content.ok().map(|content| content.bytes)),
    }
}

pub(super) fn save<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    write_private(path, &bytes, Flush::ToSystem).map_err(|error| in_file(path, &error))
}
