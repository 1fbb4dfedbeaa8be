//! Files that differ though the patch of git does not show how, or not at all.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{DIFF, EMPTY_TREE, Git, NO_COMMIT, path, paths};
use crate::evidence::ignored::is_noise;
use crate::store::read::read;
use crate::system::files::changed_at;
use crate::world::WallTime;

/// The most marked files that are compared with the commit; each comparison starts git.
const COMPARED: usize = 50;
/// In bytes; a larger file counts as different.
const LARGEST: u64 = 4 << 20;

impl Git {
    /// The files outside of the folder that differ from a commit, or from [`NO_COMMIT`], with paths from the top.
    pub fn changed_outside(&self, commit: &str) -> Vec<PathBuf> {
        let commit = if commit == NO_COMMIT { EMPTY_TREE } else { commit };
        let what = ["--name-only", "-z", commit, "--", ":/", ":(exclude)."];
        let asked = [&DIFF[..], &what].concat();
        paths(&self.run(&asked, &[]).unwrap_or_default())
    }

    /// The files that git does not know and that only a person's list of its own hides, changed at this time or later.
    pub fn excluded_since(&self, time: WallTime) -> Vec<PathBuf> {
        let asked = ["ls-files", "--others", "--exclude-per-directory=.gitignore", "-z", "--", "."];
        let shown = self.unknown_files();
        let is_new = |file: &Path| {
            let meta = self.worktree.join(file).symlink_metadata();
            meta.is_ok_and(|meta| !changed_at(&meta).seems_before(time, Duration::ZERO))
        };
        let is_noise = |file: &Path| file.iter().any(|name| is_noise(name.as_encoded_bytes()));
        let mut files = paths(&self.run(&asked, &[]).unwrap_or_default());
        files.retain(|file| !is_noise(file) && is_new(file) && !shown.contains(file));
        files
    }

    /// The files with a mark that lets git take them for unchanged, and that differ from a commit.
    pub fn marked_unchanged(&self, commit: &str) -> Vec<PathBuf> {
        let printed = self.run(&["ls-files", "-v", "-z", "--", "."], &[]).unwrap_or_default();
        let entries = printed.split(|byte| *byte == 0).filter(|entry| entry.len() > 2);
        let is_marked = |entry: &&[u8]| entry[0] == b'S' || entry[0].is_ascii_lowercase();
        let files = entries.filter(is_marked).map(|entry| path(&entry[2..]));
        // A sparse work tree has many marked files, and none of them is there.
        let there = files.filter(|file| self.worktree.join(file).is_file());
        let differs = |file: &PathBuf| {
            let now = read(&self.worktree.join(file), LARGEST).ok().map(|content| content.bytes);
            let then = file.to_str().and_then(|name| self.file_at(commit, name));
            now.is_none() || now != then
        };
        there
            .enumerate()
            .filter(|(at, file)| *at >= COMPARED || differs(file))
            .map(|(_, file)| file)
            .collect()
    }
}
