//! What the ticks of a run are judged by, from iteration to iteration.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::engine::proof::{Proof, refuse_empty_run};
use crate::engine::tasks::{Task, TaskList};
use crate::engine::{Check, CheckResult, ran_no_test};
use crate::evidence::contents::Contents;
use crate::evidence::task_list::TaskFile;
use crate::runner::task_list::finder;
use crate::store::loops::VerifyCommands;
use crate::store::receipts::{Receipt, VerifyRun};
use crate::world::WallTime;

/// What the ticks of a run are judged by.
#[derive(Debug, Default)]
pub struct TickProofs {
    /// When the run began, or the one that it continues.
    pub began_at: WallTime,
    /// How often that one was stopped.
    pub stops: u32,
    /// What the files contained when the run began, `None` where there is more than can be looked through.
    pub at_start: Option<Contents>,
    /// The same when a task was proved last.
    pub at_tick: Option<Contents>,
    /// The list when the run began.
    pub list_at_start: Option<TaskFile>,
    /// The files that it named then, and those that are protected, which are looked at also where git ignores them.
    pub named: Vec<String>,
    /// Files that are the work of a task that is proved.
    pub claimed: BTreeSet<String>,
    /// The Verify commands that a person armed.
    pub armed: VerifyCommands,
    /// When the run was armed, where `spool task done` judges by its rule: what that has judged counts.
    pub judged_since: Option<WallTime>,
    /// Tasks that were ticked by hand, whose armed command has to pass with the checks.
    pub by_hand: BTreeMap<String, HandTick>,
    /// How long the checks took that ran last, in milliseconds.
    pub millis: BTreeMap<String, u64>,
    /// The tasks that were ticked last.
    pub last: Vec<String>,
    /// All tasks of this run whose ticks count, by [`Self::id_of`].
    pub accepted: BTreeMap<String, TickProof>,
    /// Those of them that were opened again only because of protected files: they need no more work.
    pub suspended: BTreeMap<String, TickProof>,
    /// How well the tasks of this iteration are proved.
    pub of_iteration: BTreeMap<String, TickProof>,
    /// Tasks that were ticked by hand and whose command has passed since.
    pub verified: BTreeMap<String, TickProof>,
    /// The tasks whose tick was taken back.
    pub taken_back: BTreeSet<String>,
    /// The agent program whose review has passed in this iteration, and the tasks that it read; none for all.
    pub reviewed: Option<(String, Vec<String>)>,
    /// Open tasks that the next prompt named as perhaps done, by id: each is named once.
    pub named_open: BTreeSet<String>,
    /// The tasks that change nothing, with why, in the agent's words.
    pub no_change: BTreeMap<String, String>,
    /// The protected files of which a person was told what to do about them.
    pub told_put_back: BTreeSet<String>,
}

/// A tick that somebody made by hand.
#[derive(Clone, Debug)]
pub struct HandTick {
    /// The command that a person armed for its task.
    pub command: String,
    /// How well the task is proved without it.
    pub proof: TickProof,
}

/// How well one task is proved.
#[derive(Clone, Debug)]
pub struct TickProof {
    /// By what.
    pub proof: Proof,
    /// The files that are its work.
    pub files: Vec<String>,
    /// Why it changes nothing, in the agent's words.
    pub no_change: Option<String>,
    /// The run of its Verify command.
    pub verify: Option<VerifyRun>,
}

impl TickProofs {
    /// Returns the agent program whose review in this iteration has found a task good, `None` for none.
    pub fn reviewer_of(&self, task: &str) -> Option<String> {
        let (reader, part) = self.reviewed.as_ref()?;
        let is_read = part.is_empty() || part.iter().any(|id| id == task);
        is_read.then(|| reader.clone())
    }

    /// Returns how a task of this list is found in the one with which the run began, `None` for a new task, with the id by which
    /// it is accepted: the one that it had then, where another task of the list has that now.
    pub fn known<'a>(&'a self, list: &'a TaskList) -> impl Fn(&Task) -> (Option<&'a Task>, String) {
        let then = self.list_at_start.as_ref().map(|then| (&then.list, finder(&then.list)));
        move |task| {
            let known = then.as_ref().and_then(|(then, find)| {
                let same = find(&task.id).filter(|same| same.title == task.title);
                same.or_else(|| then.same_task(task, list))
            });
            let id = known.map(|known| &known.id);
            let id = id.filter(|id| **id == task.id || list.find(id).is_some());
            (known, id.unwrap_or(&task.id).clone())
        }
    }

    /// Returns the tasks of this list that are done, each with the id by which it is accepted, and whether it was done when the
    /// run began.
    pub fn done<'a>(&self, list: &'a TaskList) -> Vec<(&'a Task, String, bool)> {
        let known = self.known(list);
        let done = list.tasks.iter().filter(|task| task.done);
        done.map(|task| {
            let (then, id) = known(task);
            (task, id, then.is_some_and(|then| then.done))
        })
        .collect()
    }

    /// Returns the id by which a task of this list is accepted.
    pub fn id_of(&self, task: &Task, list: &TaskList) -> String {
        self.known(list)(task).1
    }

    /// Returns the Verify command that a person armed for what the task with this id in a list was then, whatever its id was.
    pub fn armed_command(&self, id: &str, list: &TaskList) -> Option<String> {
        let task = list.find(id)?;
        let id = match &self.list_at_start {
            Some(then) => &then.list.same_task(task, list)?.id,
            None => &task.id,
        };
        self.armed.get(id).cloned()
    }

    /// Returns how well a task is proved as `spool task done` has judged it, `None` where the runner has to judge it.
    pub fn judged_by_done(&self, receipt: &Receipt) -> Option<Proof> {
        let judges = self.judged_since.is_some() && receipt.by_content;
        receipt.proof.filter(|proof| judges || *proof >= Proof::Files)
    }

    /// Returns the commands of tasks that were ticked by hand, as checks.
    pub fn checks(&self, limit: Duration) -> impl Iterator<Item = Check> {
        self.by_hand.values().map(move |tick| Check {
            run: tick.command.clone(),
            limit_seconds: limit.as_secs(),
            ..Check::default()
        })
    }

    /// Takes in the results of the checks: a task whose command has passed is proved by it, where it was not before. A command
    /// that ran no test has not passed for a task that has nothing else.
    pub fn take_results(&mut self, results: &mut [CheckResult]) {
        for result in results.iter_mut().filter(|result| result.passed) {
            let mut its = self.by_hand.values().filter(|tick| tick.command == result.run);
            let has_no_more = its.any(|tick| tick.proof.proof < Proof::Files);
            if has_no_more {
                refuse_empty_run(result);
            }
        }
        for result in results.iter().filter(|result| result.passed) {
            let is_its = |tick: &HandTick| tick.command == result.run;
            let ids = self.by_hand.iter().filter(|(_, tick)| is_its(tick));
            let ids: Vec<String> = ids.map(|(id, _)| id.clone()).collect();
            let ran_none = ran_no_test(result.tail.as_bytes());
            for id in ids {
                let Some(HandTick { mut proof, .. }) = self.by_hand.remove(&id) else { continue };
                let millis = self.millis.get(&result.run).copied().unwrap_or_default();
                proof.verify = Some(VerifyRun { result: result.clone(), millis });
                proof.proof = proof.proof.with_command(ran_none);
                match self.of_iteration.get_mut(&id) {
                    Some(of_iteration) => *of_iteration = proof,
                    None => _ = self.verified.insert(id, proof),
                }
            }
        }
    }
}
