//! How well the tasks are proved that were ticked in an iteration; a tick with nothing behind it is taken back.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use super::left::LeftRun;
use super::parts::Driver;
use super::pin::RunPin;
use super::ticks::{HandTick, TickProof, TickProofs};
use crate::engine::edit::untick;
use crate::engine::promise::no_changes;
use crate::engine::proof::{
    ChangedFile, FileFacts, JudgedTask, LeastProof, Proof, TaskFacts, Unproved, VerifyShown, judge,
};
use crate::engine::tasks::{Task, TaskList};
use crate::engine::unticked::{FIRST, unticked};
use crate::engine::{Work, ran_no_test};
use crate::evidence::contents::{Contents, ContentsLook, KeptContents};
use crate::evidence::grown::NoLook;
use crate::evidence::protected::Protected;
use crate::evidence::task_list::{self, TASKS, TaskFile};
use crate::feature::HANDOFF;
use crate::forms::events::RunnerEvent;
use crate::runner::state::Iteration;
use crate::runner::target::ChangeKind;
use crate::runner::task_list::{TaskListUpdate, Tasks};
use crate::session::messages::proof::{self as messages, REASON, lack, remedy};
use crate::session::proof::{NamedPlaces, named_in};
use crate::store::amend::amend;
use crate::store::loops::Loops;
use crate::store::receipts::{Receipt, Witness};
use crate::store::write::remove_all_leftovers;
use crate::system::names;
use crate::world::{self, Stopwatch, WallTime};

/// How long to wait for who keeps the task log at the same time.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest that the files are looked through.
const LOOK: Duration = Duration::from_secs(2);

impl Driver<'_> {
    /// Remembers what the files contain and what the list says before the first iteration, with what the run has pinned; where it
    /// continues a run, what that began with.
    pub(super) fn begin_proofs(&mut self, pin: Option<&RunPin<'_>>, left: Option<LeftRun>) {
        let Some(list) = self.list_path() else { return };
        let folder = self.view.tasks.as_ref().and_then(Tasks::folder);
        let list_at_start = folder.and_then(|folder| task_list::read(&folder).ok());
        if self.plan.options.proof == LeastProof::Word {
            self.proofs.list_at_start = list_at_start;
            return;
        }
        let armed = pin.map(|pin| pin.commands.clone()).unwrap_or_default();
        let options = self.plan.options;
        let runs = options.checks.iter().map(|check| &check.run).chain(armed.values());
        // They come first: a list may name more than is looked at.
        let mut named = Protected::known_paths(&options.protect, runs.map(String::as_str));
        if let Some(left) = left {
            let judged_since = pin.and_then(|pin| pin.judged_since);
            let pinned = TickProofs { armed, judged_since, ..TickProofs::default() };
            self.begin_with(left, pinned, &named, &list);
            return;
        }
        named.extend(list_at_start.iter().flat_map(|file| named_in(&file.bytes)));
        let contents = self.look(&list, &self.in_worktree(&named), None).ok();
        self.proofs = TickProofs {
            began_at: pin.map_or_else(world::now, |pin| pin.armed_at),
            named,
            at_tick: contents.clone(),
            at_start: contents,
            list_at_start,
            armed,
            judged_since: pin.and_then(|pin| pin.judged_since),
            ..TickProofs::default()
        };
        self.keep_run();
    }

    /// What the files of the work tree contain.
    pub(super) fn look(
        &self,
        list: &str,
        named: &[String],
        earlier: Option<&Contents>,
    ) -> Result<Contents, NoLook> {
        let root = self.view.folder;
        ContentsLook { root, without: list, named, earlier, limit: LOOK }.look()
    }

    /// The path of the list relative to the work tree, `None` without one.
    pub(super) fn list_path(&self) -> Option<String> {
        let folder = self.view.tasks.as_ref()?.folder()?;
        let path = folder.join(TASKS);
        Some(names::with_slashes(path.strip_prefix(self.view.folder).unwrap_or(&path)))
    }

    /// Judges the tasks that were ticked in an iteration; `said` is the final text of an agent that came to its own good end.
    /// What is not proved counts as open, and since nobody can be writing the list any more, its box is opened again.
    pub(super) fn judge_ticks(
        &mut self,
        looked: &mut TaskListUpdate,
        said: Option<&str>,
        entry: &mut Iteration,
        began_at: WallTime,
    ) {
        self.proofs.of_iteration.clear();
        self.proofs.verified.clear();
        let is_complete = matches!(looked.work, Work::List { done: 1.., open: 0 });
        if self.plan.options.proof == LeastProof::Word {
            return;
        }
        let (Some(list), Some(tasks)) = (self.list_path(), &self.view.tasks) else { return };
        let Some(Ok(file)) = tasks.folder().map(|folder| tasks.read(&folder)) else { return };
        let ticked = self.ticked(looked, &file);
        let is_nothing_to_ask = !is_complete || self.proofs.last.is_empty();
        // An iteration that was cut off leaves files that are written in part.
        let came_to_its_end = said.is_some() && !is_complete;
        if ticked.is_empty() && is_nothing_to_ask && !came_to_its_end {
            return;
        }
        let is_small = self.proofs.at_start.is_some();
        let named = self.in_worktree(&self.proofs.named);
        let earlier = self.proofs.at_tick.as_ref().or(self.proofs.at_start.as_ref());
        let now = if is_small { self.look(&list, &named, earlier) } else { Err(NoLook::NotNow) };
        let (files, since_start) = self.file_facts(&now, &file, &list);
        let now = now.ok();
        // What was ticked before is asked about once more only where everything is held up.
        let ticked = match (ticked.is_empty(), files.holds_up_all()) {
            (false, _) => ticked,
            (true, true) if is_complete => self.proofs.last.clone(),
            (true, _) => return self.name_unticked(&file, &files, &[]),
        };
        let mut receipts = self.receipts_since(began_at);
        receipts.retain(|receipt| receipt.by == Witness::Done);
        let said = said.map(no_changes).unwrap_or_default();
        let facts: Vec<TaskFacts> = ticked
            .iter()
            .filter_map(|id| file.list.find(id))
            .map(|task| self.facts(task, &file, &receipts, &said))
            .collect();
        let place = (self.plan.change.root.as_path(), list.as_str());
        let mut places = NamedPlaces::of(place, &since_start, now.as_ref());
        let facts: Vec<TaskFacts> = facts.into_iter().map(|it| places.found(it)).collect();
        let judged = judge(&facts, &files);
        let mut unproved = Vec::new();
        let mut accepted = Vec::new();
        for (facts, one) in facts.into_iter().zip(judged) {
            let receipt = receipts.iter().rev().find(|receipt| receipt.task == one.id);
            let command = self.proofs.armed_command(&one.id, &file.list);
            match self.proof_of(facts, &one, receipt, command) {
                Ok(proof) => {
                    self.proofs.claimed.extend(proof.files.iter().cloned());
                    let task = file.list.find(&one.id);
                    let its = task.map(|task| self.proofs.id_of(task, &file.list));
                    self.proofs.accepted.insert(its.unwrap_or_default(), proof.clone());
                    self.proofs.of_iteration.insert(one.id.clone(), proof);
                    accepted.push(one.id);
                }
                Err(why) => unproved.push((one.id, why)),
            }
        }
        let is_unknown = |id: &&String| !looked.ticked.contains(id);
        let more: Vec<String> = accepted.iter().filter(is_unknown).cloned().collect();
        looked.ticked.extend(more);
        if !accepted.is_empty() {
            let is_done = |id: &String| receipts.iter().any(|receipt| receipt.task == *id);
            self.proofs.at_tick = self.contents_for_next(now, accepted.iter().all(is_done));
            self.proofs.last = accepted;
        }
        self.take_back(&unproved, looked, entry);
        if came_to_its_end {
            self.name_unticked(&file, &files, &unproved);
        }
    }

    /// Has the next prompt name the open tasks that may be done, each once.
    fn name_unticked(
        &mut self,
        file: &TaskFile,
        files: &FileFacts,
        unproved: &[(String, Unproved)],
    ) {
        if files.holds_up_all() {
            return;
        }
        let told = &self.proofs.named_open;
        let is_known = |id: &str| told.contains(id) || unproved.iter().any(|it| it.0 == id);
        // What is another task's work says nothing of this one.
        let found = unticked((&file.list, &file.bytes), FIRST, &files.unclaimed, &is_known);
        if !found.is_empty() {
            self.feedback.remarks.push(messages::unticked(&found, "tick its box"));
            self.proofs.named_open.extend(found.into_iter().map(|task| task.id));
        }
    }

    /// The tasks whose ticks are to be judged: those that were ticked in this iteration, and any other one that was open when
    /// the run began, or was not there, and is ticked with nobody having judged it. A list that was cut down and came back
    /// has such ones.
    fn ticked(&mut self, looked: &TaskListUpdate, file: &TaskFile) -> Vec<String> {
        let done = self.proofs.done(&file.list);
        let still: BTreeSet<&String> = done
            .iter()
            .filter(|(task, id, _)| task.id != *id || !looked.ticked.contains(id))
            .map(|(_, id, _)| id)
            .collect();
        let claimed = &mut self.proofs.claimed;
        self.proofs.accepted.retain(|id, proof| {
            let is_still = still.contains(id);
            if !is_still {
                // Ticked again, it is proved by what is still there of its work.
                proof.files.iter().for_each(|file| _ = claimed.remove(file));
            }
            is_still
        });
        let all = done.iter().filter(|(_, id, _)| !self.proofs.accepted.contains_key(id));
        all.filter(|(.., was_done)| !was_done).map(|(task, ..)| task.id.clone()).collect()
    }

    /// The receipts of this time or later, the oldest first.
    pub(super) fn receipts_since(&self, began_at: WallTime) -> Vec<Receipt> {
        let receipts = self.receipts();
        let mut known = receipts.map(|receipts| receipts.all()).unwrap_or_default();
        known.retain(|receipt| receipt.at >= began_at);
        known
    }

    /// What the next tick is compared with: what `spool task done` has kept after the last one, where all of these are its
    /// own. Otherwise what the files contain now, which is kept for it in turn.
    fn contents_for_next(&self, now: Option<Contents>, all_by_done: bool) -> Option<Contents> {
        let (Some(since), Ok(receipts)) = (self.proofs.judged_since, self.receipts()) else {
            return now;
        };
        let (change, number) = (self.plan.change, since.millis());
        let is_whole = change.root == self.view.folder;
        if all_by_done {
            let kept = receipts.contents().and_then(KeptContents::parse);
            let kept = kept.filter(|kept| is_whole && kept.number == number);
            return kept.map_or(now, |kept| kept.contents);
        }
        let of_project = if is_whole {
            now.clone()
        } else {
            let (root, named) = (change.root.as_path(), self.proofs.named.as_slice());
            let without = receipts.list();
            ContentsLook { root, without, named, earlier: None, limit: LOOK }.contents()
        };
        let kept = KeptContents { number, contents: of_project };
        if let Err(error) = receipts.keep_contents(&kept.to_bytes()) {
            self.console.screen.warn(&format!(
                "what the files contain is not kept, so `spool task done` compares with what was before: {error}"
            ));
        }
        now
    }

    /// What is known of a ticked task, by what it said when the run began.
    fn facts(
        &self,
        task: &Task,
        file: &TaskFile,
        receipts: &[Receipt],
        said: &[(String, String)],
    ) -> TaskFacts {
        let at_start = self.proofs.list_at_start.as_ref();
        let then =
            at_start.and_then(|then| Some((then.list.same_task(task, &file.list)?, &then.bytes)));
        let (asked, bytes) = then.unwrap_or((task, &file.bytes));
        let facts = TaskFacts { id: task.id.clone(), ..TaskFacts::of(asked, bytes) };
        let armed = at_start.map(|then| &then.list);
        let mut facts = facts.with_parts(task, &file.list, armed, &mut |part| {
            let known = self.proofs.accepted.get(&self.proofs.id_of(part, &file.list))?;
            (known.proof >= Proof::Files).then(|| known.files.clone())
        });
        let receipt = receipts.iter().rev().find(|receipt| receipt.task == task.id);
        let of_receipt = receipt.and_then(|receipt| receipt.no_change.clone());
        let said = said.iter().find(|(id, _)| *id == task.id).map(|(_, why)| why.clone());
        facts.no_change = of_receipt.or(said);
        if let Some(run) = receipt.and_then(|receipt| receipt.verify.as_ref())
            && run.result.passed
        {
            let ran_none = ran_no_test(run.result.tail.as_bytes());
            facts.verify = if ran_none { VerifyShown::NoTest } else { VerifyShown::Passed };
        }
        facts
    }

    /// How well a task is proved, with what `spool task done` has seen of it. A tick by hand waits for the command that a
    /// person armed for it: with that to come, it is no worse than one with nothing else.
    fn proof_of(
        &mut self,
        facts: TaskFacts,
        judged: &JudgedTask,
        receipt: Option<&Receipt>,
        command: Option<String>,
    ) -> Result<TickProof, Unproved> {
        let id = &judged.id;
        let command = command.filter(|_| receipt.is_none());
        let seen = receipt.and_then(|receipt| self.proofs.judged_by_done(receipt));
        let proof = match (judged.proof.clone(), seen) {
            (Err(why), _) if why.holds_up_all() => return Err(why),
            (_, Some(seen)) => seen,
            (Ok(proof), None) => proof,
            (Err(_), None) if self.proofs.suspended.contains_key(id) => {
                return Ok(self.proofs.suspended[id].clone());
            }
            (Err(_), None) if command.is_some() => Proof::Tick,
            (Err(why), None) => return Err(why),
        };
        let no_change = facts.no_change.filter(|_| proof == Proof::Word);
        if let Some(why) = &no_change {
            self.proofs.no_change.insert(id.clone(), why.clone());
        }
        let files = match receipt {
            Some(receipt) if judged.files.is_empty() => receipt.own.clone(),
            _ => judged.files.clone(),
        };
        let proof = TickProof { proof, files, no_change, verify: None };
        if let Some(command) = command {
            self.proofs.by_hand.insert(id.clone(), HandTick { command, proof: proof.clone() });
        }
        Ok(proof)
    }

    /// What the files show, and those that differ since the run began, the list and the handoff left out.
    fn file_facts(
        &self,
        now: &Result<Contents, NoLook>,
        file: &TaskFile,
        list: &str,
    ) -> (FileFacts, Vec<ChangedFile>) {
        let TickProofs { at_start, at_tick, claimed, .. } = &self.proofs;
        let handoff = list.replace(TASKS, HANDOFF);
        let own = [list, &handoff].map(|path| self.in_project(path));
        let changed = |before: &Option<Contents>| -> Option<Vec<ChangedFile>> {
            let mut files = self.changed_since(now.as_ref().ok()?, before.as_ref()?);
            files.retain(|file| !own.contains(&file.path));
            let folder = own[0].strip_suffix(TASKS)?.trim_end_matches('/');
            Some(files.into_iter().map(|file| file.of_feature(folder)).collect())
        };
        let since_start = changed(at_start).unwrap_or_default();
        let protected = self.protected(&since_start, file);
        let is_free = |file: &ChangedFile| !claimed.contains(&file.path);
        let too_large = match now {
            Err(NoLook::TooLarge { folder }) => Some(folder.clone()),
            _ => None,
        };
        let facts = FileFacts {
            since_tick: changed(at_tick),
            protected,
            too_large,
            unclaimed: since_start.iter().filter(|file| is_free(file)).cloned().collect(),
        };
        (facts, since_start)
    }

    /// The protected ones of these files: those that a person named, the settings, and the programs of the checks. What a
    /// task of the list names is its work.
    pub(super) fn protected(&self, changed: &[ChangedFile], file: &TaskFile) -> Vec<String> {
        let options = self.plan.options;
        let armed = self.proofs.armed.values();
        let commands = options.checks.iter().map(|check| &check.run).chain(armed);
        let protected = Protected::of(&options.protect, commands.map(String::as_str));
        protected.among(changed, &self.proofs.list_at_start.as_ref().unwrap_or(file).bytes)
    }

    /// Returns the line on files that say what the armed commands run, where the loop may change them; empty for none.
    pub(super) fn behind_checks(&self) -> String {
        let options = self.plan.options;
        if options.proof == LeastProof::Word || self.view.tasks.is_none() {
            return String::new();
        }
        let armed = self.proofs.armed.values();
        let commands = options.checks.iter().map(|check| &check.run).chain(armed);
        let commands = commands.map(String::as_str);
        let protected = Protected::of(&options.protect, commands.clone());
        let found = protected.unprotected_behind(&self.project_folder(), commands);
        messages::behind_checks(&found, |files| {
            format!("add `--protect {}`", files.join(" --protect "))
        })
    }

    /// Opens the boxes of what is not proved, and tells the next agent and the person of it.
    fn take_back(
        &mut self,
        unproved: &[(String, Unproved)],
        looked: &mut TaskListUpdate,
        entry: &mut Iteration,
    ) {
        if unproved.is_empty() {
            return;
        }
        let ids: Vec<String> = unproved.iter().map(|(id, _)| id.clone()).collect();
        if let Err(error) = self.open_boxes(&ids) {
            self.console.screen.warn(&format!(
                "the boxes of {} cannot be opened again: {error}; they count as open all the same",
                ids.join(", ")
            ));
        }
        if let Some(tasks) = &mut self.view.tasks {
            let again = tasks.look_again(&ids);
            (looked.work, looked.open, looked.next) = (again.work, again.open, again.next);
        }
        looked.ticked.retain(|id| !ids.contains(id));
        for (id, why) in unproved {
            self.proofs.by_hand.remove(id);
            self.proofs.no_change.remove(id);
            if let Some(proof) = self.proofs.accepted.remove(id) {
                self.proofs.suspended.insert(id.clone(), proof);
            }
            self.proofs.taken_back.insert(id.clone());
            let lack = lack(why);
            self.feedback.remarks.push(remark(id, why));
            entry.unproved.push(format!("{id}: {lack}"));
            let event = RunnerEvent::TakenBack { task: id.clone(), why: lack.clone() };
            let how = self.how_to_put_back(why);
            let words = format!("  {id} is open again: it was ticked, but {lack}{how}");
            self.console.screen.report(event, &words);
        }
    }

    /// Opens the boxes of these tasks, each by one byte, under the lock of the task log where there is one.
    fn open_boxes(&self, ids: &[String]) -> io::Result<()> {
        let Some(folder) = self.view.tasks.as_ref().and_then(Tasks::folder) else {
            return Ok(());
        };
        let change = self.plan.change;
        let _lock = (change.kind == ChangeKind::SpecKit && folder == change.folder)
            .then(|| Loops::of(&change.root).feature_lock(&change.id, &change.folder, PATIENCE))
            .transpose()?;
        amend(&folder.join(TASKS), task_list::MOST, |text| {
            let list = TaskList::parse(text);
            let mut found: Vec<_> = ids.iter().filter_map(|id| list.find(id)).collect();
            // From the last to the first: a check mark is longer than the blank that takes its place.
            found.sort_by_key(|task| Reverse(task.mark_at));
            Some(found.into_iter().fold(text.to_vec(), |text, task| untick(&text, task)))
        })?;
        Ok(())
    }

    /// Removes what a runner has left beside the list that was killed while it opened a box.
    pub(super) fn tidy_list(&self) {
        if let Some(folder) = self.view.tasks.as_ref().and_then(Tasks::folder) {
            remove_all_leftovers(&folder, Duration::ZERO);
        }
    }

    /// Puts what is known of a tick into its receipt.
    pub(super) fn add_proof(&self, receipt: Receipt) -> Receipt {
        let proofs = &self.proofs;
        let proof = proofs.of_iteration.get(&receipt.task);
        match proof.or_else(|| proofs.verified.get(&receipt.task)) {
            Some(known) => Receipt {
                proof: Some(known.proof),
                own: known.files.clone(),
                no_change: known.no_change.clone(),
                verify: known.verify.clone(),
                by_content: true,
                ..receipt
            },
            None => receipt,
        }
    }

    /// Returns the tasks that were ticked by hand in an earlier iteration and whose command has passed in this one.
    pub(super) fn verified(&self) -> Vec<String> {
        self.proofs.verified.keys().cloned().collect()
    }

    /// Notes how long a check took.
    pub(super) fn note_time(&mut self, run: &str, clock: &Stopwatch) {
        let millis = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.proofs.millis.insert(run.to_owned(), millis);
    }
}

/// What the next agent is told of a tick that was taken back.
fn remark(id: &str, why: &Unproved) -> String {
    let lack = lack(why);
    if let Some(remedy) = remedy(why) {
        return format!("The box of {id} is open again: {lack}. {remedy}, then tick it.");
    }
    format!(
        "The box of {id} is open again: it was ticked, but {lack}. Do the work, then tick it. If it rightly changes nothing, tick it and {REASON}, in your final message, alone on its line: `<no-change>{id}: why</no-change>`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_told_how_to_say_that_nothing_changes() {
        let words = remark("T1", &Unproved::NothingChanged);
        assert!(words.contains("<no-change>T1: why</no-change>"), "{words}");
        let words = remark("T1", &Unproved::ProtectedChanged(vec!["a".to_owned()]));
        assert!(words.contains("put them back"), "{words}");
    }
}
