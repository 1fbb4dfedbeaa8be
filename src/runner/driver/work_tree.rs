//! A loop's view of its work tree: the repository, the files, the task list.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use super::plan::Plan;
use crate::engine::edit::untick_all;
use crate::engine::tasks::TaskList;
use crate::engine::{Difference, Fingerprint, Hasher, Tree, hash_of};
use crate::evidence::task_list::{self, TASKS};
use crate::runner::git::{Git, GitMoment, GitStatus, NO_COMMIT, UnreadRepository};
use crate::runner::target::ChangeKind;
use crate::runner::task_list::Tasks;
use crate::runner::worktree::{ChangedPaths, WorkTreeFiles};
use crate::store::amend::amend;
use crate::store::loops::Loops;
use crate::store::receipts::Receipts;
use crate::store::write::remove_dead_leftovers;
use crate::system::names;
use crate::world::{self, WallTime};

/// The next iteration still uses a look of this age. Later changes count as the agent's, like all changes while it
/// works: at worst, the loop runs one more iteration, or commits another program's file.
const HOLDS: Duration = Duration::from_secs(1);

/// The wait for another holder of the task log's lock.
const PATIENCE: Duration = Duration::from_secs(20);

/// A loop's view of its work tree.
pub struct WorkTree<'a> {
    pub plan: &'a Plan<'a>,
    /// The beginning of the run.
    pub began: WallTime,
    pub git: Option<Git>,
    pub unread: Option<UnreadRepository>,
    /// The list that the loop goes by.
    pub tasks: Option<Tasks>,
    /// The repository at the start of the iteration.
    at_start: GitMoment,
    /// The last look at the repository.
    latest: GitMoment,
    /// The commit that shows work: commits without a file do not move it.
    head: Option<String>,
    /// The files as the work left them: changes of ignored files alone do not count.
    files: Tree,
    /// Changed files, as far as known.
    pub touched: BTreeSet<PathBuf>,
    /// Changed files of other work trees, and logs of repositories.
    pub aside: BTreeSet<PathBuf>,
    /// Files whose commit failed.
    pub uncommitted: BTreeSet<PathBuf>,
    /// Files that an interrupted iteration changed.
    pub interrupted: Vec<PathBuf>,
    /// The last look at the files; it is fresh until something runs that may change some.
    seen: Rc<WorkTreeFiles>,
    is_fresh: bool,
}

/// The commits of an iteration.
pub struct NewCommits {
    /// The oldest first.
    pub names: Vec<String>,
    /// False for empty commits, and for commits of the loop's own notes.
    pub hold_work: bool,
}

impl<'a> WorkTree<'a> {
    pub fn of(
        plan: &'a Plan<'a>,
        (git, unread): (Option<Git>, Option<UnreadRepository>),
        tasks: Option<Tasks>,
    ) -> Self {
        let latest = git.as_ref().map(|git| git.moment(None)).unwrap_or_default();
        let (at_start, head) = (GitMoment::default(), latest.head.clone());
        let began = world::now();
        let seen =
            Rc::new(WorkTreeFiles::of(&plan.change.worktree, git.as_ref(), None, Some(began)));
        let files = if seen.blind { Tree::Unknown } else { Tree::Hash(seen.hash()) };
        Self {
            plan,
            began,
            git,
            unread,
            tasks,
            at_start,
            latest,
            head,
            files,
            touched: BTreeSet::new(),
            aside: BTreeSet::new(),
            uncommitted: BTreeSet::new(),
            interrupted: Vec::new(),
            seen,
            is_fresh: true,
        }
    }

    pub fn path(&self) -> &'a Path {
        &self.plan.change.worktree
    }

    /// The project's path in the work tree, with its last slash; empty for the same folder.
    pub fn project_in_worktree(&self) -> String {
        let project = self.plan.change.root.strip_prefix(self.path());
        let path = names::with_slashes(project.unwrap_or("".as_ref()));
        if path.is_empty() { path } else { path + "/" }
    }

    pub fn list_folder(&self) -> Option<PathBuf> {
        self.tasks.as_ref()?.folder()
    }

    /// Relative to the work tree.
    pub fn list_path(&self) -> Option<String> {
        let path = self.list_folder()?.join(TASKS);
        Some(names::with_slashes(path.strip_prefix(self.path()).unwrap_or(&path)))
    }

    /// Relative to `folder`, or the whole path for a list outside of it.
    pub fn list_under(&self, folder: &Path) -> String {
        let list = self.tasks.as_ref().map_or(folder, |tasks| tasks.path.as_path());
        names::with_slashes(list.strip_prefix(folder).unwrap_or(list))
    }

    /// The change's receipts, which `spool task` writes, too; an error means that nothing can be kept there.
    pub fn receipts(&self) -> io::Result<Receipts> {
        let root = &self.plan.change.root;
        Receipts::of(root, &self.plan.change.id, &self.list_under(root))
    }

    /// The same receipts; this run keeps its baseline beside them.
    pub fn run_receipts(&self) -> io::Result<Receipts> {
        self.receipts().map(|receipts| receipts.of_run())
    }

    /// Opens the boxes of these tasks, each by one byte, under the task log's lock if there is one.
    pub fn open_boxes(&self, ids: &[String]) -> io::Result<()> {
        let Some(folder) = self.list_folder() else { return Ok(()) };
        let change = self.plan.change;
        let _lock = (change.kind == ChangeKind::SpecKit && folder == change.folder)
            .then(|| Loops::of(&change.root).feature_lock(&change.id, &change.folder, PATIENCE))
            .transpose()?;
        amend(&folder.join(TASKS), task_list::MOST, |text| Some(untick_all(text, ids)))?;
        Ok(())
    }

    /// Removes the leftovers of a runner that was killed while it opened a box.
    pub fn tidy_list(&self) {
        if let Some(folder) = self.list_folder() {
            remove_dead_leftovers(&folder, &[TASKS]);
        }
    }

    fn look(&mut self) {
        let earlier = Some(&*self.seen);
        let (git, run) = (self.git.as_ref(), Some(self.began));
        self.seen = Rc::new(WorkTreeFiles::of(self.path(), git, earlier, run));
        self.is_fresh = true;
    }

    /// Call this before anything but the agent runs that may change files.
    pub fn forget_look(&mut self) {
        self.is_fresh = false;
    }

    /// Begins an iteration and returns the look at its start.
    pub fn begin(&mut self) -> Rc<WorkTreeFiles> {
        self.look_at_git();
        self.at_start.clone_from(&self.latest);
        if !self.is_fresh || self.seen.clock.elapsed() >= HOLDS {
            self.look();
        }
        Rc::clone(&self.seen)
    }

    /// A commit may outdate the last look: its hooks may change files, and git calls fewer files dirty.
    pub fn begin_commit(&mut self) {
        if self.seen.by_git || self.git.as_ref().is_some_and(Git::has_hooks) {
            self.forget_look();
        }
    }

    /// The commit at the start of the iteration; empty without a repository.
    pub fn head_at_start(&self) -> String {
        let none = self.git.as_ref().map(|_| NO_COMMIT.to_owned());
        self.at_start.head.clone().or(none).unwrap_or_default()
    }

    /// Files that changed since `before` and are not ignored; with `commits` also git's status of them.
    pub fn changed_files(
        &mut self,
        before: &WorkTreeFiles,
        commits: bool,
    ) -> (ChangedPaths, Option<Result<GitStatus>>) {
        self.look();
        let mut changed = self.seen.changed_since(before);
        let git = self.git.as_ref().filter(|_| !changed.files.is_empty());
        let status = git.filter(|_| commits).map(Git::status);
        changed.files = match (&status, git) {
            (Some(Ok(status)), _) => status.not_ignored(changed.files),
            (_, Some(git)) => git.not_ignored(changed.files),
            (_, None) => changed.files,
        };
        if self.seen.blind {
            self.files = Tree::Unknown;
        } else if changed != ChangedPaths::default() {
            self.files = Tree::Hash(self.seen.hash());
        }
        (changed, status)
    }

    /// The commits of the iteration. Adds their files to `changed`, unless the only commit holds no other files
    /// (`is_known`). An error tells why git cannot name them.
    pub fn new_commits(
        &mut self,
        changed: &mut Vec<PathBuf>,
        is_known: bool,
    ) -> Result<NewCommits> {
        self.look_at_git();
        let mut named = Ok(Vec::new());
        if let Some(git) = &self.git {
            named = git.commits_between(&self.at_start, &self.latest);
            if named.as_ref().is_ok_and(|names| names.len() > usize::from(is_known)) {
                let committed = git.files_since(self.at_start.head.as_deref());
                let known: BTreeSet<PathBuf> = changed.iter().cloned().collect();
                changed.extend(committed.into_iter().filter(|file| !known.contains(file)));
            }
        }
        let is_none = named.as_ref().map_or(true, Vec::is_empty);
        let hold_work = is_none || !changed.is_empty();
        // A check or a person moved the head between two iterations.
        if hold_work && self.latest.head != self.at_start.head {
            self.head.clone_from(&self.latest.head);
        }
        named.map(|names| NewCommits { names, hold_work })
    }

    /// Takes the current commit as an earlier run's work: it is no progress of this run.
    pub fn accept_head(&mut self) {
        self.look_at_git();
        self.head.clone_from(&self.latest.head);
    }

    /// Starts git only if something has moved.
    fn look_at_git(&mut self) {
        if let Some(git) = &self.git {
            self.latest = git.moment(Some(std::mem::take(&mut self.latest)));
        }
    }

    /// The work at the last look.
    pub fn fingerprint(&self) -> Fingerprint {
        let head = self.head.clone().unwrap_or_default();
        let work =
            Hasher::default().with_number(self.list_hash()).with_number(hash_of(head.as_bytes()));
        Fingerprint { work: work.finish(), tree: self.files }
    }

    /// A hash of the list at the last look; 0 without one.
    pub fn list_hash(&self) -> u64 {
        self.tasks.as_ref().map_or(0, |tasks| tasks.hash)
    }

    /// Any file changed since the start.
    pub fn since_start(&self) -> Difference {
        match (self.touched.is_empty() && self.aside.is_empty(), self.files) {
            (false, _) => Difference::Changed,
            (true, Tree::Unknown) => Difference::Unknown,
            (true, _) => Difference::Same,
        }
    }

    /// The task list at the last look; `None` without a readable one.
    pub fn looked_list(&self) -> Option<&TaskList> {
        self.tasks.as_ref()?.looked.as_ref().map(|file| &file.list)
    }

    /// Done tasks of all, such as `3/9`; empty without a list.
    pub fn tasks_line(&self) -> String {
        let list = self.looked_list().map(|list| format!("{}/{}", list.done(), list.tasks.len()));
        list.unwrap_or_default()
    }
}
