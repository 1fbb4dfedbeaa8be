//! Boxes ticked by hand: what every driver does with them at a stop and after an iteration.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use super::rules::{JudgedTask, SaidWord, TaskFacts, VerifyShown};
use super::{FilesSeen, LOOK, Left, TickJudge, WorkLeft};
use crate::engine::promise::said_of_tasks;
use crate::engine::proof::{LeastProof, Proof, Unproved, UnprovedTask, refuse_empty_run};
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
    /// These count and have no receipt of this tick yet.
    pub proved: Vec<Tick>,
    /// These have a receipt that only a run of their Verify command can confirm.
    earlier: Vec<Tick>,
    /// The work of these is less than their receipts say.
    lowered: Vec<Tick>,
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
        let opened: BTreeSet<&str> = new.iter().map(String::as_str).collect();
        let is_again =
            |id: &str, last: &KnownReceipt| last.at < claim.since && opened.contains(id);
        let is_old = |id: &String| known.get(id).is_some_and(|last| !is_again(id, last));
        // Usually `spool task done` ticked them: then nothing more is read.
        if !all_done && new.iter().all(is_old) {
            return ticks;
        }
        let Some(armed) = judge.armed_list() else { return ticks };
        let was_opened =
            |task: &Task, id: &str| opened.contains(&*task.id) || known.contains_key(id);
        let ticked = armed.ticked(list, &was_opened);
        ticks.seen = judge.look(limit);
        let held_up = ticks.seen.facts.held_up();
        if ticks.seen.now.is_none() && held_up.is_none() && !all_done {
            // Nobody could look. The end asks again, and then the word counts.
            return ticks;
        }
        let left = if held_up.is_none() { judge.left(list, &ticks.seen) } else { Vec::new() };
        let is_gone =
            |id: &str| left.iter().any(|work| work.id == id && work.left == Left::Nothing);
        let commands = |task: &Task| judge.command_of(task, list);
        let (mut hand, mut again): (Vec<(&Task, &str)>, _) = (Vec::new(), Vec::new());
        let newest = LazyCell::new(|| judge.newest());
        for (task, id) in &ticked {
            let Some(last) = known.get(*id) else {
                hand.push((task, id));
                continue;
            };
            match newest.get(*id).filter(|_| is_again(&task.id, last)) {
                None => {}
                Some(_) if is_gone(&task.id) => hand.push((task, id)),
                // Its work stands, but its command may fail now.
                Some(last) => again.push(Tick::of(&task.id, last, commands(task))),
            }
        }
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
        // Behind the judged ones, which have the order of their facts.
        ticks.proved.append(&mut again);
        if !all_done {
            return ticks;
        }
        if let Some(why) = held_up.filter(|_| hand.is_empty()) {
            // The newest tick stands for all of them.
            let newest = ticked.iter().max_by_key(|(_, id)| known.get(*id).map(|last| last.number));
            ticks.unproved.extend(newest.map(|(one, _)| UnprovedTask { id: one.id.clone(), why }));
        }
        for WorkLeft { id, receipt, left } in left {
            let earlier = |command| Tick::of(&id, &receipt, command);
            match left {
                _ if hand.iter().any(|(task, _)| task.id == id) => {}
                Left::Nothing => {
                    let why = Unproved::WorkGone(receipt.paths().to_vec());
                    ticks.unproved.push(UnprovedTask { id, why });
                }
                Left::Less(doubt) => {
                    ticks.lowered.push(Tick { proof: Proof::Tick, doubt, ..earlier(None) });
                }
                Left::Unsure => ticks.earlier.push(earlier(list.find(&id).and_then(commands))),
            }
        }
        let waits = |(task, id): &(&Task, &str)| {
            let last = known.get(*id).filter(|last| last.by_hand && !last.ran_verify)?;
            let last = Some(last).filter(|last| !is_again(&task.id, last))?;
            Some(Tick::of(&task.id, last, Some(commands(task)?)))
        };
        ticks.earlier.extend(ticked.iter().filter_map(waits));
        if !ticks.unproved.is_empty() {
            ticks.earlier.clear();
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
        let is_failed = results.iter().any(|result| !result.passed);
        // The work may be better before the end.
        self.lowered.retain(|_| !is_failed);
        let has_run = |tick: &mut Tick| {
            let command = tick.command.as_ref()?;
            let result = results.iter().find(|result| result.passed && result.run == *command)?;
            tick.verify = Some(VerifyRun { result: result.clone(), millis: millis(command) });
            Some(shown(&result.run, &result.tail))
        };
        let may_rise = self.seen.facts.judges.is_empty();
        // The ticks have the order of their facts, without those that count as open; receipts need no facts.
        let mut facts = self.facts.iter_mut();
        for tick in self.proved.iter_mut().chain(&mut self.earlier) {
            let shown = has_run(tick).unwrap_or_default();
            match facts.find(|facts| facts.id == tick.task) {
                Some(facts) => facts.verify = shown,
                None if shown == VerifyShown::Passed && tick.proof == Proof::Files && may_rise => {
                    tick.proof = Proof::Command;
                }
                None => {}
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

    /// Ticks that need a receipt: new ones, those whose command has passed since, and those with less work.
    pub fn to_keep(&self) -> impl Iterator<Item = &Tick> {
        let ran = self.earlier.iter().filter(|tick| tick.verify.is_some());
        self.proved.iter().chain(ran).chain(&self.lowered)
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
    /// The tick of a receipt; without a run of `command`, which has to run again.
    fn of(id: &str, known: &KnownReceipt, command: Option<String>) -> Self {
        let proof = known.proof.unwrap_or(Proof::Word);
        Self {
            task: known.task.clone(),
            id: id.to_owned(),
            proof: if command.is_some() { proof.min(Proof::Files) } else { proof },
            doubt: known.doubt.clone().unwrap_or_default(),
            own: known.own.clone(),
            no_change: known.no_change.clone(),
            command,
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
