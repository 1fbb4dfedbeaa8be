//! Judges boxes ticked by hand, for every driver: at a stop and after an iteration.

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use super::names::names_in;
use super::rules::{JudgedTask, SaidWord, TaskFacts, VerifyShown, rank, weak, words_of};
use super::{FilesSeen, LOOK, TickJudge};
use crate::engine::matched::Matched;
use crate::engine::order::map_of;
use crate::engine::promise::said_of_tasks;
use crate::engine::proof::{
    ChangedFile, FileChange, LeastProof, Proof, Unproved, UnprovedReason, UnprovedTask, changed_at,
    refuse_empty_run,
};
use crate::engine::tasks::{Task, TaskList};
use crate::engine::{Check, CheckResult, TestsRun, is_deaf, tests_run};
use crate::store::receipts::{MOST_FILES, Receipt, VerifyRun, Witness, newest};
use crate::world::WallTime;

/// What changed in the boxes since the last judgement.
#[derive(Clone, Copy, Debug, Default)]
pub struct TickClaim<'a> {
    /// Tasks that were open at the last judgement, and are ticked now.
    pub new: &'a [String],
    /// New tasks that are ticked now.
    pub added: &'a [String],
    /// The time of the last judgement.
    pub since: WallTime,
    /// Nothing is open: all boxes are looked at.
    pub all_done: bool,
    /// The agent's last message.
    pub said: &'a str,
}

/// The judgement on boxes ticked by hand.
#[derive(Clone, Debug, Default)]
pub struct Ticks {
    /// Hash of the list; 0 if the driver sets none.
    pub list: u64,
    /// Ticked tasks that count as open.
    pub unproved: Vec<UnprovedTask>,
    /// Ticks that count and have no receipt yet.
    pub proved: Vec<Tick>,
    /// Earlier ticks with less work than their receipts say, or with a command that must run again.
    earlier: Vec<Tick>,
    facts: Vec<TaskFacts>,
    /// Default if no look was made.
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

/// The last receipt of each task.
type Newest<'a> = BTreeMap<&'a str, &'a Receipt>;
/// A ticked task with less work left than its receipt says.
type WorkLeft<'a> = (&'a Task, Result<Tick, Unproved>);

impl TickJudge {
    /// Ticked tasks whose work has vanished.
    pub fn gone(&self, list: &Matched<'_>, seen: &FilesSeen) -> Vec<UnprovedTask> {
        let newest = newest(&seen.receipts);
        let fallen = |(task, left): WorkLeft<'_>| {
            Some(UnprovedTask { id: task.id.clone(), why: left.err()? })
        };
        self.left(list, seen, &newest).into_iter().filter_map(fallen).collect()
    }

    /// Ticked tasks with less work left than their receipts say, and ticks that only a new run of their command can
    /// confirm.
    fn left<'a>(
        &'a self,
        list: &Matched<'a>,
        seen: &FilesSeen,
        newest: &Newest<'_>,
    ) -> Vec<WorkLeft<'a>> {
        let is_judged = self.armed.least == LeastProof::Files
            && self.armed_list().is_some()
            && seen.facts.held_up().is_none();
        let (Some(now), true) = (&seen.now, is_judged) else { return Vec::new() };
        let ticked = list.ticked(&|_, id| newest.contains_key(id));
        // A later task that names a file may have removed the file: an open task, or one with work of its own.
        let is_removed = |receipt: &Receipt| {
            let there = now.among(&self.place.looked_at(receipt.paths()));
            let mut away = receipt.paths().iter().zip(there).filter(|(_, is_there)| !is_there);
            away.any(|(path, _)| {
                // A task without a receipt was ticked just now.
                let is_by = |id: &str| {
                    newest.get(id).is_none_or(|other| {
                        let is_its = other.own.contains(path) || other.changed().contains(path);
                        other.at > receipt.at && !other.own.is_empty() && is_its
                    })
                };
                let names =
                    |task: &Task| names_in(&task.title).iter().any(|name| name.covers(path));
                ticked.iter().any(|(task, id)| names(task) && is_by(id))
                    || list.later.open().any(names)
            })
        };
        let its = |(task, id): (&'a Task, &'a str)| {
            let receipt = newest.get(id)?;
            let mut left = self.left_of(receipt, seen)?;
            if left.is_err() && is_removed(receipt) {
                left = Ok(weak(FileChange::Gone, &mut receipt.paths().iter().cloned()));
            }
            let waits = left.as_ref().is_ok_and(String::is_empty);
            let command = if waits { Some(self.command_of(id)?) } else { None };
            let tick = Tick::of(task, receipt, command);
            let lower = |doubt| Tick { proof: Proof::Tick, doubt, ..tick.clone() };
            Some((task, left.map(|doubt| if waits { tick.clone() } else { lower(doubt) })))
        };
        // A proved task that has left the list is judged as well.
        let absent = list.absent().map(|task| (task, task.id.as_str()));
        ticked.iter().copied().chain(absent).filter_map(its).collect()
    }

    /// The doubt about the work that is left, or the reason why none counts. An empty doubt: only a run of the command
    /// can tell. `None`: the work is as the receipt says.
    fn left_of(&self, last: &Receipt, seen: &FilesSeen) -> Option<Result<String, Unproved>> {
        let (now, paths, all) = (seen.now.as_ref()?, last.paths(), &seen.facts.since_arming);
        let waits = Some(Ok(String::new())).filter(|_| waits_for_command(last));
        let gone = || Some(Err(Unproved::of(UnprovedReason::WorkGone, paths)));
        let still = |file: &&ChangedFile| !file.back.contains(&last.task);
        let change = |path: &String| Some(changed_at(all, path).filter(still)?.change);
        let mut doubt = last.doubt.iter();
        let was_gone = doubt.any(|doubt| doubt.starts_with(words_of(FileChange::Gone)));
        let places = self.place.looked_at(paths);
        // A removal can be a task's work, and the receipt says so.
        if paths.is_empty() || (was_gone && !now.among(&places).contains(&true)) {
            return waits;
        }
        let best = paths.iter().filter_map(change).min_by_key(|change| rank(*change));
        let is_filled = |place: &String| place.ends_with('/') && now.has_below(place);
        match (last.proof, best) {
            (None | Some(Proof::Word), _) | (_, Some(FileChange::Content)) => waits,
            (_, None) if places.iter().any(is_filled) => waits,
            (_, None) => gone(),
            (Some(Proof::Command), _) => Some(Ok(String::new())),
            // One of the task's files differed in more, unless the receipt did not keep that file.
            (Some(Proof::Files), _) if last.own.len() == MOST_FILES => waits,
            (Some(Proof::Files), Some(best @ (FileChange::Stub | FileChange::Moved))) => {
                let alike = paths.iter().filter(|path| change(path) == Some(best));
                Some(Ok(weak(best, &mut alike.cloned())))
            }
            (Some(Proof::Files), _) => gone(),
            (_, Some(FileChange::Gone)) if !was_gone && !last.own.is_empty() => gone(),
            _ => waits,
        }
    }
}

impl TickClaim<'_> {
    /// The loop's receipts; `None` if no box is to be judged.
    fn receipts(&self, judge: &TickJudge) -> Option<Rc<[Receipt]>> {
        let Self { new, added, since, all_done, .. } = *self;
        if judge.armed.least == LeastProof::Word
            || (!all_done && new.is_empty() && added.is_empty())
        {
            return None;
        }
        let known = judge.known();
        // Usually `spool task done` ticked them in this turn: then nothing more is read.
        let is_any = all_done || !added.is_empty() || {
            let newest = newest(&known);
            let is_old = |id: &String| newest.get(&**id).is_some_and(|receipt| receipt.at >= since);
            !new.iter().all(is_old)
        };
        (is_any && judge.armed_list().is_some()).then_some(known)
    }
}

/// What the boxes of a list are judged by.
struct Boxes<'a> {
    judge: &'a TickJudge,
    claim: TickClaim<'a>,
    list: &'a Matched<'a>,
    text: &'a [u8],
    receipts: &'a [Receipt],
    newest: &'a Newest<'a>,
    /// Tasks whose work has vanished.
    gone: BTreeMap<String, Unproved>,
}

impl<'a> Boxes<'a> {
    fn facts(&self, task: &'a Task) -> TaskFacts {
        self.judge.facts(task, (self.list, self.text), self.receipts)
    }

    /// Ticks to judge, and ticks that were taken back and made again: their work stands, but their command may fail now.
    fn divide(
        &self,
        ticked: &[(&'a Task, &'a str)],
        is_opened: &dyn Fn(&Task) -> bool,
    ) -> (Vec<(&'a Task, &'a str)>, Vec<Tick>) {
        let (mut hand, mut again) = (Vec::new(), Vec::new());
        for &(task, id) in ticked {
            let Some(receipt) = self.newest.get(id) else {
                hand.push((task, id));
                continue;
            };
            let says_the_same =
                || self.list.then(task).is_some_and(|then| then.title == task.title);
            let is_again = receipt.at < self.claim.since && is_opened(task);
            // By its receipt, only the command could prove this task. By now, files may prove it.
            let has_nothing = receipt.proof == Some(Proof::Tick) && receipt.own.is_empty();
            let is_open = self.claim.all_done && has_nothing && waits_for_command(receipt);
            if (is_open && self.judge.command_of(id).is_some())
                || (is_again && (self.gone.contains_key(&task.id) || !says_the_same()))
            {
                hand.push((task, id));
            } else if is_again {
                again.push(Tick::of(task, receipt, self.judge.command_of(id)));
            }
        }
        (hand, again)
    }
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
        let Some(receipts) = claim.receipts(judge) else { return ticks };
        let (receipts, list, newest) = (&receipts, &judge.matched(list), &newest(&receipts));
        let opened = map_of(claim.new.iter().map(|id| (id.as_str(), ())));
        let is_opened = |task: &Task| opened.contains_key(&*task.id);
        let was_open = |task: &Task, id: &str| is_opened(task) || newest.contains_key(id);
        let ticked = list.ticked(&was_open);
        ticks.seen = judge.look_beside(Rc::clone(receipts), limit);
        let held_up = ticks.seen.facts.held_up();
        if ticks.seen.now.is_none() && held_up.is_none() && !claim.all_done {
            // No look was possible. The end of the loop asks again, and then the agent's word counts.
            return ticks;
        }
        let left = judge.left(list, &ticks.seen, newest);
        let is_gone =
            |(task, left): &'_ WorkLeft<'_>| Some((task.id.clone(), left.as_ref().err()?.clone()));
        let gone = map_of(left.iter().filter_map(is_gone));
        let boxes = Boxes { judge, claim, list, text, receipts, newest, gone };
        let (hand, mut again) = boxes.divide(&ticked, &is_opened);
        ticks.judge_hand(&boxes, &hand, &ticked);
        // Last: `take_results` walks judged ticks and facts side by side.
        ticks.proved.append(&mut again);
        if let Some(why) = held_up.filter(|_| claim.all_done && hand.is_empty()) {
            // The newest tick stands for all of them.
            let newest = ticked.iter().max_by_key(|(_, id)| newest.get(id).map(|known| known.at));
            ticks.unproved.extend(newest.map(|(one, _)| UnprovedTask { id: one.id.clone(), why }));
        }
        if claim.all_done {
            ticks.take_left(left);
        }
        ticks
    }

    /// Judges the ticks by hand, together with those that `spool task done` made in the same turn.
    fn judge_hand<'a>(
        &mut self,
        boxes: &Boxes<'a>,
        hand: &[(&'a Task, &'a str)],
        ticked: &[(&'a Task, &'a str)],
    ) {
        if hand.is_empty() {
            return;
        }
        self.facts = hand.iter().map(|(task, _)| boxes.facts(task)).collect();
        self.take_words(boxes.claim.said, hand);
        self.add_turn(boxes, ticked);
        let judged = boxes.judge.judge(&self.facts, &self.seen);
        for (place, (judged, (task, id))) in judged.into_iter().zip(hand).enumerate() {
            let word = self.facts[place].word.clone();
            // The remains of vanished work are no new work, and no other word excuses the loss.
            let no_more = |why: &&Unproved| {
                judged.id != *id || judged.files.iter().all(|file| why.files.contains(file))
            };
            match boxes.gone.get(&task.id).filter(no_more).filter(|_| word == SaidWord::None) {
                Some(why) => self.refuse(&task.id, why.clone()),
                None => self.take(&task.id, word, judged, boxes.judge.command_of(id)),
            }
        }
    }

    /// Takes the words of the agent's last message.
    fn take_words(&mut self, said: &str, hand: &[(&Task, &str)]) {
        for (tag, word) in [
            ("no-change", SaidWord::NoChange as fn(String) -> SaidWord),
            ("elsewhere", SaidWord::Elsewhere),
        ] {
            for (id, why) in said_of_tasks(said, tag) {
                let its = hand.iter().position(|(task, _)| id.eq_ignore_ascii_case(&task.id));
                if let Some(place) = its {
                    self.facts[place].word = word(why);
                }
            }
        }
    }

    /// Takes what is left at the end of work that has receipts.
    fn take_left(&mut self, left: Vec<WorkLeft<'_>>) {
        let judged = self.proved.iter().map(|tick| tick.id.clone()).chain(self.refused());
        let judged = map_of(judged.map(|id| (id, ())));
        for (task, left) in left {
            match left {
                Ok(tick) if tick.command.is_none() => self.earlier.push(tick),
                _ if judged.contains_key(&task.id) => {}
                Ok(tick) => self.earlier.push(tick),
                Err(why) => self.refuse(&task.id, why),
            }
        }
        if !self.unproved.is_empty() {
            self.earlier.clear();
        }
    }

    fn refuse(&mut self, id: &str, why: Unproved) {
        self.unproved.push(UnprovedTask { id: id.to_owned(), why });
    }

    /// Takes the judgement on a task ticked by hand.
    fn take(&mut self, id: &str, word: SaidWord, judged: JudgedTask, command: Option<String>) {
        let no_change = match word {
            SaidWord::NoChange(why) => Some(why),
            _ => None,
        };
        let proof = match judged.proof {
            Ok(proof) => proof,
            // The command may still prove the task, unless it passes always.
            Err(why) if command.as_deref().is_none_or(is_deaf) || why.holds_up_all() => {
                return self.refuse(id, why);
            }
            Err(_) => Proof::Tick,
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
    fn add_turn<'a>(&mut self, boxes: &Boxes<'a>, ticked: &[(&'a Task, &'a str)]) {
        let is_of_turn =
            |known: &&Receipt| known.by == Witness::Done && known.at >= boxes.claim.since;
        for receipt in boxes.receipts.iter().filter(is_of_turn) {
            self.seen.add_work_of(receipt);
            let its = ticked.iter().find(|(_, id)| *id == receipt.task);
            if let Some((task, _)) = its
                && self.facts.iter().all(|known| known.id != receipt.task)
            {
                let word = receipt.no_change.clone().map_or(SaidWord::None, SaidWord::NoChange);
                self.facts.push(TaskFacts { word, ..boxes.facts(task) });
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
        // The loop goes on, and the work may be restored before its end.
        self.earlier.retain(|tick| tick.command.is_some() || !is_failed);
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

    /// Notes the tasks whose command has failed, each until it passes.
    pub fn note_failed(&self, failed: &mut Vec<String>, results: &[CheckResult]) {
        for tick in self.proved.iter().chain(&self.earlier) {
            let is_its = |result: &&CheckResult| tick.command.as_ref() == Some(&result.run);
            let Some(result) = results.iter().find(is_its) else { continue };
            failed.retain(|id| *id != tick.id);
            failed.extend((!result.passed).then(|| tick.id.clone()));
        }
    }

    pub fn refused(&self) -> Vec<String> {
        self.unproved.iter().map(|task| task.id.clone()).collect()
    }

    /// Ticks that need a new receipt: new ticks, ticks whose command has passed since, and ticks with less work.
    pub fn to_keep(&self) -> impl Iterator<Item = &Tick> {
        let is_new = |tick: &&Tick| tick.verify.is_some() || tick.command.is_none();
        self.proved.iter().chain(self.earlier.iter().filter(is_new))
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
        let form = Receipt {
            task: tick.task.clone(),
            verify: tick.verify.clone(),
            proof: Some(tick.proof),
            doubt: Some(tick.doubt.clone())
                .filter(|doubt| !doubt.is_empty() && tick.proof == Proof::Tick),
            no_change: tick.no_change.clone(),
            ..form
        };
        self.seen.receipt(&tick.own, form)
    }
}

/// A box ticked by hand whose Verify command has not passed yet.
fn waits_for_command(receipt: &Receipt) -> bool {
    matches!(receipt.by, Witness::Stop | Witness::Iteration) && receipt.verify.is_none()
}

/// The evidence of a passed run of a Verify command.
pub fn shown(run: &str, tail: &str) -> VerifyShown {
    match tests_run(run, tail.as_bytes()) {
        TestsRun::Uncounted | TestsRun::Unknown if is_deaf(run) => VerifyShown::Nothing,
        TestsRun::Uncounted => VerifyShown::Uncounted,
        _ => VerifyShown::Passed,
    }
}

impl Tick {
    /// The tick of a receipt; without a run of `command`, which has to run again.
    fn of(task: &Task, known: &Receipt, command: Option<String>) -> Self {
        let proof = known.proof.unwrap_or(Proof::Word);
        Self {
            task: known.task.clone(),
            id: task.id.clone(),
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
    /// Adds the changed files, and those that are the task's work.
    pub fn receipt(&self, own: &[String], form: Receipt) -> Receipt {
        let files = self.facts.since_tick.as_deref();
        let path = |file: &ChangedFile| file.path.clone();
        let own: Vec<String> = own.iter().take(MOST_FILES).cloned().collect();
        let step = |path: &String| changed_at(&self.facts.since_arming, path).map(|file| file.step);
        Receipt {
            by_content: files.is_some(),
            more_files: files.map_or(0, <[_]>::len).saturating_sub(MOST_FILES) as u64,
            files: files.map(|files| files.iter().take(MOST_FILES).map(path).collect()),
            steps: own.iter().map(|path| step(path).unwrap_or_default()).collect(),
            own,
            ..form
        }
    }

    /// Adds the surviving changes of a task that was ticked before: they may be other tasks' work, too.
    pub fn add_work_of(&mut self, receipt: &Receipt) {
        let Some(since) = &mut self.facts.since_tick else { return };
        let paths = receipt.changed().iter().chain(&receipt.own);
        let all = &self.facts.since_arming;
        let still = all.iter().filter(|file| paths.clone().any(|one| *one == file.path));
        let more: Vec<_> =
            still.filter(|file| since.iter().all(|one| one.path != file.path)).cloned().collect();
        since.extend(more);
    }
}
