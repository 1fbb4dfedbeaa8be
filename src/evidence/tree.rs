//! A fingerprint of the files of a work tree, from names, sizes and times alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::{Hasher, Tree};
use crate::world::{self, Deadline};

/// The most entries that are looked at.
const ENTRIES: usize = 20_000;
/// The longest that looking may take.
const LIMIT: Duration = Duration::from_millis(400);
/// Folders that hold no work of the agent's, or other people's.
const LEFT_OUT: [&str; 5] = [".git", "node_modules", "target", ".venv", "__pycache__"];
/// The loop's own files: they change at every iteration and prove nothing.
const OWN_FILES: [&str; 2] = [".speckit-state.json", ".progress.md"];

/// Returns the fingerprint of the tree below `root`, `Unknown` when it is too large to look through.
///
/// The loop's own notes, `.git`, and folders that tools fill are left out; links are not followed.
pub fn fingerprint(root: &Path) -> Tree {
    let deadline = Deadline::after(LIMIT);
    let own_notes = root.join(".claude").join("ralph");
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    let mut entries = 0;
    let mut sum = 0_u64;
    while let Some(folder) = folders.pop() {
        let Ok(found) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in found.flatten() {
            entries += 1;
            if entries > ENTRIES || (entries % 256 == 0 && deadline.is_over()) {
                return Tree::Unknown;
            }
            let name = entry.file_name();
            if left_out(&name.to_string_lossy()) {
                continue;
            }
            let (path, Ok(meta)) = (entry.path(), entry.metadata()) else {
                continue;
            };
            if meta.is_dir() {
                if path != own_notes {
                    folders.push(path);
                }
                continue;
            }
            let changed = meta.modified().map(world::millis).unwrap_or_default();
            let hash = Hasher::default()
                .with(path.as_os_str().as_encoded_bytes())
                .with_number(meta.len())
                .with_number(changed)
                .finish();
            // A sum does not depend on the order in which the system lists the files.
            sum = sum.wrapping_add(hash);
        }
    }
    Tree::Hash(sum)
}

fn left_out(name: &str) -> bool {
    // A leftover of a write in progress starts with a dot and ends in `.tmp`.
    LEFT_OUT.contains(&name)
        || OWN_FILES.contains(&name)
        || (name.starts_with('.') && name.as_bytes().ends_with(b".tmp"))
}
