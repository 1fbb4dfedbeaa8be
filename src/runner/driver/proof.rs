//! Proof of the tasks ticked in an iteration. A tick without proof is taken back.

use std::collections::BTreeSet;
use std::io;
use std::rc::Rc;

use anyhow::Result;

use super::left::{LeftRun, RunPin};
use super::parts::Driver;
use crate::engine::edit::untick_all;
use crate::engine::promise::said_of_tasks;
use crate::engine::proof::{LeastProof, Proof, UnprovedTask};
use crate::engine::{Difference, Work};
use crate::evidence::contents::{Contents, KeptContents};
use crate::evidence::task_list::{self, TaskFile};
use crate::feature::project::Project;
use crate::forms::events::RunnerEvent;
use crate::judge::ticks::{TickClaim, Ticks};
use crate::judge::words::{answer, lack};
use crate::judge::{LOOK, Looks, TickJudge, promised};
use crate::runner::options::DoneWhen;
use crate::runner::state::{EarlierLoop, Iteration, time_of};
use crate::runner::task_list::{TaskListUpdate, Tasks};
use crate::session::arm::feature::{left_note, opened_note};
use crate::session::view::FeatureView;
use crate::store::read::read;
use crate::store::receipts::{MOST_FILES, Receipt, Receipts, Witness};
use crate::world::{self, WallTime};

impl Driver<'_> {
    /// Takes the files' contents and the list before the first iteration, with the pinned terms. A continued run takes
    /// those of its beginning.
    pub(super) fn begin_proofs(
        &mut self,
        pin: Option<&RunPin<'_>>,
        left: Option<LeftRun>,
        at: WallTime,
    ) {
        let Some(folder) = self.tree.list_folder() else {
            if self.plan.is_by_word() && self.files.earlier != EarlierLoop::GoesOn {
                self.arm_promise();
            }
            return;
        };
        let list = match &left {
            Some(left) => Some(Rc::clone(&left.list)),
            None => task_list::read(&folder).ok().map(Rc::new),
        };
        let list = list.map(|list| self.open_refused(list));
        let commands = pin.map(|pin| pin.commands.clone()).unwrap_or_default();
        self.proofs.arm(&self.tree, at, list, commands);
        self.proofs.judged_since = pin.and_then(|pin| pin.judged_since);
        if self.plan.options.settings.proof() == LeastProof::Word {
            return;
        }
        if let Some(left) = left {
            self.begin_with(left);
            return;
        }
        if let Some(judge) = &mut self.proofs.judge {
            let contents = judge.contents(None, LOOK).ok();
            judge.looks = Looks { armed: contents.clone(), tick: contents }.into();
        }
        self.keep_run();
    }

    /// Keeps the files' contents before the first iteration of a run that only the agent's promise ends.
    fn arm_promise(&self) -> Option<()> {
        let (judge, change) = (self.promise_judge()?, self.plan.change);
        let proposal = read(&change.folder.join(change.primary()), task_list::MOST);
        let proposal = proposal.map(|content| content.bytes).unwrap_or_default();
        let task = [self.plan.options.task.as_bytes(), b"\n", &proposal].concat();
        // Without these contents a promise is judged by the changes of the iterations.
        promised::arm(&judge, &String::from_utf8_lossy(&task), LOOK).ok()
    }

    /// `None` if nothing can be stored.
    fn promise_judge(&self) -> Option<TickJudge> {
        let began = time_of(&self.files.state.started_at)?;
        Some(promised::promise_judge(self.tree.path(), self.tree.run_receipts().ok()?, began))
    }

    /// The difference of the files since the start, and the doubts about an end that no list of the loop decides.
    pub(super) fn against(&self, claimed: bool) -> (Difference, String) {
        let touched = || self.tree.since_start();
        let about = (self.tree.path(), self.plan.options.task.as_str());
        if self.plan.done == DoneWhen::Tasks {
            return (touched(), String::new());
        }
        if !claimed || !self.plan.is_by_word() {
            return (touched(), promised::left_open(about.0, about.1));
        }
        promised::against(self.promise_judge().as_ref(), about, LOOK, touched)
    }

    /// Judges the tasks ticked in an iteration. `said` is the final text of an agent with a good end. Unproved tasks
    /// count as open, and their boxes are opened again. The agent has ended, so no other program writes the list.
    pub(super) fn judge_ticks(
        &mut self,
        looked: &mut TaskListUpdate,
        said: Option<&str>,
        entry: &mut Iteration,
        began_at: WallTime,
    ) {
        self.proofs.ticks = Ticks::default();
        let all_done = matches!(looked.work, Work::List { done: 1.., open: 0 });
        self.proofs.follow_list(&self.tree);
        let (Some(judge), Some(tasks)) = (&mut self.proofs.judge, &self.tree.tasks) else { return };
        let Some(file) = &tasks.looked else { return };
        let said = said.unwrap_or_default();
        Self::note_missing(judge, &file.list, looked, said);
        if self.plan.options.settings.proof() == LeastProof::Word {
            return;
        }
        let claim = TickClaim {
            new: &looked.ticked,
            added: &looked.added,
            since: began_at,
            all_done,
            said,
        };
        let ticks = Ticks::of(judge, (&file.list, &file.bytes), claim, LOOK);
        let kept = self.tree.receipts().map(|receipts| receipts.since(began_at));
        let mut done = kept.unwrap_or_default();
        done.retain(|receipt| receipt.by == Witness::Done);
        for tick in &ticks.proved {
            if !looked.ticked.contains(&tick.id) {
                looked.ticked.push(tick.id.clone());
            }
        }
        let of_hand = ticks.proved.iter().map(|tick| (&tick.id, &tick.no_change));
        let of_done = done.iter().filter(|receipt| receipt.proof == Some(Proof::Word));
        let said = of_hand.chain(of_done.map(|receipt| (&receipt.task, &receipt.no_change)));
        let said = said.filter_map(|(id, why)| Some((id.clone(), why.clone()?)));
        self.proofs.no_change.extend(said);
        if !ticks.proved.is_empty() {
            set_tick(judge, ticks.seen.now.clone());
            self.proofs.keep_for_done(&self.tree, &self.console.screen);
        } else if let (false, Some(since)) = (done.is_empty(), self.proofs.judged_since) {
            // `spool task done` kept a look after the last tick; its look covers the project alone.
            let kept = self.tree.receipts().ok().and_then(|receipts| receipts.contents());
            let kept = kept.and_then(KeptContents::parse);
            let kept =
                kept.filter(|kept| kept.number == since.millis() && judge.place.above.is_empty());
            let look = || judge.contents(judge.looks().tick.as_ref(), LOOK).ok();
            let tick = kept.map_or_else(look, |kept| kept.contents);
            set_tick(judge, tick);
        }
        self.take_back(&ticks.unproved, looked, entry);
        self.proofs.ticks = ticks;
    }

    /// Counts tasks as open that were open at the beginning and have left the list. An agent without `spool task` drops
    /// a task with a reason in its final text.
    fn note_missing(
        judge: &TickJudge,
        list: &crate::engine::tasks::TaskList,
        looked: &mut TaskListUpdate,
        said: &str,
    ) {
        if judge.armed_list().is_none() {
            return;
        }
        let mut missing = judge.missing(list, &[], &[]);
        let words = if missing.is_empty() { Vec::new() } else { said_of_tasks(said, "no-change") };
        for (id, why) in words {
            let Some(place) = missing.iter().position(|gone| *gone == id) else { continue };
            let (at, task, by) = (world::now(), missing.remove(place), Witness::Drop);
            let (proof, no_change) = (Some(Proof::Word), Some(why));
            let dropped = Receipt { at, task, by, proof, no_change, ..Receipt::default() };
            let _ = judge.receipts.add_all(&[dropped]);
        }
        looked.tampered.removed = missing;
    }

    /// Opens the boxes that a stop of an earlier loop in a session refused, as an arming in a session does, and returns the
    /// list with them open. In a run that continues, ticks of its agent wait to be judged: those are open in its list.
    fn open_refused(&mut self, mut list: Rc<TaskFile>) -> Rc<TaskFile> {
        let change = self.plan.change;
        let (project, feature) = (Project { root: change.root.clone() }, change.feature());
        let view = FeatureView::of(&project, &feature);
        let mut refused = view.refused();
        if let Some(words) = left_note(&view.snapshot().gone) {
            self.console.screen.warn(&words);
        }
        refused.retain(|id| list.list.find(id).is_some_and(|task| task.done));
        if let Some(words) = opened_note(&refused) {
            self.console.screen.warn(&words);
            self.open_boxes(&refused);
            list = Rc::new(TaskFile::of(untick_all(&list.bytes, &refused)));
        }
        list
    }

    /// Opens these boxes, and looks at the list again.
    fn open_boxes(&mut self, ids: &[String]) -> Option<TaskListUpdate> {
        if let Err(error) = self.tree.open_boxes(ids) {
            self.console.screen.warn(&format!(
                "the boxes of {} cannot be opened again: {error}; they count as open all the same",
                ids.join(", ")
            ));
        }
        Some(self.tree.tasks.as_mut()?.look_again(ids))
    }

    /// Looks at the list once more. An end that leaves tasks open also opens those whose work has vanished.
    pub(super) fn look_at_end(&mut self) {
        let Some(mut looked) = self.tree.tasks.as_mut().map(Tasks::look) else { return };
        let open = self.tree.looked_list().filter(|list| list.open().next().is_some());
        let (Some(judge), Some(list)) = (&self.proofs.judge, open) else { return };
        let gone = judge.gone(&judge.matched(list), &judge.look(LOOK));
        self.take_back(&gone, &mut looked, &mut Iteration::default());
    }

    /// Opens the boxes of unproved tasks, and tells the next agent and the person.
    fn take_back(
        &mut self,
        unproved: &[UnprovedTask],
        looked: &mut TaskListUpdate,
        entry: &mut Iteration,
    ) {
        if unproved.is_empty() {
            return;
        }
        let ids: Vec<String> = unproved.iter().map(|task| task.id.clone()).collect();
        if let Some(again) = self.open_boxes(&ids) {
            (looked.work, looked.next) = (again.work, again.next);
        }
        looked.ticked.retain(|id| !ids.contains(id));
        let list = self.tree.looked_list();
        let is_gone = |id: &&String| list.is_none_or(|list| list.find(id).is_none());
        looked.tampered.removed.extend(ids.iter().filter(is_gone).cloned());
        for UnprovedTask { id, why } in unproved {
            self.proofs.no_change.remove(id);
            self.proofs.taken_back.insert(id.clone());
            let (lack, answer) = (lack(why), answer(id, why, false));
            let then = if why.holds_up_all() { ", then tick it" } else { "" };
            self.feedback
                .remarks
                .push(format!("The box of {id} is open again: {lack}. {answer}{then}"));
            entry.unproved.push(format!("{id}: {lack}"));
            let event = RunnerEvent::TakenBack { task: id.clone(), why: lack.clone() };
            let how = self.proofs.how_to_put_back(why, &self.tree, &self.files.folder);
            let words = format!("  {id} is open again: it was ticked, but {lack}{how}");
            self.console.screen.report(event, &words);
        }
    }

    /// Writes a receipt for each ticked task that `spool task done` gave none, and notes a passed review in the
    /// receipts of the tasks that it read. A warning tells why nothing is written.
    pub(super) fn keep_receipts(&mut self, entry: &Iteration, began_at: WallTime, at: WallTime) {
        let is_any = !entry.tasks_ticked.is_empty()
            || self.proofs.ticks.to_keep().next().is_some()
            || self.proofs.reviewed.is_some();
        if !is_any {
            return;
        }
        let mut kept = self.try_to_keep_receipts(entry, began_at, at);
        if self.files.frees_room_for(&kept) {
            kept = self.try_to_keep_receipts(entry, began_at, at);
        }
        if let Err(error) = kept {
            self.console
                .screen
                .warn(&format!("the receipts of this iteration are not kept: {error:#}"));
        }
    }

    fn try_to_keep_receipts(
        &self,
        entry: &Iteration,
        began_at: WallTime,
        at: WallTime,
    ) -> Result<()> {
        let list = self.tree.list_under(self.tree.path());
        let receipts = self.tree.receipts()?;
        let mut known = receipts.since(began_at);
        // A clock that was set back makes an earlier iteration's receipt as new as this one's. The number is 0 for a
        // runner killed between two iterations: all receipts of its run are known.
        known.retain(|receipt| match receipt.by {
            Witness::Review => false,
            Witness::Iteration => receipt.iteration >= entry.n,
            _ => true,
        });
        let files = entry.files.iter().filter(|file| **file != list).take(MOST_FILES);
        let judge = self.proofs.judge.as_ref();
        let in_project = |file: &String| judge.map(|judge| judge.place.in_project(file));
        let files: Vec<String> = files.filter_map(in_project).collect();
        let form = |task: &str| Receipt {
            at,
            task: task.to_owned(),
            by: Witness::Iteration,
            session: entry.session_id.clone(),
            iteration: entry.n,
            more_files: entry.files_changed.saturating_sub(files.len() as u64),
            files: Some(files.clone()),
            commits: self.tree.git.as_ref().map(|_| entry.commits.len() as u64),
            checks: entry.checks.clone(),
            tokens: (!entry.tokens_unknown).then_some(entry.tokens_used),
            reviewer: self.proofs.reviewer_of(task),
            ..Receipt::default()
        };
        let ticks = &self.proofs.ticks;
        let mut written: Vec<Receipt> =
            ticks.to_keep().map(|tick| ticks.receipt(tick, form(&tick.id))).collect();
        let mut new: BTreeSet<String> = ticks.to_keep().map(|tick| tick.id.clone()).collect();
        for task in &entry.tasks_ticked {
            if !new.contains(task) && known.iter().all(|receipt| receipt.task != *task) {
                new.insert(task.clone());
                written.push(form(task));
            }
        }
        match judge.filter(|_| !ticks.proved.is_empty()) {
            Some(judge) => judge.add_receipts(&written, judge.looks().tick.as_ref())?,
            None => receipts.add_all(&written)?,
        }
        Ok(self.keep_review(&receipts, &new)?)
    }

    /// Notes a passed review in the earlier receipts of done tasks that it read; new receipts already have it.
    fn keep_review(&self, receipts: &Receipts, new: &BTreeSet<String>) -> io::Result<()> {
        let Some((reader, _)) = &self.proofs.reviewed else { return Ok(()) };
        let list = self.tree.looked_list().into_iter();
        let done = list.flat_map(|list| &list.tasks).filter(|task| task.done);
        let read = done.map(|task| &task.id).filter(|id| self.proofs.reviewer_of(id).is_some());
        let read: BTreeSet<&str> =
            read.filter(|id| !new.contains(*id)).map(String::as_str).collect();
        let since = time_of(&self.files.state.started_at).unwrap_or_default();
        receipts.reviewed(reader, since, &|id| read.contains(id))
    }
}

/// Sets the contents that the next tick is compared with.
fn set_tick(judge: &mut TickJudge, tick: Option<Contents>) {
    if let Some(looks) = judge.looks.get_mut() {
        looks.tick = tick;
    }
}
