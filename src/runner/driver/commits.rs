//! Finds the files of an iteration, commits them if the options say so, and keeps unfinished work under a ref. The next
//! run commits or names the files of an interrupted iteration.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::agents::AgentRun;
use super::cut_off::{MOST_FILES, Unfinished, sorted};
use super::parts::Driver;
use super::work_tree::NewCommits;
use crate::engine::order::few;
use crate::forms::events::RunnerEvent;
use crate::runner::capture::{TAIL, capture};
use crate::runner::git::{self, Git, GitStatus, UnfinishedTry};
use crate::runner::harness::RunOutcome;
use crate::runner::process::Cut;
use crate::runner::screen::{counted, lasted};
use crate::runner::state::{self, Iteration, Past, compact, time_of};
use crate::runner::task_list::TaskListUpdate;
use crate::runner::worktree::{ChangedPaths, WorkTreeFiles};
use crate::session::messages::shortfall::ticked_elsewhere;
use crate::store::names::JournalEvent;
use crate::text;
use crate::world::Stopwatch;

/// The limit of a commit, with the repository's hooks.
const COMMIT_LIMIT: Duration = Duration::from_mins(10);
/// Files in one line.
const NAMED: usize = 10;

impl Driver<'_> {
    /// Finds the iteration's files and commits, and commits the files if the options say so. Returns the number of
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
        let count = if commits.hold_work { commits.names.len() as u64 } else { 0 };
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
        self.tree.touched.extend(changed);
        self.tree.aside.extend(aside);
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

    /// Settles the work of the last run's interrupted iteration: commits it if the options say so, keeps the rest under
    /// a ref, and tells the person and the next agent.
    pub(super) fn settle_unfinished(&mut self) {
        let Some(Past { iteration: last, .. }) = state::last(&self.files.folder) else { return };
        let is_kept = self.tree.git.as_ref().is_some_and(|git| git.has_kept(&last.kept_as));
        if is_kept {
            self.files.state.kept_as.clone_from(&last.kept_as);
        }
        if !last.interrupted {
            return;
        }
        let dirty = self.tree.git.as_ref().map(Git::dirty);
        let left = sorted(&last, dirty, self.tree.path());
        let mut is_committed = false;
        if self.plan.commits() && self.tree.git.is_some() {
            is_committed = self.commit_unfinished(&left);
            if !left.later.is_empty() {
                self.console.screen.warn(&format!(
                    "changed since the interrupted iteration, and not committed: {}",
                    named(&left.later)
                ));
            }
        }
        let all_is_safe = left.later.is_empty() && (is_committed || left.files.is_empty());
        if !is_kept && !all_is_safe {
            self.keep(&last, "it was interrupted");
            self.note_kept(&last);
        }
        let all: Vec<PathBuf> = left.files.iter().chain(&left.later).cloned().collect();
        let mut remark =
            "The last iteration was interrupted: look first whether what it left is whole."
                .to_owned();
        if !all.is_empty() {
            remark = format!("{remark} It changed: {}.", named(&all));
        }
        self.feedback.remarks.push(remark);
    }

    /// At the end, names the uncommitted files of the interrupted iteration, if the options ask for commits.
    pub(super) fn unfinished_words(&self) -> Option<String> {
        let files = &self.tree.interrupted;
        let asked = self.plan.commits() && self.tree.git.is_some();
        (asked && !files.is_empty()).then(|| {
            let are = if files.len() == 1 { "is" } else { "are" };
            format!(
                "{} of the interrupted iteration {are} not committed: {}",
                counted(files.len() as u64, "file"),
                named(files)
            )
        })
    }

    /// `true` if nothing of these files is uncommitted now.
    fn commit_unfinished(&mut self, left: &Unfinished) -> bool {
        if left.files.is_empty() {
            return true;
        }
        let (change, number) = (&self.plan.change.id, left.number);
        let message = format!("ralph: {change} iteration {number} (interrupted)");
        let log = tempfile::tempfile_in(&self.files.folder).map_err(anyhow::Error::from);
        match log.and_then(|mut log| self.commit(&left.files, None, &message, &mut log)) {
            Ok(true) => {
                let files = counted(left.files.len() as u64, "file");
                let words = format!(
                    "ralph: committed {files} that the interrupted iteration {number} left"
                );
                let files = left.files.iter().map(|file| file.display().to_string()).collect();
                self.console.screen.report(RunnerEvent::Committed { files }, &words);
                self.tree.accept_head();
                self.files.state.ledger.fingerprint = Some(self.tree.fingerprint());
                true
            }
            Ok(false) => true,
            Err(error) => {
                let words = format!(
                    "what the interrupted iteration left could not be committed: {error:#}"
                );
                self.keep_uncommitted(words, left.files.clone());
                false
            }
        }
    }

    /// Keeps the work of an unfinished iteration under a ref, if it changed anything or an earlier ref still exists. A
    /// finished iteration clears the name.
    pub(super) fn keep_unfinished(&mut self, entry: &mut Iteration, ran: &AgentRun) {
        let Some(why) = unfinished(ran) else {
            self.files.state.kept_as.clear();
            return;
        };
        if entry.files_changed > 0 || !self.files.state.kept_as.is_empty() {
            self.keep(entry, why);
            entry.kept_as.clone_from(&self.files.state.kept_as);
        }
    }

    /// Keeps the uncommitted work as that of this iteration.
    pub(super) fn keep(&mut self, iteration: &Iteration, why: &str) {
        let Some(git) = &self.tree.git else { return };
        let began = time_of(&iteration.started).map(compact).unwrap_or_default();
        let unfinished = UnfinishedTry {
            change: &self.plan.change.id,
            iteration: iteration.n,
            began: &began,
            why,
        };
        match git.keep(&unfinished) {
            Ok(None) => self.files.state.kept_as.clear(),
            Ok(Some(kept)) => {
                let mut words = format!("  unfinished work is kept as {}", kept.name);
                if !kept.left_out.is_empty() {
                    words = format!("{words}, without {}", named(&kept.left_out));
                }
                let left_out = kept.left_out.iter().map(|file| file.display().to_string()).collect();
                let event = RunnerEvent::Kept { name: kept.name.clone(), left_out };
                self.console.screen.report(event, &words);
                self.files.state.kept_as = kept.name;
            }
            Err(error) => self.console.screen.warn(&format!(
                "what the unfinished iteration left is only in the work tree, git did not keep it: {error:#}"
            )),
        }
    }

    /// Notes the kept work in the journal, for an iteration whose own entry could not name it.
    pub(super) fn note_kept(&mut self, iteration: &Iteration) {
        let name = &self.files.state.kept_as;
        if name.is_empty() {
            return;
        }
        let words = format!("unfinished work is kept as {name}");
        let entry = self.entry(JournalEvent::Interrupted, iteration.n, &words);
        // Prompt and state name the ref as well. If the journal cannot be written, the loop ends soon.
        let _ = self.files.note(&entry);
    }

    /// Words for the next prompt.
    pub(super) fn kept_words(&self) -> Option<String> {
        let name = &self.files.state.kept_as;
        (!name.is_empty()).then(|| {
            format!(
                "The last try did not come to its own end. The work tree as it was then is kept as `{name}`: `git show {name}` shows what it had changed, `git diff {name}` what is different now. Take over what is good."
            )
        })
    }
}

/// The first names, and the number of the others.
pub(super) fn named(files: &[PathBuf]) -> String {
    few(&mut files.iter().map(|file| text::title(&file.to_string_lossy(), 200)), NAMED)
}

/// Why a run did not end by itself.
fn unfinished(ran: &AgentRun) -> Option<&'static str> {
    match (&ran.report.outcome, ran.ended.cut) {
        _ if ran.end_request.is_some() => Some("it was interrupted"),
        (_, Some(Cut::Wall)) => Some("its time was up"),
        (_, Some(Cut::Silence)) => Some("nothing was heard of it"),
        _ if ran.passed_at.is_some() => Some("the budget was used up"),
        (RunOutcome::Finished, _) => None,
        (RunOutcome::UsageLimit { .. }, _) => Some("a usage limit was reached"),
        (RunOutcome::Cut, _) => Some("it was ended"),
        _ => Some("the agent program failed"),
    }
}
