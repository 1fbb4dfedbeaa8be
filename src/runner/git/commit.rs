//! A commit of what an iteration has left.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::status::GitStatus;
use super::{Git, succeeded};
use crate::runner::capture::Captured;
use crate::runner::harness::Launch;

impl Git {
    /// Commits those of these files that git calls changed or new, and no others; returns whether there are any.
    ///
    /// What the person has staged stays staged. A commit runs programs of the repository's own, its
    /// hooks, which take as long as they like: `run` runs git in a way that can be ended.
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
