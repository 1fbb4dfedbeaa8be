//! Files with changes that git's patch does not show.

use std::path::PathBuf;

use super::{EMPTY_TREE, Git, NO_COMMIT, NOT_INSIDE, path};
use crate::evidence::tree::is_own;
use crate::store::read::read;

/// The most marked files that are compared with the commit; each comparison starts git.
const COMPARED: usize = 50;
/// In bytes; a larger file counts as different.
const LARGEST: u64 = 4 << 20;

impl Git {
    /// Files that differ from a commit or [`NO_COMMIT`], but not in [`Git::patch_since`]: text that `.gitattributes`
    /// calls binary, and files marked as never changed in the index.
    pub fn not_in_patch(&self, commit: &str) -> Vec<PathBuf> {
        let commit = if commit == NO_COMMIT { EMPTY_TREE } else { commit };
        let mut hidden = self.called_binary(commit);
        hidden.extend(self.marked_unchanged(commit));
        hidden.retain(|file| !file.ancestors().any(is_own));
        hidden.sort();
        hidden.dedup();
        hidden
    }

    /// Text files for which git counts no lines.
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

    /// Differing files that a mark lets git take for unchanged.
    fn marked_unchanged(&self, commit: &str) -> Vec<PathBuf> {
        let printed = self.run(&["ls-files", "-v", "-z", "--", "."], &[]).unwrap_or_default();
        let entries = printed.split(|byte| *byte == 0).filter(|entry| entry.len() > 2);
        let is_marked = |entry: &&[u8]| entry[0] == b'S' || entry[0].is_ascii_lowercase();
        let files = entries.filter(is_marked).map(|entry| path(&entry[2..]));
        // A sparse work tree has many marked files that are not there.
        let there = files.filter(|file| self.worktree.join(file).is_file());
        let differs = |file: &PathBuf| {
            let now = read(&self.worktree.join(file), LARGEST).ok().map(|file| file.bytes);
            let then = file.to_str().and_then(|name| self.file_at(commit, name));
            now.is_none() || now != then
        };
        let listed = there.enumerate().filter(|(at, file)| *at >= COMPARED || differs(file));
        listed.map(|(_, file)| file).collect()
    }

    fn is_text(&self, file: &PathBuf) -> bool {
        let content = read(&self.worktree.join(file), LARGEST);
        content.is_ok_and(|file| !file.bytes.contains(&0) && String::from_utf8(file.bytes).is_ok())
    }
}
