//! The base of all paths that a tick is judged by: the project, which may be a folder of the work tree.

use std::path::PathBuf;

use super::parts::Driver;
use crate::engine::proof::ChangedFile;
use crate::evidence::contents::Contents;
use crate::system::names;

impl Driver<'_> {
    /// Returns these paths of the project as paths of the work tree.
    pub(super) fn in_worktree(&self, paths: &[String]) -> Vec<String> {
        let above = self.project_in_worktree();
        paths.iter().map(|path| [above.as_str(), path].concat()).collect()
    }

    /// Returns this path of the work tree as one of the project; what is not in the project begins with `../`.
    pub(super) fn in_project(&self, path: &str) -> String {
        from_project(&self.project_in_worktree(), path)
    }

    /// Returns the files of the work tree that differ since an earlier look, by their paths in the project.
    pub(super) fn changed_since(&self, now: &Contents, earlier: &Contents) -> Vec<ChangedFile> {
        let mut changed = now.changed_since(earlier);
        let above = self.project_in_worktree();
        if !above.is_empty() {
            for file in &mut changed {
                file.path = from_project(&above, &file.path);
            }
        }
        changed
    }

    /// Returns the folder of the project in the work tree.
    pub(super) fn project_folder(&self) -> PathBuf {
        let below = self.plan.change.root.strip_prefix(self.view.folder).unwrap_or("".as_ref());
        let is_same = below.as_os_str().is_empty();
        if is_same { self.view.folder.to_owned() } else { self.view.folder.join(below) }
    }

    /// The path of the project in the work tree with its last slash, empty where they are the same.
    fn project_in_worktree(&self) -> String {
        let below = self.plan.change.root.strip_prefix(self.view.folder).unwrap_or("".as_ref());
        let path = names::with_slashes(below);
        if path.is_empty() { path } else { path + "/" }
    }
}

/// A path of the work tree, as it is written from this folder of it, which has its last slash or is empty.
fn from_project(project: &str, path: &str) -> String {
    let (mut above, mut below) = (project, path);
    while let Some((folder, rest)) = above.split_once('/') {
        let Some(inside) = below.strip_prefix(folder).and_then(|it| it.strip_prefix('/')) else {
            break;
        };
        (above, below) = (rest, inside);
    }
    "../".repeat(above.matches('/').count()) + below
}

#[cfg(test)]
mod tests {
    use super::from_project;

    #[test]
    fn a_path_is_written_from_the_project() {
        for (project, path, expected) in [
            ("", "lib/a.rs", "lib/a.rs"),
            ("apps/web/", "apps/web/lib/a.rs", "lib/a.rs"),
            ("apps/web/", "apps/api/a.rs", "../api/a.rs"),
            ("apps/web/", "apps/website/a.rs", "../website/a.rs"),
            ("apps/web/", "README.md", "../../README.md"),
            ("apps/web/", "apps", "../../apps"),
        ] {
            assert_eq!(from_project(project, path), expected);
        }
    }
}
