//! Changed, new and ignored files by git's word, those that the patch of git does not show, and a commit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{DIFF, EMPTY_TREE, Git, NO_COMMIT, NOT_INSIDE, joined, path, paths, succeeded};
use crate::evidence::commits::top_of;
use crate::evidence::ignored::is_noise;
use crate::runner::capture::Captured;
use crate::runner::harness::Launch;
use crate::store::read::read;
use crate::system::files::changed_at;
use crate::world::WallTime;

/// How git lists a submodule.
const LINK: &[u8] = b"160000 ";
/// The most marked files that are compared with the commit; each comparison starts git.
const COMPARED: usize = 50;
/// In bytes; a larger file counts as different.
const LARGEST: u64 = 4 << 20;

/// git's two letters for each file, with its path.
#[derive(Debug)]
pub struct GitStatus(Vec<([u8; 2], PathBuf)>);

impl GitStatus {
    pub fn not_ignored(&self, mut files: Vec<PathBuf>) -> Vec<PathBuf> {
        let ignored = self.0.iter().filter(|(letters, _)| letters == b"!!");
        // A folder stands for all that is in it.
        let ignored: BTreeSet<&Path> = ignored.map(|(_, path)| path.as_path()).collect();
        files.retain(|file| !file.ancestors().any(|part| ignored.contains(part)));
        files
    }

    /// All files but the ignored ones.
    pub(super) fn dirty(self) -> Vec<PathBuf> {
        self.0.into_iter().filter(|(letters, _)| letters != b"!!").map(|(_, path)| path).collect()
    }

    /// Of these files: all that differ, and those among them that git does not know yet (untracked or in conflict).
    pub(super) fn to_commit(&self, files: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let wanted: BTreeSet<&PathBuf> = files.iter().collect();
        let differs =
            |(letters, path): &&([u8; 2], PathBuf)| letters != b"!!" && wanted.contains(path);
        let (mut all, mut unknown) = (BTreeSet::new(), Vec::new());
        for ([index, file], path) in self.0.iter().filter(differs) {
            // git does not know files with conflicts either.
            if !b" MDT".contains(file) || *index == b'U' {
                unknown.push(path.clone());
            }
            all.insert(path.clone());
        }
        (all.into_iter().collect(), unknown)
    }
}

impl Git {
    /// Changed and new files, without ignored ones.
    pub fn dirty(&self) -> Vec<PathBuf> {
        self.status().map(GitStatus::dirty).unwrap_or_default()
    }

    /// Changed, new and ignored files.
    pub fn status(&self) -> Result<GitStatus> {
        let asked = [
            "status",
            "--porcelain=v1",
            "-z",
            "--no-renames",
            NOT_INSIDE,
            "--untracked-files=all",
            "--ignored=matching",
        ];
        let printed = self.run(&asked, &[]).context("`git status` failed")?;
        // An entry is two letters, a blank and the path.
        let entries = printed.split(|byte| *byte == 0).filter(|entry| entry.len() > 3);
        Ok(GitStatus(entries.map(|entry| ([entry[0], entry[1]], path(&entry[3..]))).collect()))
    }

    pub fn not_ignored(&self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        if files.is_empty() {
            return files;
        }
        // Code 1 with no output means that none is ignored.
        let ignored = self.run(&["check-ignore", "-z", "--stdin"], &joined(&files));
        let ignored = paths(&ignored.unwrap_or_default());
        files.into_iter().filter(|file| !ignored.contains(file)).collect()
    }

    /// Commits only changed and new files among these; returns whether there are any.
    ///
    /// Staged files stay staged. A commit runs the repository's hooks, which take any time, so `run` runs git in a way
    /// that can be ended.
    pub fn commit(
        &self,
        files: &[PathBuf],
        status: &GitStatus,
        message: &str,
        run: &mut dyn FnMut(Launch) -> Result<Captured>,
    ) -> Result<bool> {
        let (files, unknown) = status.to_commit(files);
        if files.is_empty() {
            return Ok(false);
        }
        if let Some(what) = self.in_the_middle_of() {
            bail!("{what} is under way in the repository, and a commit would become a part of it");
        }
        if !unknown.is_empty() {
            let added = self.with_names(&["add", "--force"], &unknown, run);
            succeeded("git add", &added.context("`git add` failed")?)?;
        }
        let commit = ["commit", "--quiet", "--only", "--message", message];
        let done = self.with_names(&commit, &files, run).context("`git commit` failed")?;
        succeeded("git commit", &done)?;
        Ok(true)
    }

    /// The files outside of the folder that differ from a commit, or from [`NO_COMMIT`], or that git does not know and
    /// that are changed at this time or later; with paths from the top.
    pub fn changed_outside(&self, commit: &str, time: WallTime) -> Vec<PathBuf> {
        let commit = if commit == NO_COMMIT { EMPTY_TREE } else { commit };
        let what = ["-z", "--", ":/", ":(exclude)."];
        let differ = [&DIFF[..], &["--name-only", commit], &what].concat();
        let unknown = ["ls-files", "--others", "--exclude-standard", "--full-name"];
        let mut unknown =
            paths(&self.run(&[&unknown[..], &what].concat(), &[]).unwrap_or_default());
        unknown.retain(|file| self.is_new(file, time));
        [paths(&self.run(&differ, &[]).unwrap_or_default()), unknown].concat()
    }

    /// The entry at this path, from the folder or from the top, is changed at this time or later.
    fn is_new(&self, file: &Path, time: WallTime) -> bool {
        let places = [Some(&*self.worktree), top_of(&self.worktree)].into_iter().flatten();
        let mut metas = places.flat_map(|place| place.join(file).symlink_metadata());
        metas.any(|meta| !changed_at(&meta).seems_before(time, Duration::ZERO))
    }

    /// The files and folders that git does not know, that are changed at this time or later, and that a person's own
    /// list hides, or a list that is changed since then, too.
    pub fn excluded_since(&self, time: WallTime) -> Vec<PathBuf> {
        let asked = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory"];
        let ignored = self.run(&[&asked[..], &["-z", "--", "."]].concat(), &[]).unwrap_or_default();
        let told = self.run(&["check-ignore", "-v", "-z", "--stdin"], &ignored).unwrap_or_default();
        // Four parts each: the list, a number, the rule, the file.
        let told = told.split(|byte| *byte == 0).map(path).collect::<Vec<_>>();
        let is_noise = |file: &Path| file.iter().any(|name| is_noise(name.as_encoded_bytes()));
        let is_told = |of: &&[PathBuf]| {
            let is_own = !of[0].ends_with(".gitignore");
            (is_own || self.is_new(&of[0], time)) && self.is_new(&of[3], time) && !is_noise(&of[3])
        };
        told.chunks_exact(4).filter(is_told).map(|of| of[3].clone()).collect()
    }

    /// The files among these that git compares in another form than they have.
    pub fn filtered(&self, files: &BTreeSet<String>) -> Vec<PathBuf> {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let asked = ["check-attr", "-z", "--stdin", "filter", "ident", "working-tree-encoding"];
        let told = self.run(&asked, &joined(&files)).unwrap_or_default();
        let told = told.split(|byte| *byte == 0).collect::<Vec<_>>();
        let is_set = |of: &&[&[u8]]| !matches!(of[2], b"unspecified" | b"unset");
        told.chunks_exact(3).filter(is_set).map(|of| path(of[0])).collect()
    }

    pub fn submodules(&self) -> Vec<PathBuf> {
        let printed = self.run(&["ls-files", "--stage", "-z", "--", "."], &[]).unwrap_or_default();
        let entries = printed.split(|byte| *byte == 0).filter(|entry| entry.starts_with(LINK));
        let tab = |entry: &[u8]| entry.iter().position(|byte| *byte == b'\t');
        entries.filter_map(|entry| Some(path(&entry[tab(entry)? + 1..]))).collect()
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
