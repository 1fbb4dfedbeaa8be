//! Files that differ though the patch of git does not show how.

use std::path::PathBuf;

use super::{EMPTY_TREE, Git, NO_COMMIT, NOT_INSIDE, path};
use crate::evidence::tree::is_own;
use crate::store::read::read;

/// The most marked files that are compared with the commit; each costs a start of git.
const COMPARED: usize = 50;
/// The largest file that is compared, in bytes; a larger one counts as different.
const LARGEST: u64 = 4 << 20;

impl Git {
    /// Returns the files that differ from a commit, or from [`NO_COMMIT`], and whose changes [`Git::patch_since`] leaves out:
    /// text that `.gitattributes` calls binary, and files that are marked in the index as never changed.
    pub fn not_in_patch(&self, commit: &str) -> Vec<PathBuf> {
        let commit = if commit == NO_COMMIT { EMPTY_TREE } else { commit };
        let mut hidden = self.called_binary(commit);
        hidden.extend(self.marked_unchanged(commit));
        hidden.retain(|file| !file.ancestors().any(is_own));
        hidden.sort();
        hidden.dedup();
        hidden
    }

    /// Text files of which git counts no lines.
    fn called_binary(&self, commit: &str) -> Vec<PathBuf> {
        let counts =
            ["diff", "--numstat", "--no-ext-diff", "--no-textconv", "--no-renames", NOT_INSIDE];
        let printed =
            self.run(&[&counts[..], &["--relative", "-z", commit, "--", "."]].concat(), &[]);
        let printed = printed.unwrap_or_default();
        let entries = printed.split(|byte| *byte == 0);
        let files = entries.filter_map(|entry| entry.strip_prefix(b"-\t-\t")).map(path);
        files.filter(|file| self.is_text(file)).collect()
    }

    /// Files with a mark that lets git take them for unchanged, and that differ from the commit.
    fn marked_unchanged(&self, commit: &str) -> Vec<PathBuf> {
        let printed = self.run(&["ls-files", "-v", "-z", "--", "."], &[]).unwrap_or_default();
        let entries = printed.split(|byte| *byte == 0).filter(|entry| entry.len() > 2);
        let is_marked = |entry: &&[u8]| entry[0] == b'S' || entry[0].is_ascii_lowercase();
        let files = entries.filter(is_marked).map(|entry| path(&entry[2..]));
        // A sparse work tree has many marked files, and none of them is there.
        let there = files.filter(|file| self.worktree.join(file).is_file());
        let differs = |file: &PathBuf| {
            let now = read(&self.worktree.join(file), LARGEST).ok().map(|it| it.bytes);
            let then = file.to_str().and_then(|name| self.file_at(commit, name));
            now.is_none() || now != then
        };
        there.enumerate().filter(|(at, it)| *at >= COMPARED || differs(it)).map(|it| it.1).collect()
    }

    fn is_text(&self, file: &PathBuf) -> bool {
        let content = read(&self.worktree.join(file), LARGEST);
        content.is_ok_and(|it| !it.bytes.contains(&0) && String::from_utf8(it.bytes).is_ok())
    }
}
