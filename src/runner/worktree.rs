//! The files of the work tree, and which of them an iteration changed.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::git::Git;
use crate::engine::{Hasher, hash_of};
use crate::evidence::tree::{Bounds, FoundFile, Go, Whole, is_own, look};
use crate::system::folders::FileStat;
use crate::system::names;
use crate::world::{FileTime, Stopwatch};

/// The longest that one look may take: a run of an agent takes minutes, not milliseconds.
const LIMIT: Duration = Duration::from_secs(3);

/// The most files and folders that one look takes in: 60 bytes of memory each.
const MOST: usize = 100_000;

/// What the files looked like at one moment, by path, relative to the work tree.
///
/// In a tree that is too large to look through, only the files that git calls dirty are known.
#[derive(Clone, Debug)]
pub struct WorkTreeFiles {
    /// In the order of the hashes of their paths.
    seen: Vec<LookedAt>,
    /// All paths, one behind the other.
    paths: Vec<u8>,
    /// Whether only the files are known that git calls dirty.
    pub by_git: bool,
    /// How long ago the look began.
    pub clock: Stopwatch,
    /// Whether nothing at all could be seen: too many files, and no git.
    pub blind: bool,
}

#[derive(Clone, Debug)]
struct LookedAt {
    /// A hash of its path.
    path: u64,
    /// A hash of what the system says of it.
    state: u64,
    /// The place of its path.
    at: Range<usize>,
}

impl WorkTreeFiles {
    /// Returns the files of a work tree as they are now; `by_git` says that there were too many for a look before.
    pub fn of(worktree: &Path, git: Option<&Git>, by_git: bool) -> Self {
        let mut files = Self::new(false);
        let bounds = Bounds { since: FileTime::default(), entries: MOST, time: LIMIT };
        let mut visit = |found: FoundFile<'_>| {
            if let FoundFile::File { folder, name, stat, .. } = found {
                files.add(&[folder, name], hash(stat));
            }
            Go::On
        };
        if by_git || look(worktree, bounds, &mut visit) != Whole::Seen {
            files = Self { blind: git.is_none(), ..Self::new(git.is_some()) };
        }
        if let Some(git) = git.filter(|_| files.by_git) {
            let own = |path: &PathBuf| path.ancestors().any(is_own);
            for relative in git.dirty().into_iter().filter(|path| !own(path)) {
                let hash = FileStat::of_entry(&worktree.join(&relative)).map_or(0, |it| hash(&it));
                files.add(&[relative.as_os_str().as_encoded_bytes()], hash);
            }
            files.blind = git.is_silent();
        }
        files.seen.sort_unstable_by_key(|file| file.path);
        files
    }

    fn new(by_git: bool) -> Self {
        let (seen, paths, clock) = (Vec::new(), Vec::new(), Stopwatch::start());
        Self { seen, paths, by_git, blind: false, clock }
    }

    fn add(&mut self, path: &[&[u8]], state: u64) {
        let start = self.paths.len();
        for part in path {
            self.paths.extend_from_slice(part);
        }
        let at = start..self.paths.len();
        self.seen.push(LookedAt { path: hash_of(&self.paths[at.clone()]), state, at });
    }

    fn path(&self, file: &LookedAt) -> PathBuf {
        PathBuf::from(names::from_vec(self.paths[file.at.clone()].to_vec()))
    }

    /// Returns the files that are new, gone or different, in the order of their names.
    pub fn changed_since(&self, before: &Self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        // What git does not name has not changed: it is not gone.
        let can_be_gone = self.by_git == before.by_git;
        let mut earlier = before.seen.iter().peekable();
        for file in &self.seen {
            while let Some(gone) = earlier.next_if(|other| other.path < file.path) {
                changed.extend(can_be_gone.then(|| before.path(gone)));
            }
            let then = earlier.next_if(|other| other.path == file.path);
            if then.is_none_or(|then| then.state != file.state) {
                changed.push(self.path(file));
            }
        }
        changed.extend(earlier.filter(|_| can_be_gone).map(|gone| before.path(gone)));
        changed.sort();
        changed
    }

    /// Takes a file for the same as before: what was changed in it has been taken back.
    pub fn take_for_the_same(&mut self, path: &Path, before: &Self) {
        let path = names::with_slashes(path);
        let place = |files: &Self| {
            files.seen.binary_search_by_key(&hash_of(path.as_bytes()), |file| file.path)
        };
        let Ok(then) = place(before).map(|place| before.seen[place].state) else { return };
        match place(self) {
            Ok(now) => self.seen[now].state = then,
            Err(gone) => {
                self.add(&[path.as_bytes()], then);
                let last = self.seen.pop();
                self.seen.splice(gone..gone, last);
            }
        }
    }

    /// Returns a number that is another one when any file is another one.
    pub fn hash(&self) -> u64 {
        // The same change in another file is another change.
        let one = |file: &LookedAt| {
            Hasher::default().with_number(file.path).with_number(file.state).finish()
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
        let before = WorkTreeFiles::of(root, None, false);
        fs::remove_file(root.join("gone")).unwrap();
        fs::write(root.join("other"), "22").unwrap();
        fs::write(root.join("new"), "1").unwrap();
        fs::write(root.join(".claude/loop-state.json"), "{}").unwrap();
        for own in [".spool/.state/ralph/x", ".claude/ralph"] {
            fs::create_dir_all(root.join(own)).unwrap();
            fs::write(root.join(own).join("file"), "1").unwrap();
        }
        let after = WorkTreeFiles::of(root, None, false);
        let changed = after.changed_since(&before);
        assert_eq!(changed, ["gone", "new", "other"].map(PathBuf::from));
        assert_ne!(after.hash(), before.hash());
        assert_eq!(
            WorkTreeFiles::of(root, None, false).changed_since(&after),
            Vec::<PathBuf>::new()
        );
        let mut taken_back = after.clone();
        taken_back.take_for_the_same(Path::new("other"), &before);
        assert_eq!(taken_back.changed_since(&before), ["gone", "new"].map(PathBuf::from));
        taken_back.take_for_the_same(Path::new("gone"), &before);
        assert_eq!(taken_back.changed_since(&before), [PathBuf::from("new")]);
    }

    #[test]
    fn what_git_omits_is_not_gone() {
        let files = |all: &[(&str, u64)], by_git| {
            let mut files = WorkTreeFiles::new(by_git);
            for (path, state) in all {
                files.add(&[path.as_bytes()], *state);
            }
            files.seen.sort_unstable_by_key(|file| file.path);
            files
        };
        let all = files(&[("clean", 1), ("dirty", 2), ("same", 3)], false);
        let dirty = files(&[("dirty", 20), ("same", 3)], true);
        assert_eq!(dirty.changed_since(&all), [PathBuf::from("dirty")]);
        let committed = files(&[("same", 3)], true);
        assert_eq!(committed.changed_since(&dirty), [PathBuf::from("dirty")]);
    }
}
