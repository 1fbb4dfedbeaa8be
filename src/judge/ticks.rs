//! Boxes ticked by hand: what every driver does with them at a stop and after an iteration.

use std::io;
use std::time::Duration;

use super::rules::{JudgedTask, SaidWord, TaskFacts, VerifyShown};
use super::{FilesSeen, LOOK, TickJudge};
use crate::engine::promise::said_of_tasks;
use crate::engine::proof::{LeastProof, Proof, UnprovedTask, refuse_empty_run};
use crate::engine::tasks::{Task, TaskList};
use crate::engine::{Check, CheckResult, TestsRun, tests_run};
use crate::store::receipts::{KnownReceipt, MOST_FILES, Receipt, VerifyRun};
use crate::world::WallTime;

/// The question about the boxes of a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct TickClaim<'a> {
    /// Tasks that were open at the last judgement, and are ticked now.
    pub new: &'a [String],
    /// The time of the last judgement.
    pub since: WallTime,
    /// Nothing is open: all boxes are looked at.
    pub all_done: bool,
    /// A new tick of a task with a receipt claims that the task was done again.
    pub claims_again: bool,
    /// The agent's last message.
    pub said: &'a str,
}

/// The boxes ticked by hand.
#[derive(Clone, Debug, Default)]
pub struct Ticks {
    /// Hash of the list, if the driver sets it.
    pub list: u64,
    /// These count as open.
    pub unproved: Vec<UnprovedTask>,
    /// These count and have no receipt yet.
    pub proved: Vec<Tick>,
    /// These have a receipt without a run of their Verify command.
    earlier: Vec<Tick>,
    facts: Vec<TaskFacts>,
    /// Default where nobody looked.
    pub seen: FilesSeen,
}

/// A tick that counts.
#[derive(Clone, Debug)]
pub struct Tick {
    /// The id in the receipt.
    pub task: String,
    /// The id in the list.
    pub id: String,
    pub proof: Proof,
    pub doubt: String,
    /// The task's work.
    pub own: Vec<String>,
    /// The agent's reason for no change.
    pub no_change: Option<String>,
    /// The Verify command that a person armed.
    command: Option<String>,
    /// The passed run of `command`.
    verify: Option<VerifyRun>,
}

impl Ticks {
    /// Judges the boxes ticked by hand. The files are looked at, within `limit`, only if such a box is new, or all is
    /// done.
    pub fn of(
        judge: &TickJudge,
        (list, text): (&TaskList, &[u8]),
        claim: TickClaim<'_>,
        limit: Duration,
    ) -> Self {
        let mut ticks = Self::default();
        let TickClaim { new, all_done, .. } = claim;
        if judge.armed.least == LeastProof::Word || (!all_done && new.is_empty()) {
            return ticks;
        }
        let known = judge.known();
        let is_again = |id: &String, receipt: &KnownReceipt| {
            claim.claims_again && new.contains(id) && receipt.at < claim.since
        };
        let is_old = |id: &String| known.get(id).is_some_and(|receipt| !is_again(id, receipt));
        // Usually `spool task done` ticked them: then nothing more is read.
        if !all_done && new.iter().all(is_old) {
            return ticks;
        }
        let Some(armed) = judge.armed_list() else { return ticks };
        let ticked = armed.ticked(list, new);
        ticks.seen = judge.look(limit);
        let held_up = ticks.seen.facts.held_up();
        if ticks.seen.now.is_none() && held_up.is_none() && !all_done {
            // Nobody could look. The end asks again, and then the word counts.
            return ticks;
        }
        let gone = if held_up.is_none() { judge.gone(list, &ticks.seen) } else { Vec::new() };
        let is_hand = |(task, id): &&(&Task, &str)| match known.get(*id) {
            None => true,
            Some(receipt) => {
                is_again(&task.id, receipt) && gone.iter().any(|lost| lost.id == task.id)
            }
        };
        let hand: Vec<(&Task, &str)> = ticked.iter().filter(is_hand).copied().collect();
        let commands = |task: &Task| judge.command_of(task, list);
        ticks.facts = hand.iter().map(|(task, _)| judge.facts(task, list, text)).collect();
        for (tag, word) in [
            ("no-change", SaidWord::NoChange as fn(String) -> SaidWord),
            ("elsewhere", SaidWord::Elsewhere),
        ] {
            for (id, why) in said_of_tasks(claim.said, tag) {
                let its = hand.iter().position(|(task, _)| id.eq_ignore_ascii_case(&task.id));
                if let Some(place) = its {
                    ticks.facts[place].word = word(why);
                }
            }
        }
        if !hand.is_empty() {
            ticks.add_turn(judge, claim.since, &|id| {
                let (task, _) = ticked.iter().find(|(_, its)| *its == id)?;
                Some(judge.facts(task, list, text))
            });
        }
        let judged = judge.judge(&ticks.facts, &ticks.seen);
        for (place, (judged, (task, _))) in judged.into_iter().zip(&hand).enumerate() {
            let word = ticks.facts[place].word.clone();
            ticks.take(&task.id, word, judged, commands(task));
        }
        if !all_done {
            return ticks;
        }
        if let Some(why) = held_up.filter(|_| hand.is_empty()) {
            // The newest tick stands for all of them.
            let newest = ticked.iter().max_by_key(|(_, id)| known.get(*id).map(|last| last.number));
            ticks.unproved.extend(newest.map(|(one, _)| UnprovedTask { id: one.id.clone(), why }));
        }
        let is_new = |lost: &UnprovedTask| hand.iter().all(|(task, _)| task.id != lost.id);
        ticks.unproved.extend(gone.into_iter().filter(is_new));
        if ticks.unproved.is_empty() {
            let waits = |(task, id): &(&Task, &str)| {
                let receipt = known.get(*id).filter(|last| last.by_hand && !last.ran_verify)?;
                Some(Tick::of_receipt(&task.id, receipt, commands(task)?))
            };
            ticks.earlier = ticked.iter().filter_map(waits).collect();
        }
        ticks
    }

    /// Takes the judgement on a task ticked by hand.
    fn take(&mut self, id: &str, word: SaidWord, judged: JudgedTask, command: Option<String>) {
        let no_change = match word {
            SaidWord::NoChange(why) => Some(why),
            _ => None,
        };
        let proof = match judged.proof {
            Ok(proof) => proof,
            // The command may still prove the task.
            Err(why) if command.is_some() && !why.holds_up_all() => Proof::Tick,
            Err(why) => {
                self.unproved.push(UnprovedTask { id: id.to_owned(), why });
                return;
            }
        };
        self.proved.push(Tick {
            task: judged.id,
            id: id.to_owned(),
            proof,
            doubt: judged.doubt,
            own: judged.files,
            no_change: no_change.filter(|_| proof == Proof::Word),
            command,
            verify: None,
        });
    }

    /// Adds what `spool task done` ticked in the same turn: a turn is one stretch of work.
    fn add_turn(
        &mut self,
        judge: &TickJudge,
        since: WallTime,
        facts_of: &dyn Fn(&str) -> Option<TaskFacts>,
    ) {
        for receipt in judge.receipts.done_since(since.max(judge.armed.at)) {
            self.seen.add_work_of(&receipt.files, &receipt.own);
            if self.facts.iter().all(|known| known.id != receipt.task) {
                let word = receipt.no_change.map_or(SaidWord::None, SaidWord::NoChange);
                self.facts.extend(facts_of(&receipt.task).map(|facts| TaskFacts { word, ..facts }));
            }
        }
    }

    /// The armed Verify commands as checks: a tick by hand does not skip them.
    pub fn checks(&self, limit_seconds: u64) -> Vec<Check> {
        let runs = self.proved.iter().chain(&self.earlier).filter_map(|tick| tick.command.clone());
        runs.map(|run| Check { run, limit_seconds, ..Check::default() }).collect()
    }

    /// A passed command proves its task; a run without a test has not passed. `millis` tells the time of each command.
    pub fn take_results(
        &mut self,
        judge: &TickJudge,
        results: &mut [CheckResult],
        millis: &dyn Fn(&str) -> u64,
    ) {
        let is_its = |result: &CheckResult, tick: &Tick| tick.command.as_ref() == Some(&result.run);
        for result in results.iter_mut() {
            if self.proved.iter().chain(&self.earlier).any(|tick| is_its(result, tick)) {
                refuse_empty_run(result);
            }
        }
        let has_run = |tick: &mut Tick| {
            let command = tick.command.as_ref()?;
            let result = results.iter().find(|result| result.passed && result.run == *command)?;
            tick.verify = Some(VerifyRun { result: result.clone(), millis: millis(command) });
            Some(shown(&result.run, &result.tail))
        };
        for tick in &mut self.earlier {
            let may_rise = tick.proof == Proof::Files && self.seen.facts.judges.is_empty();
            if has_run(tick) == Some(VerifyShown::Passed) && may_rise {
                tick.proof = Proof::Command;
            }
        }
        // The ticks have the order of their facts, without those that count as open.
        let mut facts = self.facts.iter_mut();
        for tick in &mut self.proved {
            let shown = has_run(tick).unwrap_or_default();
            if let Some(facts) = facts.find(|facts| facts.id == tick.task) {
                facts.verify = shown;
            }
        }
        if self.proved.iter().all(|tick| tick.verify.is_none()) {
            return;
        }
        let mut judged = judge.judge(&self.facts, &self.seen).into_iter();
        for tick in &mut self.proved {
            let its = judged.find(|judged| judged.id == tick.task);
            if let Some((proof, doubt)) = its.and_then(|its| Some((its.proof.ok()?, its.doubt))) {
                (tick.proof, tick.doubt) = (proof, doubt);
            }
        }
    }

    pub fn refused(&self) -> Vec<String> {
        self.unproved.iter().map(|task| task.id.clone()).collect()
    }

    /// Ticks that need a receipt: new ones, and those whose command has passed since.
    pub fn to_keep(&self) -> impl Iterator<Item = &Tick> {
        self.proved.iter().chain(self.earlier.iter().filter(|tick| tick.verify.is_some()))
    }

    /// Writes the receipts, and the contents to compare the next tick with. `looks_again`: checks may have written
    /// files since. A killed program leaves no receipts, and the ticks are judged again.
    pub fn keep(
        &self,
        judge: &TickJudge,
        looks_again: bool,
        form: &dyn Fn(&Tick) -> Receipt,
    ) -> io::Result<()> {
        let receipts: Vec<Receipt> =
            self.to_keep().map(|tick| self.receipt(tick, form(tick))).collect();
        if receipts.is_empty() {
            return Ok(());
        }
        let after =
            looks_again.then(|| judge.contents(self.seen.now.as_ref(), LOOK).ok()).flatten();
        judge.add_receipts(&receipts, after.as_ref().or(self.seen.now.as_ref()))
    }

    /// `form` has what only the driver knows.
    pub fn receipt(&self, tick: &Tick, form: Receipt) -> Receipt {
        let files = self.seen.facts.since_tick.as_ref();
        let count = files.map_or(0, Vec::len);
        Receipt {
            task: tick.task.clone(),
            by_content: files.is_some(),
            more_files: count.saturating_sub(MOST_FILES) as u64,
            files: files
                .map(|files| files.iter().take(MOST_FILES).map(|file| file.path.clone()).collect()),
            verify: tick.verify.clone(),
            proof: Some(tick.proof),
            doubt: Some(tick.doubt.clone())
                .filter(|doubt| !doubt.is_empty() && tick.proof == Proof::Tick),
            own: tick.own.iter().take(MOST_FILES).cloned().collect(),
            no_change: tick.no_change.clone(),
            ..form
        }
    }
}

/// What a passed run of a Verify command shows.
pub fn shown(run: &str, tail: &str) -> VerifyShown {
    match tests_run(run, tail.as_bytes()) {
        TestsRun::Uncounted => VerifyShown::Uncounted,
        _ => VerifyShown::Passed,
    }
}

impl Tick {
    /// The tick of a receipt without a run of its command.
    fn of_receipt(id: &str, known: &KnownReceipt, command: String) -> Self {
        Self {
            task: known.task.clone(),
            id: id.to_owned(),
            proof: known.proof.unwrap_or(Proof::Word),
            doubt: String::new(),
            own: known.own.clone(),
            no_change: known.no_change.clone(),
            command: Some(command),
            verify: None,
        }
    }
}

impl FilesSeen {
    /// Adds the surviving changes of a task that was ticked before: they may be other tasks' work, too.
    pub fn add_work_of(&mut self, files: &[String], own: &[String]) {
        let Some(since) = &mut self.facts.since_tick else { return };
        let all = &self.facts.since_arming;
        let still = all.iter().filter(|file| files.iter().chain(own).any(|one| *one == file.path));
        let more: Vec<_> =
            still.filter(|file| since.iter().all(|one| one.path != file.path)).cloned().collect();
        since.extend(more);
    }
}
