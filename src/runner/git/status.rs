//! Changed, new and ignored files by git's word, and a commit of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{Git, NOT_INSIDE, joined, path, paths, succeeded};
use crate::runner::capture::Captured;
use crate::runner::harness::Launch;

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

    /// The files among these that differ, and those of them that git does not know yet.
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
}
