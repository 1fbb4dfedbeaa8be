//! The files of a work tree, and those that an iteration changed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::git::Git;
use crate::evidence::contents::{Contents, ContentsLook};
use crate::evidence::tree::is_own;
use crate::system::names;
use crate::world::{Stopwatch, WallTime};

/// The limit of one look: an agent's run takes minutes, not milliseconds.
const LIMIT: Duration = Duration::from_secs(3);

/// Files and folders in one look, at 100 bytes of memory each.
const MOST: usize = 100_000;

/// The files at one moment.
///
/// In a tree that is too large to look through, only files that git calls dirty are known.
#[derive(Clone, Debug)]
pub struct WorkTreeFiles {
    contents: Contents,
    /// Only files that git calls dirty are known.
    pub by_git: bool,
    /// The beginning of the look.
    pub clock: Stopwatch,
    /// Nothing could be seen: too many files, and no git.
    pub blind: bool,
}

/// The differences in a work tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangedPaths {
    /// New, missing and changed files, by name.
    pub files: Vec<PathBuf>,
    /// The same in other work trees, and logs of repositories in this one.
    pub aside: Vec<PathBuf>,
}

impl WorkTreeFiles {
    /// The files now. Files untouched since an earlier look are not read again.
    pub fn of(
        root: &Path,
        git: Option<&Git>,
        earlier: Option<&Self>,
        run: Option<WallTime>,
    ) -> Self {
        let (clock, by_git) = (Stopwatch::start(), earlier.is_some_and(|earlier| earlier.by_git));
        let earlier = earlier.map(|earlier| &earlier.contents);
        let look = ContentsLook { root, without: "", named: &[], earlier, limit: LIMIT, run };
        let seen = if by_git { None } else { look.look_at(MOST).ok() };
        match (seen, git) {
            (Some(contents), _) => Self { contents, by_git: false, clock, blind: false },
            (None, None) => Self { contents: Contents::default(), by_git, clock, blind: true },
            (None, Some(git)) => {
                let mut dirty = git.dirty();
                dirty.retain(|path| !path.ancestors().any(is_own));
                let paths = dirty.iter().map(|path| path.as_os_str().as_encoded_bytes());
                let contents = look.look_at_these(paths);
                Self { contents, by_git: true, clock, blind: git.is_silent() }
            }
        }
    }

    /// All files, without a repository.
    pub fn all(root: &Path) -> Vec<PathBuf> {
        let (contents, clock) = (Contents::default(), Stopwatch::start());
        let nothing = Self { contents, by_git: false, clock, blind: true };
        Self::of(root, None, None, None).changed_since(&nothing).files
    }

    pub fn changed_since(&self, before: &Self) -> ChangedPaths {
        let mut changed = ChangedPaths::default();
        // A file that git does not name has not changed: it is not gone.
        let can_be_gone = self.by_git == before.by_git;
        for (file, is_gone, is_aside) in self.contents.changed_places(&before.contents) {
            if can_be_gone || !is_gone {
                let paths = if is_aside { &mut changed.aside } else { &mut changed.files };
                paths.push(PathBuf::from(names::from_vec(file.to_vec())));
            }
        }
        changed
    }

    /// A number that differs if any file differs.
    pub fn hash(&self) -> u64 {
        self.contents.hash()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn new_gone_and_different_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["same", "gone", "other", ".claude/settings.json"] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "1").unwrap();
        }
        let before = WorkTreeFiles::of(root, None, None, None);
        fs::remove_file(root.join("gone")).unwrap();
        fs::write(root.join("other"), "2").unwrap();
        fs::write(root.join("same"), "1").unwrap();
        fs::write(root.join("new"), "1").unwrap();
        fs::write(root.join(".claude/loop-state.json"), "{}").unwrap();
        for own in [".spool/.state/ralph/x", ".claude/ralph"] {
            fs::create_dir_all(root.join(own)).unwrap();
            fs::write(root.join(own).join("file"), "1").unwrap();
        }
        let after = WorkTreeFiles::of(root, None, Some(&before), None);
        let changed = after.changed_since(&before).files;
        assert_eq!(changed, ["gone", "new", "other"].map(PathBuf::from));
        assert_ne!(after.hash(), before.hash());
        let again = WorkTreeFiles::of(root, None, None, None);
        assert_eq!(again.changed_since(&after), ChangedPaths::default());
        assert_eq!(again.hash(), after.hash());
    }

    #[test]
    fn what_git_omits_is_not_gone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let files = |all: &[(&str, &str)], by_git| {
            for (path, text) in all {
                fs::write(root.join(path), text).unwrap();
            }
            let (named, limit) = (&[], LIMIT);
            let (earlier, run) = (None, None);
            let look = ContentsLook { root, without: "", named, earlier, limit, run };
            let contents = look.look_at_these(all.iter().map(|(path, _)| path.as_bytes()));
            WorkTreeFiles { contents, by_git, clock: Stopwatch::start(), blind: false }
        };
        let changed = |now: &WorkTreeFiles, then| now.changed_since(then).files;
        let all = files(&[("clean", "1"), ("dirty", "2"), ("same", "3")], false);
        let dirty = files(&[("dirty", "20"), ("same", "3")], true);
        assert_eq!(changed(&dirty, &all), [PathBuf::from("dirty")]);
        let committed = files(&[("same", "3")], true);
        assert_eq!(changed(&committed, &dirty), [PathBuf::from("dirty")]);
    }
}
