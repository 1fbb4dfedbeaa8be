//! The project around a folder, and the git work tree around the project.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::exec::find::leave_out;
use crate::feature::project::{LEVELS, begin, folder_typed};
use crate::store::read;
use crate::system::files::real_path;

/// A project has one of these folders, which hold its changes.
const MARKS: [&str; 3] = [".spool/changes", "openspec/changes", ".specify"];

/// A project and its work tree, as real paths.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where the search began.
    pub start: PathBuf,
    pub root: PathBuf,
    pub worktree: PathBuf,
}

impl Place {
    /// The nearest project at or above a folder.
    pub fn around(start: &Path) -> Result<Self> {
        let start = real_path(&begin(start)?)
            .with_context(|| format!("cannot open the folder `{}`", start.display()))?;
        let is_project = |folder: &&Path| MARKS.iter().any(|mark| folder.join(mark).is_dir());
        let root = start.ancestors().take(LEVELS).find(is_project).with_context(|| {
            format!(
                "no project at `{}`: no `.spool/changes`, no `openspec/changes` and no `.specify` here or above\ngo to the project, or name it with --project DIR\na change is a folder with a proposal: `.spool/changes/my-change/proposal.md`",
                start.display()
            )
        })?;
        let worktree = worktree_around(root);
        leave_out(root);
        leave_out(&worktree);
        Ok(Self { worktree, root: root.to_owned(), start })
    }

    /// True if a typed path leads to this folder or to the list in it, from where it was typed or from the project.
    pub fn is_at(&self, typed: &str, folder: &Path) -> bool {
        let path = &folder_typed(typed);
        [&self.start, &self.root]
            .iter()
            .any(|from| real_path(&from.join(path)).is_ok_and(|path| path == folder))
    }

    /// A sentence on where changes were looked for.
    pub fn nothing(&self, refused: &[(String, String)]) -> String {
        let root = self.root.display();
        let mut words = format!(
            "`{root}` has none in `.spool/changes` or `openspec/changes`, and no spec-kit feature\nwrite a proposal first, `.spool/changes/NAME/proposal.md`, with your list beside it as `tasks.md`"
        );
        for (id, why) in refused.iter().take(super::names::NAMES) {
            let _ = write!(words, "\nleft out: `{id}`: {why}");
        }
        words
    }
}

/// The root of the git work tree around a folder, or the folder itself. Starts no program.
pub fn worktree_around(folder: &Path) -> PathBuf {
    let mut above = folder.ancestors().take(LEVELS);
    above.find(|folder| is_worktree(folder)).unwrap_or(folder).to_owned()
}

/// `.git` holds a repository, or names the place of one.
fn is_worktree(folder: &Path) -> bool {
    let git = folder.join(".git");
    if git.is_dir() {
        return git.join("HEAD").exists();
    }
    read::read(&git, 4096).is_ok_and(|content| content.bytes.starts_with(b"gitdir:"))
}
