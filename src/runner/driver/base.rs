//! The project, which may be a folder of the work tree.

use std::path::PathBuf;

use super::parts::Driver;
use crate::system::names;

impl Driver<'_> {
    /// Returns the folder of the project in the work tree.
    pub(super) fn project_folder(&self) -> PathBuf {
        let below = self.plan.change.root.strip_prefix(self.view.folder).unwrap_or("".as_ref());
        let is_same = below.as_os_str().is_empty();
        if is_same { self.view.folder.to_owned() } else { self.view.folder.join(below) }
    }

    /// Returns the path of the project in the work tree with its last slash, empty where they are the same.
    pub(super) fn project_in_worktree(&self) -> String {
        let below = self.plan.change.root.strip_prefix(self.view.folder).unwrap_or("".as_ref());
        let path = names::with_slashes(below);
        if path.is_empty() { path } else { path + "/" }
    }
}
