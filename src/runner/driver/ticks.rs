//! What the ticks of a run are judged by, from iteration to iteration.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::work_tree::WorkTree;
use crate::judge::ticks::Ticks;
use crate::judge::words::part_of_judge;
use crate::judge::{ArmedList, ArmedTerms, JudgedPlace, Looks, TickJudge};
use crate::store::loops::{Checked, VerifyCommands};
use crate::world::{Stopwatch, WallTime};

/// What the ticks of a run are judged by.
#[derive(Default)]
pub struct TickProofs {
    /// When the run began, or the one that it continues.
    pub began_at: WallTime,
    /// How often that one was stopped.
    pub stops: u32,
    /// What the files contained when the run began, and when a task was proved last.
    pub looks: Looks,
    /// The list when the run began.
    pub list_at_start: Option<Rc<ArmedList>>,
    /// The Verify commands that a person armed.
    pub armed: VerifyCommands,
    /// When the run was armed, where `spool task done` judges by its rule, and keeps what the files contain after a tick.
    pub judged_since: Option<WallTime>,
    /// The last run of the checks, `None` before the first.
    pub checked: Option<Checked>,
    /// What was seen of the boxes that were ticked by hand in this iteration.
    pub ticks: Ticks,
    /// How long the checks took that ran last, in milliseconds.
    pub millis: BTreeMap<String, u64>,
    /// The tasks whose tick was taken back.
    pub taken_back: BTreeSet<String>,
    /// The agent program whose review has passed in this iteration, and the tasks that it read; none for all.
    pub reviewed: Option<(String, Vec<String>)>,
    /// The tasks that change nothing, with why, in the agent's words.
    pub no_change: BTreeMap<String, String>,
    /// The protected files of which a person was told what to do about them.
    pub told_put_back: BTreeSet<String>,
}

impl TickProofs {
    /// Returns what the ticks of this run are judged by; `None` without a list, and where nothing can be kept outside of the project.
    pub fn tick_judge(&self, tree: &WorkTree<'_>) -> Option<TickJudge> {
        let options = tree.plan.options;
        let list_at = tree.list_path()?;
        let above = tree.project_in_worktree();
        let (folder, run) = (tree.path().to_owned(), Some(tree.began));
        let mut place = JudgedPlace { folder, above, run, ..JudgedPlace::default() };
        (place.list, place.list_at) = (place.in_project(&list_at), list_at);
        let commands = self.armed.clone();
        let armed = ArmedTerms {
            at: self.began_at,
            least: options.settings.proof(),
            protect: options.protect.clone(),
            checks: ArmedTerms::commands_of(&options.checks),
            verify: LazyCell::new(Box::new(move || commands) as Box<_>),
        };
        let judge = TickJudge::of(place, armed, tree.run_receipts().ok()?);
        Some(judge.knowing(self.list_at_start.clone(), self.looks.clone()))
    }

    /// Returns the line on files that the armed commands run, which the loop may change; empty for none.
    pub fn part_of_judge(&self, tree: &WorkTree<'_>) -> String {
        let seen = self.tick_judge(tree).zip(self.looks.armed.as_ref());
        let Some((judge, files)) = seen else { return String::new() };
        let at: Vec<String> = files.paths(u64::MAX).map(|at| judge.place.in_project(at)).collect();
        part_of_judge(&judge.run_by_commands(at.iter().map(String::as_str)), "`--protect`")
    }

    /// Notes how long a check took.
    pub fn note_time(&mut self, run: &str, clock: &Stopwatch) {
        let millis = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.millis.insert(run.to_owned(), millis);
    }

    /// Returns the agent program whose review in this iteration has found a task good, `None` for none.
    pub fn reviewer_of(&self, task: &str) -> Option<String> {
        let (reader, part) = self.reviewed.as_ref()?;
        let is_read = part.is_empty() || part.iter().any(|id| id == task);
        is_read.then(|| reader.clone())
    }
}
