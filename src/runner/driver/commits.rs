//! The changes of an iteration: its files, and their commit where the runner commits.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::agents::AgentRun;
use super::parts::Driver;
use super::work_tree::NewCommits;
use crate::runner::capture::{TAIL, capture};
use crate::runner::git::{self, Git, GitStatus};
use crate::runner::screen::lasted;
use crate::runner::state::Iteration;
use crate::runner::task_list::TaskListUpdate;
use crate::runner::worktree::{ChangedPaths, WorkTreeFiles};
use crate::session::messages::shortfall::ticked_elsewhere;
use crate::world::Stopwatch;

/// Files of an iteration in its history.
const MOST_FILES: usize = 200;
/// The limit of a commit, with the repository's hooks.
const COMMIT_LIMIT: Duration = Duration::from_mins(10);

impl Driver<'_> {
    /// Finds the files and commits of the iteration, and commits its files where commits are wanted. The result counts
    /// commits with work in them; `None` without a repository.
    pub(super) fn look_at_changes(
        &mut self,
        before: &WorkTreeFiles,
        looked: &TaskListUpdate,
        ran: &AgentRun,
        entry: &mut Iteration,
        log: &mut File,
    ) -> Option<u64> {
        let is_interrupted = ran.end_request.is_some();
        let commits = self.plan.commits() && !is_interrupted;
        let (changed, status) = self.tree.changed_files(before, commits);
        let ChangedPaths { files: mut changed, aside } = changed;
        let mut is_known = false;
        if is_interrupted {
            self.tree.interrupted.clone_from(&changed);
        } else if commits && !changed.is_empty() {
            let (change, done) = (&self.plan.change.id, looked.ticked.join(" "));
            let message = format!("ralph: {change} iteration {} {done}", entry.n);
            let mut files = changed.clone();
            files.extend(std::mem::take(&mut self.tree.uncommitted));
            match self.commit(&files, status, message.trim(), log) {
                // A hook may have added files of its own.
                Ok(made) => is_known = made && !self.tree.git.as_ref().is_some_and(Git::has_hooks),
                Err(error) => {
                    let words = format!("the runner could not commit this iteration: {error:#}");
                    self.keep_uncommitted(words, files);
                }
            }
        }
        let commits = self.tree.new_commits(&mut changed, is_known).unwrap_or_else(|error| {
            self.console.screen.warn(&format!("git cannot name the commits: {error:#}"));
            NewCommits { names: Vec::new(), hold_work: true }
        });
        if let Some(silence) = self.tree.git.as_ref().and_then(Git::silence) {
            self.console.screen.warn(&format!(
                "{silence}; files and commits of this iteration may be missing below\nlook at `git status` and `git config --list`: a filter, a hook, a pipe in the place of a file"
            ));
        }
        let count = commits.names.len() as u64;
        self.tree.commits += count;
        entry.commits = commits.names;
        entry.files_changed = changed.len() as u64;
        entry.files =
            changed.iter().take(MOST_FILES).map(|file| file.display().to_string()).collect();
        if let Some(tasks) = &self.tree.tasks {
            let root = self.tree.path();
            let folder = tasks.path.parent().and_then(|folder| folder.strip_prefix(root).ok());
            let words =
                folder.and_then(|folder| ticked_elsewhere(root, folder, Some(self.tree.began)));
            self.feedback.remarks.extend(words);
        }
        let made = aside.iter().filter(|path| path.ends_with("logs/HEAD")).count() as u64;
        self.tree.touched.extend(changed.into_iter().chain(aside));
        let count = if commits.hold_work { count } else { 0 };
        self.tree.git.as_ref().map(|_| count + made)
    }

    /// `true` if there was something to commit; `false` also without a repository. `status` is git's word on these
    /// files, if git was asked.
    pub(super) fn commit(
        &mut self,
        files: &[PathBuf],
        status: Option<Result<GitStatus>>,
        message: &str,
        log: &mut File,
    ) -> Result<bool> {
        self.tree.begin_commit();
        let Some(git) = &self.tree.git else { return Ok(false) };
        let status = status.unwrap_or_else(|| git.status())?;
        let clock = Stopwatch::start();
        let console = &self.console;
        let mut interrupted = || {
            console.screen.live(&format!("git commit · {}", lasted(clock.elapsed())));
            console.wants_end()
        };
        // The repository's hooks do not make the loop longer than its limit.
        let limit =
            self.time_left().map_or(COMMIT_LIMIT, |left| left.max(git::LEAST)).min(COMMIT_LIMIT);
        let (supervisor, folder) = (&self.agents.supervisor, self.tree.path());
        let made = git.commit(files, &status, message, &mut |launch| {
            Ok(capture(supervisor, &launch, folder, (limit, TAIL), log, &mut interrupted)?)
        });
        console.screen.still();
        made
    }

    /// Reports files that could not be committed; the next commit takes them along.
    pub(super) fn keep_uncommitted(&mut self, words: String, files: Vec<PathBuf>) {
        self.console.screen.warn(&words);
        self.feedback.remarks.push(words);
        self.tree.uncommitted.extend(files);
    }
}
