//! Boxes that were ticked by hand in a session: they are judged at its stop, and those that nothing proves count as open.

use std::io;
use std::time::Duration;

use crate::engine::promise::no_changes;
use crate::engine::proof::{
    JudgedTask, LeastProof, Proof, TaskFacts, Unproved, UnprovedTask, refuse_empty_run,
};
use crate::engine::tasks::Task;
use crate::engine::unticked::UntickedTask;
use crate::engine::{Check, CheckResult, Observation, ran_no_test};
use crate::evidence::commits;
use crate::feature::project::Project;
use crate::feature::snapshot::FeatureSnapshot;
use crate::session::proof::{FilesSeen, TaskProofs, facts_of};
use crate::session::unticked::{self, Question};
use crate::store::loops::Record;
use crate::store::pins::Pin;
use crate::store::receipts::{KnownReceipt, MOST_FILES, Receipt, VerifyRun, Witness};
use crate::world::WallTime;

/// The longest that the files are looked through at a stop.
pub const LOOK: Duration = Duration::from_millis(1_200);
/// The limit of a Verify command that runs with the checks, in seconds.
const VERIFY_LIMIT: u64 = 300;

/// What a stop saw of the boxes that were ticked by hand.
#[derive(Clone, Debug, Default)]
pub struct StopTicks {
    /// The list that it is about, by its hash.
    list: u64,
    /// The tasks that count as open.
    pub unproved: Vec<UnprovedTask>,
    /// Those that count and have no receipt yet.
    proved: Vec<StopTick>,
    /// Those that have one, and whose Verify command did not run for it.
    earlier: Vec<StopTick>,
    /// What the files showed, where anybody looked.
    seen: FilesSeen,
    /// Open tasks that may be done, for which the agent is asked.
    pub unticked: Vec<UntickedTask>,
}

/// A tick that somebody made by hand, and that counts.
#[derive(Clone, Debug)]
struct StopTick {
    task: String,
    proof: Proof,
    /// The files that are its work.
    own: Vec<String>,
    /// Why it changes nothing, in the agent's words.
    no_change: Option<String>,
    /// The command that a person armed for its task.
    command: Option<String>,
    /// Its run, once it has passed.
    verify: Option<VerifyRun>,
}

impl StopTicks {
    /// Returns what a stop sees of the boxes that were ticked by hand in a loop that a person armed; `new` are the ids of the tasks
    /// that were open at the stop before, which was judged then, and are ticked now, and `said` is the agent's last message. The files are looked at, no
    /// longer than the limit, only where such a box is new, or all is done.
    pub fn of(
        project: &Project,
        snapshot: &FeatureSnapshot,
        pin: &Pin,
        (new, judged_at): (&[String], WallTime),
        said: &str,
        limit: Duration,
    ) -> Self {
        let mut ticks = Self { list: snapshot.tasks_hash(), ..Self::default() };
        let Some(list) = snapshot.tasks.as_ref().filter(|_| pin.proof == LeastProof::Files) else {
            return ticks;
        };
        let Ok(proofs) = TaskProofs::of(project, &snapshot.feature, Some(pin)) else {
            return ticks;
        };
        let all_done = snapshot.all_done();
        if !all_done && new.is_empty() {
            return ticks;
        }
        let known = proofs.receipts.known(proofs.armed_at);
        // As a rule `spool task done` has ticked them: then nothing more is read.
        if !all_done && new.iter().all(|id| known.contains_key(id)) {
            return ticks;
        }
        let Some(armed) = proofs.armed_list() else { return ticks };
        let ticked = armed.ticked_since(list);
        let hand: Vec<(&Task, &str)> =
            ticked.iter().copied().filter(|(_, id)| !known.contains_key(*id)).collect();
        let protects = !pin.protect.is_empty() || !pin.checks.is_empty() || pin.verify > 0;
        if hand.is_empty() && !(all_done && protects) {
            return ticks;
        }
        let commands = proofs.verify_commands();
        // A person armed it for what the task was then, whatever its id is now.
        let command = |task: &Task| commands.get(&armed.then(task, list)?.id).cloned();
        ticks.seen = proofs.look(limit);
        let held_up = ticks.seen.held_up();
        if ticks.seen.now.is_none() && held_up.is_none() && !all_done {
            // Nobody could look: at the end it is asked again, and then the word counts.
            return ticks;
        }
        let said = no_changes(said);
        let facts_of = |task: &Task| {
            let facts = facts_of(Some(armed), task, list, &snapshot.text);
            proofs.with_parts(facts, task, list)
        };
        let mut facts: Vec<TaskFacts> = hand
            .iter()
            .map(|(task, _)| {
                let why = said.iter().find(|(id, _)| id.eq_ignore_ascii_case(&task.id));
                TaskFacts { no_change: why.map(|(_, why)| why.clone()), ..facts_of(task) }
            })
            .collect();
        if !hand.is_empty() && !known.is_empty() {
            let since = judged_at.max(proofs.armed_at);
            ticks.add_turn(&mut facts, proofs.receipts.done_since(since), &|id| {
                ticked.iter().find(|(_, its)| *its == id).map(|(task, _)| facts_of(task))
            });
        }
        let judged = proofs.judge(&facts, &ticks.seen, list);
        for ((facts, judged), (task, _)) in facts.iter().zip(judged).zip(hand.iter().copied()) {
            ticks.take(&task.id, facts, judged, command(task));
        }
        if let Some(why) = held_up.filter(|_| all_done && hand.is_empty()) {
            // The task that was ticked last stands for all of them.
            let newest = ticked.iter().max_by_key(|(_, id)| known.get(*id).map(|it| it.number));
            ticks
                .unproved
                .extend(newest.map(|(task, _)| UnprovedTask { id: task.id.clone(), why }));
        }
        if all_done && ticks.unproved.is_empty() {
            let waits = |(task, id): &(&Task, &str)| {
                let (known, command) = (known.get(*id)?, command(task)?);
                StopTick::of_receipt(known, command)
            };
            ticks.earlier = ticked.iter().filter_map(waits).collect();
        }
        ticks
    }

    /// Takes in how well a task is proved that was ticked by hand, with the command that a person armed for it.
    fn take(&mut self, id: &str, facts: &TaskFacts, judged: JudgedTask, command: Option<String>) {
        let proof = match judged.proof {
            Ok(proof) => proof,
            // With its command to come, it is no worse than one with nothing else.
            Err(Unproved::NothingChanged | Unproved::NamedFilesUnchanged(_))
                if command.is_some() =>
            {
                Proof::Tick
            }
            Err(why) => {
                self.unproved.push(UnprovedTask { id: id.to_owned(), why });
                return;
            }
        };
        self.proved.push(StopTick {
            task: judged.id,
            proof,
            own: judged.files,
            no_change: facts.no_change.clone().filter(|_| proof == Proof::Word),
            command,
            verify: None,
        });
    }

    /// Adds what `spool task done` has ticked in the same turn: a turn is one stretch of work, whoever ticked a part of it, and what
    /// was done for these tasks may have been done for those, too.
    fn add_turn(
        &mut self,
        facts: &mut Vec<TaskFacts>,
        done: Vec<KnownReceipt>,
        facts_of: &dyn Fn(&str) -> Option<TaskFacts>,
    ) {
        for receipt in done {
            self.seen.add_turn_of(&receipt);
            let is_new = |it: &TaskFacts| facts.iter().all(|known| known.id != it.id);
            let task = facts_of(&receipt.task).filter(is_new);
            facts.extend(task.map(|facts| TaskFacts { no_change: receipt.no_change, ..facts }));
        }
    }

    /// Looks for open tasks that may be done, where the files were looked at for the boxes, and no longer than `idle` where the
    /// agent does nothing any more: it may believe that all is done. What nothing proves is open in the snapshot already.
    pub fn look_for_unticked(
        &mut self,
        project: &Project,
        snapshot: &FeatureSnapshot,
        pin: &Pin,
        idle: Option<Duration>,
    ) {
        let Some(list) = snapshot.tasks.as_ref().filter(|_| pin.proof == LeastProof::Files) else {
            return;
        };
        let proofs = || TaskProofs::of(project, &snapshot.feature, Some(pin)).ok();
        if let Some(limit) = idle.filter(|_| self.seen.now.is_none() && !snapshot.all_done()) {
            self.seen = proofs().map(|proofs| proofs.look(limit)).unwrap_or_default();
        }
        if !unticked::may_be(list, &snapshot.text, &self.seen) {
            return;
        }
        let own: Vec<&String> = self.proved.iter().flat_map(|tick| &tick.own).collect();
        let Some(proofs) = proofs() else { return };
        let mut found =
            unticked::found(&proofs, (list, &snapshot.text), &self.seen, &own, Question::Next);
        // The agent reads of these why they are open.
        found.retain(|task| self.unproved.iter().all(|it| it.id != task.id));
        self.unticked = found;
    }

    /// Notes that the agent is asked about the open tasks that may be done.
    pub fn note_unticked(
        &self,
        project: &Project,
        snapshot: &FeatureSnapshot,
        pin: &Pin,
    ) -> io::Result<()> {
        if self.unticked.is_empty() {
            return Ok(());
        }
        unticked::note(&TaskProofs::of(project, &snapshot.feature, Some(pin))?, &self.unticked)
    }

    /// Returns whether they are those of this list.
    pub fn is_of(&self, list: u64) -> bool {
        self.list == list
    }

    /// Returns the Verify commands that a person armed for them, as checks: a tick by hand does not skip them.
    pub fn checks(&self) -> Vec<Check> {
        let commands = self.proved.iter().chain(&self.earlier).filter_map(|it| it.command.clone());
        let check = |run| Check { run, limit_seconds: VERIFY_LIMIT, ..Check::default() };
        commands.map(check).collect()
    }

    /// Takes in the results of the checks, each with how long it took: a command that passed proves its task. One that ran no
    /// test has not passed for a task that has nothing else.
    pub fn take_results(&mut self, results: &mut [CheckResult], millis: &[u64]) {
        let ticks = || self.proved.iter().chain(&self.earlier);
        for result in results.iter_mut() {
            let mut its = ticks().filter(|tick| tick.command.as_ref() == Some(&result.run));
            if its.any(|tick| tick.proof < Proof::Files) {
                refuse_empty_run(result);
            }
        }
        for tick in self.proved.iter_mut().chain(&mut self.earlier) {
            let run = results
                .iter()
                .zip(millis)
                .find(|(result, _)| result.passed && tick.command.as_ref() == Some(&result.run));
            if let Some((result, millis)) = run {
                tick.proof = tick.proof.with_command(ran_no_test(result.tail.as_bytes()));
                tick.verify = Some(VerifyRun { result: result.clone(), millis: *millis });
            }
        }
    }

    /// Keeps a receipt for each that counts, and what the files contain, to compare the next tick with. A program that is
    /// killed on the way leaves none: they are judged again.
    pub fn keep(
        &self,
        project: &Project,
        snapshot: &FeatureSnapshot,
        record: &Record,
        pin: &Pin,
        seen: &Observation,
    ) -> io::Result<()> {
        self.keep_review(project, snapshot, pin, seen)?;
        let verified = self.earlier.iter().filter(|tick| tick.verify.is_some());
        let mut ticks = self.proved.iter().chain(verified).peekable();
        if ticks.peek().is_none() {
            return Ok(());
        }
        let proofs = TaskProofs::of(project, &snapshot.feature, Some(pin))?;
        let files = self.seen.since_tick.as_ref();
        let paths = files.map(|files| files.iter().map(|file| file.path.clone()));
        let count = files.map_or(0, Vec::len);
        let files: Option<Vec<String>> = paths.map(|paths| paths.take(MOST_FILES).collect());
        // What the checks wrote is not the work of the next task.
        let after = seen.after_checks.and_then(|_| proofs.look_again(self.seen.now.as_ref(), LOOK));
        let contents = after.as_ref().or(self.seen.now.as_ref());
        let receipts = ticks.map(|tick| {
            let failed = record.attempts.get(&tick.task).copied().unwrap_or_default();
            Receipt {
                at: record.seen_at,
                task: tick.task.clone(),
                by: Witness::Stop,
                session: record.session.clone(),
                iteration: record.ledger.iterations,
                by_content: files.is_some(),
                more_files: count.saturating_sub(MOST_FILES) as u64,
                files: files.clone(),
                commits: seen.commits,
                log_read: commits::log_length(&project.root),
                verify: tick.verify.clone(),
                checks: seen.checks.clone().unwrap_or_default(),
                attempt: failed.max(snapshot.state.failures(&tick.task)).saturating_add(1),
                tokens: (seen.tokens > 0).then_some(seen.tokens),
                proof: Some(tick.proof),
                own: tick.own.iter().take(MOST_FILES).cloned().collect(),
                no_change: tick.no_change.clone(),
                reviewer: reviewer_of(&tick.task, seen),
                ..Receipt::default()
            }
        });
        proofs.add_receipts(&receipts.collect::<Vec<_>>(), contents)
    }
}

/// Who has read the work of this task at this stop and found it good.
fn reviewer_of(task: &str, seen: &Observation) -> Option<String> {
    let is_read = seen.finished.as_ref().is_none_or(|part| part.tasks.iter().any(|id| id == task));
    let proof = seen.checks.iter().flatten().find(|it| it.is_proof_by_review() && is_read)?;
    Some(Check { run: proof.run.clone(), ..Check::default() }.reader().to_owned())
}

impl StopTicks {
    /// Notes a review that has passed at this stop in the receipts of the done tasks that it read and that have one already.
    fn keep_review(
        &self,
        project: &Project,
        snapshot: &FeatureSnapshot,
        pin: &Pin,
        seen: &Observation,
    ) -> io::Result<()> {
        if !seen.checks.iter().flatten().any(CheckResult::is_proof_by_review) {
            return Ok(());
        }
        let done = snapshot.tasks.iter().flat_map(|list| &list.tasks).filter(|task| task.done);
        let read = |id: &str| {
            let is_new = self.proved.iter().any(|tick| tick.task == id);
            let task = done.clone().find(|task| task.id == id && !is_new);
            task.and_then(|task| reviewer_of(&task.id, seen))
        };
        let Some(reader) = done.clone().find_map(|task| read(&task.id)) else { return Ok(()) };
        let proofs = TaskProofs::of(project, &snapshot.feature, Some(pin))?;
        proofs.receipts.reviewed(&reader, proofs.armed_at, &|id| read(id).is_some())
    }
}

impl StopTick {
    /// The tick of a receipt that a stop has written, where its command did not run for it.
    fn of_receipt(known: &KnownReceipt, command: String) -> Option<Self> {
        let waits = known.by_stop && !known.ran_verify;
        waits.then(|| Self {
            task: known.task.clone(),
            proof: known.proof.unwrap_or(Proof::Word),
            own: known.own.clone(),
            no_change: known.no_change.clone(),
            command: Some(command),
            verify: None,
        })
    }
}
