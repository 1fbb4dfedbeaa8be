//! The terms by which a run judges ticks, from iteration to iteration.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use super::work_tree::WorkTree;
use crate::engine::proof::{Unproved, UnprovedReason};
use crate::evidence::task_list::TaskFile;
use crate::judge::ticks::Ticks;
use crate::judge::{ArmedTerms, JudgedPlace, LOOK, Looks, TickJudge};
use crate::runner::git::NO_COMMIT;
use crate::runner::state::{tail, time_of};
use crate::runner::summary::{SHORT, git_in};
use crate::store::loops::{Checked, VerifyCommands};
use crate::world::WallTime;

/// Files in one command.
const MOST: usize = 10;

/// The terms by which a run judges ticks.
#[derive(Default)]
pub struct TickProofs {
    /// `None` without a list, or if nothing can be stored outside the project.
    pub judge: Option<TickJudge>,
    /// Stops of the continued run.
    pub stops: u32,
    /// The list at the beginning.
    pub list_at_start: Option<Rc<TaskFile>>,
    /// The time of arming, if `spool task done` judges by the run's rule and stores the contents after a tick.
    pub judged_since: Option<WallTime>,
    /// `None` before the first run of the checks.
    pub checked: Option<Checked>,
    /// A person ended the loop while the checks ran: they are not run again.
    pub checks_stopped: bool,
    /// Boxes ticked by hand in this iteration.
    pub ticks: Ticks,
    /// Milliseconds of each check's last run, by its command.
    pub millis: BTreeMap<String, u64>,
    /// Tasks whose tick was taken back.
    pub taken_back: BTreeSet<String>,
    /// The agent program whose review passed in this iteration, and the tasks that it read; no tasks for all of them.
    pub reviewed: Option<(String, Vec<String>)>,
    /// Tasks without a change, with the agent's reasons.
    pub no_change: BTreeMap<String, String>,
    /// Protected files about which a person was already told what to do.
    pub told_put_back: BTreeSet<String>,
}

impl TickProofs {
    /// Takes the terms of a run that began at this time with this list and these Verify commands.
    pub fn arm(
        &mut self,
        tree: &WorkTree<'_>,
        at: WallTime,
        list: Option<Rc<TaskFile>>,
        commands: VerifyCommands,
    ) {
        let options = tree.plan.options;
        let (folder, above) = (tree.path().to_owned(), tree.project_in_worktree());
        let place = JudgedPlace { folder, above, run: Some(tree.began), ..JudgedPlace::default() };
        let armed = ArmedTerms {
            at,
            least: options.settings.proof(),
            protect: options.protect.clone(),
            checks: ArmedTerms::commands_of(&options.checks),
            verify: LazyCell::new(Box::new(move || commands) as Box<_>),
        };
        self.list_at_start.clone_from(&list);
        let judge = tree.run_receipts().map(|receipts| TickJudge::of(place, armed, receipts));
        self.judge = judge.ok().map(|judge| judge.knowing(list, Looks::default()));
        self.follow_list(tree);
    }

    /// Follows the list, which the agent may have moved into the archive.
    pub fn follow_list(&mut self, tree: &WorkTree<'_>) {
        if let (Some(judge), Some(list_at)) = (&mut self.judge, tree.list_path()) {
            let place = &mut judge.place;
            (place.list, place.list_at) = (place.in_project(&list_at), list_at);
        }
    }

    /// Lines about the files that judge the work, as they are now; empty for none.
    pub fn armed_lines(&self) -> String {
        let lines = |judge: &TickJudge| {
            let now = judge.contents(Some(judge.looks().tick.as_ref()?), LOOK).ok()?;
            Some(judge.armed_lines(&now, "`--protect`"))
        };
        self.judge.as_ref().and_then(lines).unwrap_or_default()
    }

    /// The agent program whose review in this iteration found the task good.
    pub fn reviewer_of(&self, task: &str) -> Option<String> {
        let (reader, part) = self.reviewed.as_ref()?;
        let is_read = part.is_empty() || part.iter().any(|id| id == task);
        is_read.then(|| reader.clone())
    }

    /// Lines about a tick that protected files hold up, each behind a line break. Empty for any other tick, and if this
    /// runner has named all of the files before.
    pub(super) fn how_to_put_back(
        &mut self,
        why: &Unproved,
        tree: &WorkTree<'_>,
        loop_folder: &Path,
    ) -> String {
        let paths = &why.files;
        if why.reason != UnprovedReason::ProtectedChanged {
            return String::new();
        }
        let known = self.told_put_back.len();
        self.told_put_back.extend(paths.iter().cloned());
        if self.told_put_back.len() == known {
            return String::new();
        }
        let them = if paths.len() == 1 { "it" } else { "them" };
        let back = match self.command_to_put_back(paths, tree, loop_folder) {
            Some(command) => format!("To put {them} back: {command}"),
            None => format!("To put {them} back: as before the loop began"),
        };
        format!(
            "\n    {back}\n    To accept {them}: stop the loop, tick what is done, run it again with --restart"
        )
    }

    /// The command that restores these files from the commit on which the run began; `None` if the commit does not have
    /// all of them as they were at arming.
    fn command_to_put_back(
        &self,
        paths: &[String],
        tree: &WorkTree<'_>,
        loop_folder: &Path,
    ) -> Option<String> {
        let git = tree.git.as_ref()?;
        let judge = self.judge.as_ref()?;
        let (files, at_start) = (judge.place.looked_at(paths), judge.looks().armed.as_ref()?);
        let commit = commit_at_begin(judge.armed.at, tree, loop_folder)?;
        // The command would lose what was not committed when the run began.
        let is_as_before = |path: &String| {
            // git would read a pattern.
            let is_plain = !path.starts_with(':') && !path.contains(['*', '?', '[', '\\']);
            let committed = is_plain.then(|| git.file_at(&commit, path)).flatten();
            committed.is_some_and(|bytes| at_start.had(path, &bytes))
        };
        if files.len() > MOST || !files.iter().all(is_as_before) {
            return None;
        }
        let is_elsewhere = tree.plan.options.start != tree.path();
        let git = git_in(is_elsewhere.then_some(tree.path()));
        let short: String = commit.chars().take(SHORT).collect();
        Some(format!("{git} checkout {short} -- {}", shell_words::join(&files)))
    }
}

/// The commit on which the run, or the run that it continues, began.
fn commit_at_begin(began_at: WallTime, tree: &WorkTree<'_>, loop_folder: &Path) -> Option<String> {
    let past = tail(loop_folder, usize::MAX).unwrap_or_default();
    let mut past = past.into_iter().map(|past| past.iteration);
    let first = past.find(|first| time_of(&first.started).is_some_and(|at| at >= began_at));
    let commit = first.map_or_else(|| tree.head_at_start(), |first| first.head_at_start);
    Some(commit).filter(|commit| !commit.is_empty() && commit != NO_COMMIT)
}
