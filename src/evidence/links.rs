//! Where the files and folders that a task names really are, when a link is on the way to them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::engine::proof::{ChangedFile, ContentChange, NamedPath, paths_in};
use crate::evidence::contents::Contents;
use crate::evidence::entries::Entries;
use crate::system::files::real_path;
use crate::system::names;

/// The most paths of one task that are followed.
const MOST: usize = 50;
/// The most paths of all tasks that were ticked together: a stop has little time.
const MOST_IN_ALL: usize = 1_000;

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

    /// Returns the same with the files of another look in place of those that have one of these paths here.
    #[must_use]
    pub fn with_those_of(self, others: &Self, paths: &BTreeSet<&str>) -> Self {
        let is_asked = |path: &[u8]| std::str::from_utf8(path).is_ok_and(|it| paths.contains(it));
        let mut all = Entries::with_room_of(&self.0);
        for file in self.0.iter().filter(|file| !is_asked(file.path())) {
            all.push_file(file);
        }
        for file in others.0.iter().filter(|file| is_asked(file.path())) {
            all.push_file(file);
        }
        Self(all)
    }

    /// Returns whether there is a file that a text names so, among those that are `meant`.
    pub fn has(&self, named: &NamedPath, meant: &dyn Fn(&str) -> bool) -> bool {
        let is_it = |path: &str| named.is_at(path) && meant(path);
        self.0.iter().any(|file| std::str::from_utf8(file.path()).is_ok_and(is_it))
    }
}

/// Follows the links on the way to what tasks name that were ticked together: each path once, and so many paths in all.
pub struct Links<'a> {
    root: &'a Path,
    real_root: Option<PathBuf>,
    /// Where each path leads that was followed, `None` where that is nowhere else.
    known: BTreeMap<String, Option<String>>,
}

impl<'a> Links<'a> {
    /// Returns none followed yet in the project with this root.
    pub fn of(root: &'a Path) -> Self {
        Self { root, real_root: None, known: BTreeMap::new() }
    }

    /// Returns where links lead on the way to the files and folders that this text names, as paths relative to the project, a
    /// folder with a slash at its end; only those that are in the project and have another path than the one that is named. A link
    /// that is among the changed files is not followed: an agent could make it lead to the work of another task.
    pub fn ends(&mut self, text: &str, changed: &[ChangedFile]) -> Vec<String> {
        let mut ends = Vec::new();
        for named in paths_in(text).into_iter().take(MOST) {
            let has_changed = |file: &ChangedFile| {
                let below = named.path.strip_prefix(&*file.path);
                file.change == ContentChange::Link
                    && below.is_some_and(|it| it.is_empty() || it.starts_with('/'))
            };
            if !changed.iter().any(has_changed) {
                ends.extend(self.end(named.path));
            }
        }
        ends
    }

    fn end(&mut self, path: String) -> Option<String> {
        if let Some(known) = self.known.get(&path) {
            return known.clone();
        }
        if self.known.len() == MOST_IN_ALL {
            return None;
        }
        let end = self.followed(&path);
        self.known.insert(path, end.clone());
        end
    }

    fn followed(&mut self, path: &str) -> Option<String> {
        let real = real_path(&self.root.join(path)).ok()?;
        let top = self.real_root.get_or_insert_with(|| real_path(self.root).unwrap_or_default());
        let mut end = names::with_slashes(real.strip_prefix(&*top).ok()?);
        if end.is_empty() || end == path.trim_end_matches('/') {
            return None;
        }
        if path.ends_with('/') {
            end.push('/');
        }
        Some(end)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn each_path_is_followed_once_and_so_many_in_all() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("AGENTS.md"), "").unwrap();
        fs::create_dir_all(root.join("real/part")).unwrap();
        symlink("AGENTS.md", root.join("CLAUDE.md")).unwrap();
        symlink("real/part", root.join("linked")).unwrap();
        symlink("/etc", root.join("outside")).unwrap();
        let mut links = Links::of(root);
        let text = "`CLAUDE.md`, linked/, `AGENTS.md`, outside/, none/a.rs";
        assert_eq!(links.ends(text, &[]), ["AGENTS.md", "real/part/"]);
        assert_eq!((links.ends(text, &[]).len(), links.known.len()), (2, 5), "as before");
        let moved = [ChangedFile { path: "linked".to_owned(), change: ContentChange::Link }];
        assert_eq!(links.ends(text, &moved), ["AGENTS.md"]);
        for number in 5..MOST_IN_ALL {
            assert!(links.ends(&format!("src/{number}.rs"), &[]).is_empty());
        }
        symlink("AGENTS.md", root.join("GEMINI.md")).unwrap();
        assert!(links.ends("`GEMINI.md`", &[]).is_empty(), "one more than are followed");
        assert_eq!(links.ends("`CLAUDE.md`", &[]), ["AGENTS.md"], "it was followed before");
    }
}
