//! What a loop sees of its work tree: the repository, the files, the task list.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::engine::tasks::TaskList;
use crate::engine::{Difference, Fingerprint, Hasher, Tree, hash_of};
use crate::runner::git::{Git, GitMoment, NO_COMMIT};
use crate::runner::task_list::Tasks;
use crate::runner::worktree::WorkTreeFiles;

/// What a loop sees of its work tree.
pub struct WorkTreeView<'a> {
    /// The work tree.
    pub folder: &'a Path,
    /// Its repository, `None` for none.
    pub git: Option<Git>,
    /// The task list that the loop goes by, `None` for none.
    pub tasks: Option<Tasks>,
    /// The repository at the start of the iteration.
    at_start: GitMoment,
    /// The repository when it was last looked at.
    latest: GitMoment,
    /// What is checked out, as far as it shows work: a commit without any file of it does not count.
    head: Option<String>,
    /// The files as the work left them: the same as long as nothing but ignored files changes.
    files: Tree,
}

/// The commits of an iteration.
pub struct NewCommits {
    /// Their names, oldest first.
    pub names: Vec<String>,
    /// Whether they hold work: a commit of nothing, or of the loop's own notes, gets it no further.
    pub hold_work: bool,
}

impl<'a> WorkTreeView<'a> {
    /// Returns the work tree in this folder as it is now.
    pub fn of(folder: &'a Path, git: Option<Git>, tasks: Option<Tasks>) -> Self {
        let files = WorkTreeFiles::of(folder, git.as_ref());
        let latest = git.as_ref().map(|git| git.moment(None)).unwrap_or_default();
        let head = latest.head.clone();
        let files = if files.blind { Tree::Unknown } else { Tree::Hash(files.hash()) };
        Self { folder, git, tasks, at_start: GitMoment::default(), latest, head, files }
    }

    /// Begins an iteration: returns the files as they are now.
    pub fn begin(&mut self) -> WorkTreeFiles {
        self.look_at_git();
        self.at_start.clone_from(&self.latest);
        WorkTreeFiles::of(self.folder, self.git.as_ref())
    }

    /// Returns the commit on which the iteration began, empty without a repository.
    pub fn head_at_start(&self) -> String {
        let none = self.git.as_ref().map(|_| NO_COMMIT.to_owned());
        self.at_start.head.clone().or(none).unwrap_or_default()
    }

    /// Looks at the files again and returns those that changed since `before` and are not ignored; a list that has this
    /// hash is as it was.
    pub fn changed_files(&mut self, before: &WorkTreeFiles, list: u64) -> Vec<PathBuf> {
        let mut after = WorkTreeFiles::of(self.folder, self.git.as_ref());
        if let Some(tasks) = self.tasks.as_ref().filter(|tasks| tasks.hash() == list)
            && let Ok(path) = tasks.path.strip_prefix(self.folder)
        {
            after.take_for_the_same(path, before);
        }
        let mut changed = after.changed_since(before);
        if let Some(git) = &self.git {
            changed = git.not_ignored(changed);
        }
        if after.blind {
            self.files = Tree::Unknown;
        } else if !changed.is_empty() {
            self.files = Tree::Hash(after.hash());
        }
        changed
    }

    /// Looks at the repository again and returns the commits of the iteration; adds their files to `changed`. An
    /// error says why git cannot name them.
    pub fn new_commits(&mut self, changed: &mut Vec<PathBuf>) -> Result<NewCommits> {
        self.look_at_git();
        let mut named = Ok(Vec::new());
        if let Some(git) = &self.git {
            named = git.commits_between(&self.at_start, &self.latest);
            if named.as_ref().is_ok_and(|names| !names.is_empty()) {
                let committed = git.files_since(self.at_start.head.as_deref());
                let known: BTreeSet<PathBuf> = changed.iter().cloned().collect();
                changed.extend(committed.into_iter().filter(|file| !known.contains(file)));
            }
        }
        let is_none = named.as_ref().map_or(true, Vec::is_empty);
        let hold_work = is_none || !changed.is_empty();
        // Where the head was moved between two iterations, a check or a person has done it.
        if hold_work && self.latest.head != self.at_start.head {
            self.head.clone_from(&self.latest.head);
        }
        named.map(|names| NewCommits { names, hold_work })
    }

    /// Takes what is checked out now as the work of an earlier run: it is no progress of this one.
    pub fn accept_head(&mut self) {
        self.look_at_git();
        self.head.clone_from(&self.latest.head);
    }

    /// Looks at the repository; starts git only where something has moved.
    fn look_at_git(&mut self) {
        if let Some(git) = &self.git {
            self.latest = git.moment(Some(std::mem::take(&mut self.latest)));
        }
    }

    /// Returns what the work looked like when it was last looked at.
    pub fn fingerprint(&self) -> Fingerprint {
        let head = self.head.clone().unwrap_or_default();
        let tasks = self.tasks.as_ref().map_or(0, Tasks::hash);
        let work = Hasher::default().with_number(tasks).with_number(hash_of(head.as_bytes()));
        Fingerprint { work: work.finish(), tree: self.files }
    }

    /// Returns whether any file changed since the start, where `touched` are those that are known to have.
    pub fn since_start(&self, touched: &BTreeSet<PathBuf>) -> Difference {
        match (touched.is_empty(), self.files) {
            (false, _) => Difference::Changed,
            (true, Tree::Unknown) => Difference::Unknown,
            (true, _) => Difference::Same,
        }
    }

    /// Returns how many tasks are done of how many, such as `3/9`; empty without a list.
    pub fn tasks_line(&self) -> String {
        let file = self.tasks.as_ref().and_then(|it| it.read(it.path.parent()?).ok());
        let shown = |list: &TaskList| format!("{}/{}", list.done(), list.tasks.len());
        file.map(|file| shown(&file.list)).unwrap_or_default()
    }
}
