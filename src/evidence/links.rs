//! Where the files and folders that a task names really are, when a link is on the way to them.

use std::path::Path;

use crate::engine::proof::{ChangedFile, ContentChange, NamedPath, paths_in};
use crate::evidence::contents::Contents;
use crate::system::files::real_path;
use crate::system::names;

/// The most paths of one task that are followed.
const MOST: usize = 50;

impl Contents {
    /// Returns the same with those of another look besides that have one of these paths and are not among them.
    #[must_use]
    pub fn with_missing(mut self, others: &Self, paths: &[String]) -> Self {
        for file in others.0.iter() {
            let is_asked = paths.iter().any(|path| path.as_bytes() == file.path());
            if is_asked && self.0.iter().all(|known| known.path() != file.path()) {
                self.0.push_file(file);
            }
        }
        self
    }

    /// Returns whether there is a file that a text names so.
    pub fn has(&self, named: &NamedPath) -> bool {
        self.0.iter().any(|file| std::str::from_utf8(file.path()).is_ok_and(|it| named.is_at(it)))
    }
}

/// Returns where links lead on the way to the files and folders that this text names, as paths relative to the project, a folder
/// with a slash at its end; only those that are in the project and have another path than the one that is named. A link that is among
/// the changed files is not followed: an agent could make it lead to the work of another task.
pub fn ends_of_links(root: &Path, text: &str, changed: &[ChangedFile]) -> Vec<String> {
    let mut ends = Vec::new();
    let mut real_root = None;
    for named in paths_in(text).into_iter().take(MOST) {
        let has_changed = |file: &ChangedFile| {
            let below = named.path.strip_prefix(&*file.path);
            file.change == ContentChange::Link
                && below.is_some_and(|it| it.is_empty() || it.starts_with('/'))
        };
        if changed.iter().any(has_changed) {
            continue;
        }
        let Ok(real) = real_path(&root.join(&named.path)) else { continue };
        let top = real_root.get_or_insert_with(|| real_path(root).unwrap_or_default());
        let Ok(below) = real.strip_prefix(&*top) else { continue };
        let mut end = names::with_slashes(below);
        if end.is_empty() || end == named.path.trim_end_matches('/') {
            continue;
        }
        if named.path.ends_with('/') {
            end.push('/');
        }
        ends.push(end);
    }
    ends
}
