//! A change's task list, from iteration to iteration.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memchr::arch::all::is_equal;

use super::target::Change;
use crate::engine::matched::open_in;
use crate::engine::tasks::TaskList;
use crate::engine::{Tampered, Work, hash_of};
use crate::evidence::task_list::{MOST, TASKS, TaskFile};
use crate::store::read::Problem;
use crate::store::settled::read_settled;
use crate::system::files::real_path;
use crate::world::Deadline;

/// The time to wait for another writer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A loop's task list.
#[derive(Clone, Debug)]
pub struct Tasks {
    pub path: PathBuf,
    id: String,
    /// Optional tasks count.
    optional: bool,
    /// The tasks at the last look, a line each.
    then: String,
    /// A hash of the list at the last look.
    pub hash: u64,
    /// The list at the last look; `None` if unreadable.
    pub looked: Option<TaskFile>,
    /// `then` has the tasks of `looked`.
    is_compared: bool,
}

/// The list after an iteration.
#[derive(Clone, Debug, Default)]
pub struct TaskListUpdate {
    /// The list as evidence.
    pub work: Work,
    /// Ids of tasks that were open before and are ticked now.
    pub ticked: Vec<String>,
    /// Ids of tasks that were not there before and are ticked now.
    pub added: Vec<String>,
    /// Tasks that were open before and are gone or reworded.
    pub tampered: Tampered,
    /// The id and title of the first open task.
    pub next: Option<(String, String)>,
    /// Why the list cannot be read; `None` if it can be, or is gone.
    pub problem: Option<String>,
}

/// A folder that was a real path still is one. An agent may have put a link in its place: nothing behind the link is
/// read or written. A failed look-up shows nothing.
pub fn is_in_place(folder: &Path) -> bool {
    let is_there =
        real_path(folder).and_then(|real| Ok(real == folder && folder.metadata()?.is_dir()));
    is_there.unwrap_or_else(|error| {
        !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
    })
}

impl TaskListUpdate {
    fn of(list: &TaskList) -> Self {
        Self {
            work: Work::List { done: list.done(), open: list.open().count() },
            next: list.present().map(|task| (task.id.clone(), task.title.to_string())),
            ..Self::default()
        }
    }
}

impl Tasks {
    /// The change's list in its folder, or at the root of the work tree (spec 001).
    pub fn of(change: &Change, optional: bool) -> Option<Self> {
        let path = change.tasks()?;
        Some(Self::new(path, &change.id, optional))
    }

    fn new(path: PathBuf, id: &str, optional: bool) -> Self {
        let (id, then) = (id.to_owned(), String::new());
        Self { path, id, optional, then, hash: 0, looked: None, is_compared: false }
    }

    /// Ids of tasks that count as open.
    pub fn open(&self) -> Vec<String> {
        open_in(&self.then).map(str::to_owned).collect()
    }

    /// Reads the list, and compares it with the tasks that were open before.
    pub fn look(&mut self) -> TaskListUpdate {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let deadline = Deadline::after(PATIENCE);
        let settled = |folder: &Path| read_settled(folder, TASKS, MOST, deadline, |_| true);
        let mut found = if is_in_place(folder) { settled(folder) } else { Err(Problem::Missing) };
        if let (Err(Problem::Missing), Some(archived)) = (&found, self.archived()) {
            found = settled(&archived);
        }
        let before = self.looked.take();
        let file = match (found, before) {
            // Equal bytes are not parsed again.
            (Ok(content), Some(before)) if is_equal(&before.bytes, &content.bytes) => before,
            (Ok(content), _) => {
                self.is_compared = false;
                let TaskFile { list, bytes } = TaskFile::of(content.bytes);
                TaskFile { list: list.with_optional(self.optional), bytes }
            }
            (Err(problem), _) => {
                let is_gone = matches!(problem, Problem::Missing);
                let problem = (!is_gone).then(|| problem.to_string());
                self.hash = problem.as_ref().map_or(0, |problem| hash_of(problem.as_bytes()));
                // A missing list is not done.
                let gone = Work::List { done: 0, open: 0 };
                let work = if is_gone { gone } else { Work::Unreadable { hash: self.hash } };
                return TaskListUpdate { work, problem, ..TaskListUpdate::default() };
            }
        };
        let list = &file.list;
        let mut looked = TaskListUpdate::of(list);
        if !self.is_compared {
            let changes = list.since(&self.then);
            (looked.tampered, looked.ticked) = (changes.tampered, changes.ticked);
            looked.added = changes.added_ticked;
            self.then = list.to_lines();
            self.hash = file.hash();
            self.is_compared = true;
        }
        self.looked = Some(file);
        looked
    }

    /// Reads the list again. Tasks of these ids count as open, whatever their boxes say.
    pub fn look_again(&mut self, open: &[String]) -> TaskListUpdate {
        let mut looked = self.look();
        let mut list = self.looked.as_ref().map(|file| file.list.clone()).unwrap_or_default();
        if !list.open_again(open).is_empty() {
            looked = TaskListUpdate::of(&list);
            self.then = list.to_lines();
            self.is_compared = false;
        }
        looked
    }

    /// The folder of the list, even after the agent moved it into the archive.
    pub fn folder(&self) -> Option<PathBuf> {
        let folder = || self.path.parent().filter(|folder| is_in_place(folder)).map(Path::to_owned);
        self.archived().or_else(folder)
    }

    /// The folder into which the agent moved the finished change: `archive/<id>`, with a date in front for OpenSpec.
    fn archived(&self) -> Option<PathBuf> {
        let folder = self
            .path
            .parent()
            .filter(|old| old.ends_with(&self.id) && matches!(old.try_exists(), Ok(false)))?;
        let archive = folder.parent()?.join("archive");
        let dated = |name: &str| {
            let date = name.strip_suffix(&self.id).and_then(|rest| rest.strip_suffix('-'));
            date.is_some_and(|date| date.bytes().all(|sign| sign.is_ascii_digit() || sign == b'-'))
        };
        let entries = std::fs::read_dir(&archive).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| *name == self.id || dated(name));
        names.sort();
        // The latest date comes last.
        names.pop().map(|name| archive.join(name)).filter(|folder| is_in_place(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn list(text: &str) -> (tempfile::TempDir, Tasks) {
        let root = tempfile::tempdir().unwrap();
        let folder = real_path(root.path()).unwrap().join("changes").join("001-01_x");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(TASKS), text).unwrap();
        let path = folder.join(TASKS);
        (root, Tasks::new(path, "001-01_x", false))
    }

    fn open(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn ticks_and_tampering_tell_once() {
        let (_root, mut tasks) = list("- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c\n");
        tasks.look();
        fs::write(&tasks.path, "- [X] 1.1 a\n- [ ] 1.2 another\n").unwrap();
        let looked = tasks.look();
        assert_eq!(looked.ticked, ["1.1"]);
        assert_eq!(looked.tampered.removed, ["1.3"]);
        assert_eq!(looked.tampered.reworded, ["1.2"]);
        assert_eq!((looked.work, tasks.open()), (Work::List { done: 1, open: 1 }, open(&["1.2"])));
        assert_eq!(looked.next, Some(("1.2".to_owned(), "another".to_owned())));
        assert!(tasks.look().tampered.is_empty());
    }

    #[test]
    fn lost_list_is_not_done() {
        let (_root, mut tasks) = list("- [x] 1.1 a\n");
        fs::remove_file(&tasks.path).unwrap();
        assert_eq!(tasks.look().work, Work::List { done: 0, open: 0 });
    }

    #[test]
    fn archived_change_is_found() {
        let (root, mut tasks) = list("- [ ] 1.1 a\n- [ ] 1.2 b\n");
        tasks.look();
        let changes = root.path().join("changes");
        let archive = changes.join("archive");
        // Another change whose id ends in the same way.
        fs::create_dir_all(archive.join("2026-11-22-z-001-01_x")).unwrap();
        fs::write(&tasks.path, "- [x] 1.1 a\n- [x] 1.2 b\n").unwrap();
        fs::rename(changes.join("001-01_x"), archive.join("2026-11-22-001-01_x")).unwrap();
        let looked = tasks.look();
        assert_eq!(looked.work, Work::List { done: 2, open: 0 });
        assert_eq!(looked.ticked, ["1.1", "1.2"]);
    }

    #[test]
    fn unreadable_is_told_apart() {
        let (_root, mut tasks) = list("");
        fs::remove_file(&tasks.path).unwrap();
        fs::create_dir(&tasks.path).unwrap();
        assert!(matches!(tasks.look().work, Work::Unreadable { .. }));
    }

    #[test]
    fn locked_tick_counts_as_open() {
        let (_root, mut tasks) = list("- [ ] 1.1 a\n- [ ] 1.2 b\n");
        tasks.look();
        fs::write(&tasks.path, "- [x] 1.1 a\n- [x] 1.2 b\n").unwrap();
        assert_eq!(tasks.look().ticked, ["1.1", "1.2"]);
        let again = tasks.look_again(&open(&["1.1"]));
        assert_eq!((again.work, tasks.open()), (Work::List { done: 1, open: 1 }, open(&["1.1"])));
        assert_eq!(tasks.look().ticked, ["1.1"]);
    }
}
