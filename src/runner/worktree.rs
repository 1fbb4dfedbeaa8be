//! The files of the work tree, and which of them an iteration changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::git::Git;
use crate::engine::Hasher;
use crate::evidence::tree::{Bounds, FoundFile, Go, Whole, is_own, look};
use crate::system::folders::FileStat;
use crate::system::names;
use crate::world::FileTime;

/// The longest that one look may take: a run of an agent takes minutes, not milliseconds.
const LIMIT: Duration = Duration::from_secs(3);

/// The most files and folders that one look takes in.
const MOST: usize = 50_000;

/// What the files looked like at one moment, by path, relative to the work tree.
///
/// In a tree that is too large to look through, only the files that git calls dirty are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkTreeFiles {
    seen: BTreeMap<PathBuf, u64>,
    /// Whether nothing at all could be seen: too many files, and no git.
    pub blind: bool,
}

impl WorkTreeFiles {
    /// Returns the files of a work tree as they are now.
    pub fn of(worktree: &Path, git: Option<&Git>) -> Self {
        let mut files = Self::default();
        let bounds = Bounds { since: FileTime::default(), entries: MOST, time: LIMIT };
        let whole = look(worktree, bounds, &mut |found| {
            if let FoundFile::File { folder, name, stat, .. } = found {
                let path = PathBuf::from(names::from_vec([folder, name].concat()));
                files.seen.insert(path, hash(stat));
            }
            Go::On
        });
        if whole == Whole::Seen {
            return files;
        }
        files.seen.clear();
        match git {
            None => files.blind = true,
            Some(git) => {
                let own = |path: &PathBuf| path.ancestors().any(is_own);
                for relative in git.dirty().into_iter().filter(|path| !own(path)) {
                    let path = worktree.join(&relative);
                    let hash = FileStat::of_entry(&path).map_or(0, |stat| hash(&stat));
                    files.seen.insert(relative, hash);
                }
                files.blind = git.is_silent();
            }
        }
        files
    }

    /// Returns the files that are new, gone or different, in the order of their names.
    pub fn changed_since(&self, before: &Self) -> Vec<PathBuf> {
        let new_or_different =
            self.seen.iter().filter(|(path, hash)| before.seen.get(*path) != Some(*hash));
        let gone = before.seen.iter().filter(|(path, _)| !self.seen.contains_key(*path));
        let mut changed: Vec<PathBuf> =
            new_or_different.chain(gone).map(|(path, _)| path.clone()).collect();
        changed.sort();
        changed
    }

    /// Takes a file for the same as before: what was changed in it has been taken back.
    pub fn take_for_the_same(&mut self, path: &Path, before: &Self) {
        if let Some(hash) = before.seen.get(path) {
            self.seen.insert(path.to_owned(), *hash);
        }
    }

    /// Returns a number that is another one when any file is another one.
    pub fn hash(&self) -> u64 {
        // The same change in another file is another change.
        let one = |(path, hash): (&PathBuf, &u64)| {
            let path = path.as_os_str().as_encoded_bytes();
            Hasher::default().with(path).with_number(*hash).finish()
        };
        self.seen.iter().map(one).fold(0, u64::wrapping_add)
    }
}

/// A hash over a file's size, the time of its content, and what git knows of its mode.
fn hash(stat: &FileStat) -> u64 {
    Hasher::default()
        .with_number(stat.size())
        .with(&stat.modified_nanoseconds().to_le_bytes())
        .with_number(stat.mode())
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn new_gone_and_different_files_are_told_and_our_own_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["same", "gone", "other", ".claude/settings.json"] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "1").unwrap();
        }
        let before = WorkTreeFiles::of(root, None);
        fs::remove_file(root.join("gone")).unwrap();
        fs::write(root.join("other"), "22").unwrap();
        fs::write(root.join("new"), "1").unwrap();
        fs::write(root.join(".claude/loop-state.json"), "{}").unwrap();
        for own in [".spool/.state/ralph/x", ".claude/ralph"] {
            fs::create_dir_all(root.join(own)).unwrap();
            fs::write(root.join(own).join("file"), "1").unwrap();
        }
        let after = WorkTreeFiles::of(root, None);
        let changed = after.changed_since(&before);
        assert_eq!(changed, ["gone", "new", "other"].map(PathBuf::from));
        assert_ne!(after.hash(), before.hash());
        assert_eq!(WorkTreeFiles::of(root, None).changed_since(&after), Vec::<PathBuf>::new());
        let mut taken_back = after.clone();
        taken_back.take_for_the_same(Path::new("other"), &before);
        assert_eq!(taken_back.changed_since(&before), ["gone", "new"].map(PathBuf::from));
    }
}
