//! The files of a work tree, from names, sizes and times alone.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::{Hasher, Tree};
use crate::world::{self, Deadline};

/// The most entries that are looked at.
const ENTRIES: usize = 20_000;
/// The longest that looking for a fingerprint may take.
const LIMIT: Duration = Duration::from_millis(400);
/// Folders that hold no work of the agent's, or other people's.
const LEFT_OUT: [&str; 5] = [".git", "node_modules", "target", ".venv", "__pycache__"];
/// The loop's own files: they change at every iteration and prove nothing.
const OWN_FILES: [&str; 2] = [".speckit-state.json", ".progress.md"];

/// Returns the fingerprint of the tree below `root`, `Unknown` when it is too large to look through.
pub fn fingerprint(root: &Path) -> Tree {
    let mut sum = 0_u64;
    // A sum does not depend on the order in which the system lists the files.
    match walk(root, LIMIT, &mut |path, meta| sum = sum.wrapping_add(hash(path, meta))) {
        Whole::Seen => Tree::Hash(sum),
        Whole::TooLarge => Tree::Unknown,
    }
}

/// Whether all of a tree was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// All of it.
    Seen,
    /// It has more than 20,000 entries, or it took too long.
    TooLarge,
}

/// Shows `visit` every file below `root` and returns whether that was all of them.
///
/// The loop's own notes, `.git`, and folders that tools fill are left out; links are not followed.
pub fn walk(root: &Path, limit: Duration, visit: &mut dyn FnMut(&Path, &Metadata)) -> Whole {
    let deadline = Deadline::after(limit);
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    let mut entries = 0;
    while let Some(folder) = folders.pop() {
        let Ok(found) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in found.flatten() {
            entries += 1;
            if entries > ENTRIES || (entries % 256 == 0 && deadline.is_over()) {
                return Whole::TooLarge;
            }
            let name = entry.file_name();
            if left_out(&name.to_string_lossy()) {
                continue;
            }
            let (path, Ok(meta)) = (entry.path(), entry.metadata()) else {
                continue;
            };
            if is_own(&path) {
                continue;
            }
            if meta.is_dir() {
                folders.push(path);
            } else {
                visit(&path, &meta);
            }
        }
    }
    Whole::Seen
}

/// Returns a hash over a file's path, size and time.
pub fn hash(path: &Path, meta: &Metadata) -> u64 {
    let changed = meta.modified().map(world::millis).unwrap_or_default();
    Hasher::default()
        .with(path.as_os_str().as_encoded_bytes())
        .with_number(meta.len())
        .with_number(changed)
        .finish()
}

/// Returns whether a file or folder holds the notes of a loop, in whichever project of the tree.
pub fn is_own(path: &Path) -> bool {
    let name = path.file_name().map(std::ffi::OsStr::as_encoded_bytes).unwrap_or_default();
    let above = || path.parent().and_then(Path::file_name).map(std::ffi::OsStr::as_encoded_bytes);
    match name {
        b".state" => above() == Some(b".spool"),
        b"ralph" => above() == Some(b".claude"),
        _ if name.starts_with(b"loop-state.") => above() == Some(b".claude"),
        _ => false,
    }
}

fn left_out(name: &str) -> bool {
    // A leftover of a write in progress starts with a dot and ends in `.tmp`.
    LEFT_OUT.contains(&name)
        || OWN_FILES.contains(&name)
        || (name.starts_with('.') && name.as_bytes().ends_with(b".tmp"))
}
