//! The books of a feature, kept by the program: task list, state file, progress notes and journal.
//!
//! The task list is the truth and is written first; the state file follows. A program killed in between leaves both
//! readable, and the next entry corrects the state.

use std::io;
use std::path::Path;
use std::time::Duration;

use memchr::arch::all::is_equal;

use crate::engine::edit::{Grown, add_after, repair_after, tick};
use crate::engine::tasks::{Task, TaskList};
use crate::engine::{Attempt, Demand, TerminalReason};
use crate::evidence::commits;
use crate::evidence::contents::Contents;
use crate::evidence::task_list::{self, TASKS};
use crate::exec::partner::in_run;
use crate::feature::lists::too_many_lists;
use crate::feature::project::{Feature, Project, printable};
use crate::feature::snapshot::{armed_list, limits_of};
use crate::feature::state::{State, StateError};
use crate::feature::{PROGRESS, STATE};
use crate::judge::TickJudge;
use crate::refusal::Refusal;
use crate::session::end::{EndedLoop, end_feature};
use crate::session::view::FeatureView;
use crate::store::amend::amend;
use crate::store::closing::EndNotice;
use crate::store::due::name_of;
use crate::store::journal::{self, Entry};
use crate::store::lock::Lock;
use crate::store::loops::{Loops, RUNNER, Record, TERMINAL, is_session_id};
use crate::store::names::JournalEvent;
use crate::store::pins::{LoopLimits, Pin, PinKey, Pins};
use crate::store::read::{self, Problem};
use crate::store::receipts::Receipt;
use crate::store::write::{append_line, remove_dead_leftovers};
use crate::text;
use crate::world::{self, WallTime};

/// The time to wait while another program keeps the same books.
const PATIENCE: Duration = Duration::from_secs(20);
/// Characters of a task, a failure or a need.
const LONGEST: usize = 500;
/// How deep repairs of repairs go.
const DEEPEST: usize = 2;
/// Bytes read of the progress notes.
const MOST_NOTES: u64 = 16 << 20;

/// A feature's books, locked until they are dropped.
pub struct Books<'a> {
    view: FeatureView<'a>,
    loops: Loops,
    session: Option<&'a str>,
    lock: Option<Lock>,
    /// A loop whose end is told after the lock is released.
    ended: Option<EndedLoop>,
    /// The session with the loop, the run, or the terminal: its journal gets the entries.
    owner: String,
    text: Vec<u8>,
    /// The list on the disk.
    pub list: TaskList,
    state: Result<State, StateError>,
}

/// The outcome of a failure: the task may be tried again, unless the loop has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failed {
    /// Failed attempts, and the limit for each task. `None`: noted but not counted, because no state file can be read.
    pub counted: Option<(u32, u32)>,
    /// The id of a repair task, which comes first.
    pub repair: Option<String>,
    /// The attempts are used up.
    pub ended: Option<TerminalReason>,
}

impl<'a> Books<'a> {
    /// Waits while another program keeps these books.
    pub fn open(
        project: &'a Project,
        feature: &'a Feature,
        session: Option<&'a str>,
    ) -> Result<Self, Refusal> {
        let loops = Loops::of(&project.root);
        let not_opened = |error: io::Error| {
            let (name, folder) = (&feature.name, loops.folder().display());
            Refusal::new(
                format!("the task log of feature `{name}` cannot be opened: `{folder}`: {error}"),
                "make the folder writable, or try again when no other program writes there",
            )
        };
        let lock = loops.feature_lock(&feature.name, &feature.folder, PATIENCE);
        let lock = lock.map_err(not_opened)?;
        let pin = loops
            .found(&feature.name)
            .map_err(|error| Refusal::new(error.to_string(), "make it readable, then try again"))?;
        let is_run = in_run();
        let owner = pin.as_ref().map(|pin| pin.session.as_str());
        let owner = owner.filter(|owner| is_session_id(owner) && !is_run);
        let owner = owner.unwrap_or(if is_run { RUNNER } else { TERMINAL }).to_owned();
        let view = FeatureView::by(project, feature, Ok(pin));
        // Killed programs leave temporary files.
        remove_dead_leftovers(&feature.folder, &[TASKS, STATE, PROGRESS]);
        let (list, text) = read_list(feature)?;
        // An unreadable file is not overwritten: the stop reports it.
        // In a run of `spool ralph`, it is the file of another loop.
        let state = if is_run { Err(StateError::Missing) } else { State::read_at_once(feature) };
        let (lock, ended) = (Some(lock), None);
        Ok(Self { view, loops, session, lock, ended, owner, text, list, state })
    }

    /// An error lists the open tasks if the id is unknown.
    pub fn task(&self, id: &str) -> Result<&Task, Refusal> {
        self.view.feature.task(&self.list, id)
    }

    /// Failed attempts of a task, and the limit.
    pub fn attempts(&self, task: &Task) -> (u32, u32) {
        let state = self.state.as_ref().ok();
        let used = state.map_or(0, |state| state.failures(&task.id));
        // The agent can lower the number in the state file.
        let record = self.view.record.as_ref();
        let counted = record.and_then(|record| record.attempts.get(&task.id).copied());
        (used.max(counted.unwrap_or_default()), self.limits().max_task_iterations)
    }

    /// A person's limits, otherwise at most the defaults.
    fn limits(&self) -> LoopLimits {
        let state = self.state.as_ref().ok();
        state.map_or_else(LoopLimits::default, |state| limits_of(&self.view.standing, state))
    }

    /// Keeps a task's failed attempts in the loop's own notes, too; `None` forgets them, and a failed command.
    fn count_in_record(&self, task: &str, used: Option<u32>) -> Result<(), Refusal> {
        let record = self.view.record.as_ref();
        let is_noted = |own: &Record| {
            own.attempts.contains_key(task) || own.unverified.iter().any(|id| id == task)
        };
        if used.is_none() && !record.is_some_and(|own| is_noted(own)) {
            return Ok(());
        }
        let counted = self.change_record(|record| {
            let Some(used) = used else {
                record.unverified.retain(|id| id != task);
                return Some(record.attempts.remove(task));
            };
            Some(record.attempts.insert(task.to_owned(), used))
        });
        counted.map(|_| ()).map_err(|error| Refusal::unwritable(self.loops.folder(), &error))
    }

    /// Changes the record of the feature's session, and saves it if `change` has a result.
    fn change_record<T>(
        &self,
        change: impl FnOnce(&mut Record) -> Option<T>,
    ) -> io::Result<Option<T>> {
        let Some(record) = &self.view.record else { return Ok(None) };
        let folder = self.loops.session_within(&record.session, PATIENCE)?;
        let own = folder.record()?.filter(|record| record.about == self.view.feature.name);
        let Some(mut record) = own else { return Ok(None) };
        let changed = change(&mut record);
        if changed.is_some() {
            folder.save(&record)?;
        }
        Ok(changed)
    }

    /// Why the state file was left alone; `None` if it is kept or missing.
    pub fn unreadable_state(&self) -> Option<&str> {
        match &self.state {
            Err(StateError::Corrupt { why, .. } | StateError::Unopened { why }) => Some(why),
            _ => None,
        }
    }

    /// Ticks a task that is done or dropped. The tasks that it repairs stay open. `true`: the box was ticked before.
    pub fn done(&mut self, id: &str, event: &JournalEvent) -> Result<bool, Refusal> {
        let task = self.task(id)?.clone();
        let is_there = self.change_list(|list, text| Some(tick(text, list.find(&task.id)?)))?;
        if !is_there {
            return Err(self.view.feature.no_task(&self.list, &task.id));
        }
        if let Ok(state) = &mut self.state {
            state.forget_failures(&task.id);
        }
        self.count_in_record(&task.id, None)?;
        self.write_state()?;
        let words = format!("{} {}", task.id, printable(&task.title));
        if task.done {
            // Ticked by hand, or by a call that was killed before it noted the tick.
            self.note_once(event, &format!("{} ", task.id), &words)?;
        } else {
            self.note(event, &words)?;
        }
        Ok(task.done)
    }

    /// Notes that a task's Verify command has failed: the task counts as open until it passes.
    pub fn unverified(&self, id: &str, words: &str) -> Result<(), Refusal> {
        self.change_record(|record| {
            let is_new = record.unverified.iter().all(|known| known != id);
            is_new.then(|| record.unverified.push(id.to_owned()))
        })?;
        self.journal(&JournalEvent::Checks, &format!("{id} {words}"))
    }

    /// Counts a failed attempt. The state decides: a repair task follows, or the loop ends.
    pub fn fail(&mut self, id: &str, why: &str) -> Result<Failed, Refusal> {
        let why = one_line(why)?;
        let task = self.task(id)?.clone();
        if task.done {
            let next = format!(
                "what is wrong with it now is a task of its own: spool task add --after {} \"what is to be done\"",
                task.id
            );
            return Err(Refusal::new(format!("{} is ticked already", task.id), next));
        }
        let (before, limit) = self.attempts(&task);
        let used = before.saturating_add(1);
        let Ok(state) = &mut self.state else {
            self.note(&JournalEvent::Failed, &format!("{} {why}", task.id))?;
            return Ok(Failed::default());
        };
        state.set_failures(&task.id, used);
        let repair = if used < limit { self.repair(&task, &why)? } else { None };
        self.write_state()?;
        self.count_in_record(&task.id, Some(used))?;
        self.note(&JournalEvent::Failed, &format!("{} attempt {used} of {limit}: {why}", task.id))?;
        if let Some(id) = &repair {
            self.note(&JournalEvent::Repair, &format!("{id} behind {}", task.id))?;
        }
        // A loop that was over keeps its reason.
        let attempt = Attempt { task: task.id, used: used + 1, limit };
        let ended = if used < limit { None } else { self.end(&Demand::TaskFailed(attempt))? };
        Ok(Failed { counted: Some((used, limit)), repair, ended })
    }

    /// Ends the loop, because the agent needs a person for `need`. Returns the reason; `None` if the loop was over.
    pub fn block(&mut self, need: &str) -> Result<Option<TerminalReason>, Refusal> {
        let need = one_line(need)?;
        self.progress(&JournalEvent::Blocked, &need)?;
        self.end(&Demand::Blocked(need))
    }

    /// Adds a task after another one. Returns its id, and `true` if an interrupted earlier call had added it.
    pub fn add(&mut self, after: &str, what: &str) -> Result<(String, bool), Refusal> {
        let what = one_line(what)?;
        let after = self.task(after)?.clone();
        let words = |id: &str| format!("{id} behind {}: {what}", after.id);
        let is_part = self.view.part(&self.list).find(&after.id).is_some();
        let join = |id: &str| if is_part { self.add_to_part(id, &after.id) } else { Ok(()) };
        if let Some(id) = self.added_before(&after, &what) {
            join(&id)?;
            self.write_state()?;
            self.note_once(&JournalEvent::Added, &words(&id), &words(&id))?;
            return Ok((id, true));
        }
        // The new id must not be in the armed list either: the loop knows its tasks by those ids.
        let asked = self.view.request();
        let armed = asked.and_then(|asked| armed_list(self.view.feature, asked.armed_at));
        let grown = |list: &TaskList, text: &[u8]| {
            let mut known = list.clone();
            known.left_out.extend(armed.iter().flat_map(|armed| armed.tasks.clone()));
            add_after(text, &known, known.find(&after.id)?, &what)
        };
        let Some(Grown { id, .. }) = grown(&self.list, &self.text) else {
            let why = format!(
                "`{what}` cannot be added after {} as a task of its own: it reads as something else, or another task says the same",
                after.id
            );
            return Err(Refusal::new(why, "say it in other words, or write it in by hand"));
        };
        // Written before the list: a killed call leaves no task that the loop does not know.
        join(&id)?;
        self.view = FeatureView::of(self.view.project, self.view.feature);
        let grown = |list: &TaskList, text: &[u8]| {
            grown(list, text).filter(|grown| grown.id == id).map(|grown| grown.text)
        };
        if !self.change_list(grown)? {
            return Err(Refusal::new(
                format!("another program has changed {}/{TASKS}", self.view.feature.relative),
                "run the same command again",
            ));
        }
        self.write_state()?;
        self.note(&JournalEvent::Added, &words(&id))?;
        Ok((id, false))
    }

    /// Adds a new task to those that the live loop is about. `after` is the task before the new one, and one of those
    /// tasks.
    fn add_to_part(&self, id: &str, after: &str) -> Result<(), Refusal> {
        let Some(mut asked) = self.view.request().cloned() else { return Ok(()) };
        if asked.tasks.is_empty() || asked.tasks.iter().any(|known| known == id) {
            return Ok(());
        }
        asked.tasks.push(id.to_owned());
        let asked = Some(Box::new(asked));
        if let Some(pin) = self.view.standing.pin() {
            let pins = Pins::of(&self.view.project.root)?;
            let (whose, armed_at) = (PinKey::Feature(&self.view.feature.name), pin.armed_at);
            let written = pins.change(whose, |pin| {
                Some(Pin { asked, ..pin.filter(|pin| pin.armed_at == armed_at)? })
            });
            return written.map_err(|error| cannot_join(after, &pins.path(whose), &error));
        }
        self.change_record(|record| {
            record.asked = asked;
            Some(())
        })?;
        Ok(())
    }

    /// The open task that an earlier call added with these words: behind the same task, or named in the progress notes.
    fn added_before(&self, after: &Task, what: &str) -> Option<String> {
        let text = format!("- [ ] {what}\n");
        let title = TaskList::parse(text.as_bytes()).tasks.into_iter().next()?.title;
        let end = after.block.start + self.list.whole_block(after, &self.text).len();
        let says_the_same = |task: &&Task| !task.done && task.title == title;
        let next = self.list.tasks.iter().find(|task| task.block.start >= end);
        let named = |task: &&Task| {
            self.has_progress(
                &JournalEvent::Added,
                &format!("{} behind {}: {what}", task.id, after.id),
            )
        };
        let mut same = self.list.tasks.iter().filter(says_the_same);
        let found = next.filter(says_the_same).or_else(|| same.find(named))?;
        Some(found.id.clone())
    }

    /// The repair of a failed task, if recovery is on and there is room for one more.
    fn repair(&mut self, task: &Task, why: &str) -> Result<Option<String>, Refusal> {
        let recovers = self.limits().recovery;
        let Ok(state) = &mut self.state else { return Ok(None) };
        let (original, depth) = self.list.original(task);
        let repairs_it =
            |other: &Task| other.fixes.as_ref().is_some_and(|id| id.eq_ignore_ascii_case(&task.id));
        // A killed call may have left a repair that the state does not count.
        let of_original =
            |other: &&Task| other.fixes.is_some() && self.list.original(other).0.id == original.id;
        let listed = self.list.tasks.iter().filter(of_original).count() as u64;
        let made = state.repairs(&original.id).max(listed);
        let room = depth < DEEPEST && made < state.max_fix_tasks();
        let is_missing = recovers && room && !self.list.open().any(repairs_it);
        let what = format!("Remove what made it fail: {why}");
        let grown = || repair_after(&self.text, &self.list, task, &what);
        let Some(Grown { id, .. }) = is_missing.then(grown).flatten() else { return Ok(None) };
        state.add_repair(&original.id, &id, &task.id, why);
        let grown = |list: &TaskList, text: &[u8]| {
            let grown = repair_after(text, list, list.find(&task.id)?, &what)?;
            (grown.id == id).then_some(grown.text)
        };
        Ok(self.change_list(grown)?.then_some(id))
    }

    fn end(&mut self, demand: &Demand) -> Result<Option<TerminalReason>, Refusal> {
        let (FeatureView { project, feature, .. }, telling) = (&self.view, EndNotice::AtNextStop);
        let ended = end_feature(project, feature, self.session, demand, telling);
        let ended = ended.map_err(|error| Refusal::unwritable(self.loops.folder(), &error))?;
        let reason = ended.as_ref().and_then(|ended| ended.record.ledger.ended.clone());
        self.ended = ended;
        Ok(reason)
    }

    /// Changes the list on the disk. `false`: `change` found nothing to do.
    fn change_list(
        &mut self,
        change: impl Fn(&TaskList, &[u8]) -> Option<Vec<u8>>,
    ) -> Result<bool, Refusal> {
        let path = self.view.feature.folder.join(TASKS);
        let changed = |text: &[u8]| {
            if is_equal(text, &self.text) {
                change(&self.list, text)
            } else {
                change(&TaskList::parse(text), text)
            }
        };
        let written = amend(&path, task_list::MOST, changed)
            .map_err(|error| Refusal::unwritable(&path, &error))?;
        let Some(text) = written else { return Ok(false) };
        self.list = TaskList::parse(&text);
        self.text = text;
        Ok(true)
    }

    /// Notes a command that an extension demands before or after the work. `true`: it was noted before.
    pub fn hook(&mut self, command: &str) -> Result<bool, Refusal> {
        let pin = self.view.standing.pin();
        let hooks = pin.map(|pin| pin.hooks.clone()).unwrap_or_default();
        let name = name_of(command);
        let asked = pin.map(|pin| name_of(&pin.converge)) == Some(name.clone());
        if asked && let Some(already) = self.converge(&name)? {
            return Ok(already);
        }
        let is_after = hooks.after.contains(&name);
        if !is_after && !hooks.before.contains(&name) {
            let known: Vec<&str> =
                hooks.before.iter().chain(&hooks.after).map(String::as_str).collect();
            if asked {
                let what = format!("`/{name}` counts only when the loop has asked for it");
                return Err(Refusal::new(
                    what,
                    "end your turn when every box is ticked: you are told when",
                ));
            }
            let next = match (text::nearest(&name, known.iter().copied()), known.is_empty()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, false) => format!("there are: {}", known.join(", ")),
                (None, true) => "this loop was armed without one".to_owned(),
            };
            let name = text::title(&name, 80);
            return Err(Refusal::new(format!("no extension hook `{name}` is asked for"), next));
        }
        let open = self.view.part(&self.list).open().count();
        if self.view.record.is_none() {
            let what = format!("no session works on feature `{}`", self.view.feature.name);
            return Err(Refusal::NoLoop(what));
        }
        let mut waits = false;
        let noted = self.change_record(|record| {
            let now = hooks.note(&mut record.hooks_ran, &name, open == 0);
            waits = is_after && !record.hooks_ran.after.contains(&name);
            now.then_some(())
        });
        match (noted?, waits) {
            (Some(()), _) => {
                self.note(&JournalEvent::Hook, &format!("/{name} has run, by the agent's word"))?;
                Ok(false)
            }
            (None, true) if open > 0 => {
                let tasks = text::counted(open as u64, "task");
                let what = format!("`/{name}` runs after the last task, and {tasks} left to do");
                Err(Refusal::new(what, "do the tasks first, then run it"))
            }
            (None, _) => Ok(true),
        }
    }

    /// Notes the converge command that the loop waits for; `None` if the loop does not wait for it.
    fn converge(&mut self, name: &str) -> Result<Option<bool>, Refusal> {
        let mut already = None;
        let ran = self.change_record(|record| {
            record.ledger.converging.asked.as_ref()?;
            let before = std::mem::replace(&mut record.converge_ran, true);
            already = Some(before);
            (!before).then_some(())
        })?;
        if ran.is_some() {
            self.note(&JournalEvent::Hook, &format!("/{name} has run, by the agent's word"))?;
        }
        Ok(already)
    }

    /// Brings the state file's counters into line with the list; does nothing without a state file.
    fn write_state(&mut self) -> Result<(), Refusal> {
        let running = self.record_iterations().saturating_add(1);
        let part = self.view.part(&self.list);
        let Ok(state) = &mut self.state else { return Ok(()) };
        let failed = part.next().first().map_or(0, |task| state.failures(&task.id));
        state.set("taskIndex", part.first_open());
        state.set("totalTasks", part.tasks.len());
        state.set("taskIteration", failed + 1);
        let iteration = state.global_iteration().max(running);
        state.set("globalIteration", iteration);
        let path = self.view.feature.folder.join(STATE);
        state.write(self.view.feature).map_err(|error| Refusal::unwritable(&path, &error))
    }

    fn record_iterations(&self) -> u32 {
        self.view.record.as_ref().map_or(0, |record| record.ledger.iterations)
    }

    /// Keeps the receipt of a task that is ticked or dropped. `shared_commits` belong to tasks that were done with it;
    /// the next task is compared with `now`. An error says why the receipt is not kept.
    pub fn keep_receipt(
        &self,
        judge: &TickJudge,
        receipt: Receipt,
        shared_commits: u64,
        now: Option<&Contents>,
    ) -> io::Result<()> {
        let FeatureView { project, feature, record, .. } = &self.view;
        let last = judge.receipts.last().filter(|last| last.at >= judge.armed.at);
        let pin = self.loops.found(&feature.name).ok().flatten();
        let log_then = last.map(|last| last.log_read).or(pin.and_then(|pin| pin.commits_from));
        let commits =
            log_then.and_then(|from| commits::made_since(&project.root, from, WallTime::default()));
        let receipt = Receipt {
            at: world::now(),
            session: record.as_ref().map(|record| record.session.clone()).unwrap_or_default(),
            iteration: self.record_iterations(),
            commits: commits.map(|own| own + shared_commits),
            log_read: commits::log_place(&project.root).length,
            ..receipt
        };
        judge.add_receipts(&[receipt], now)
    }

    pub fn note(&self, event: &JournalEvent, words: &str) -> Result<(), Refusal> {
        self.progress(event, words)?;
        self.journal(event, words)
    }

    /// Notes `words` unless an entry begins with `start`.
    fn note_once(&self, event: &JournalEvent, start: &str, words: &str) -> Result<(), Refusal> {
        if !self.has_progress(event, start) {
            self.progress(event, words)?;
        }
        if self.has_entry(event, start) { Ok(()) } else { self.journal(event, words) }
    }

    fn progress(&self, event: &JournalEvent, words: &str) -> Result<(), Refusal> {
        let path = self.view.feature.folder.join(PROGRESS);
        let title = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                format!("# Progress of {}\n\n", self.view.feature.name)
            }
            _ => String::new(),
        };
        let line = format!("{title}- [{event}] {words}");
        append_line(&path, line.as_bytes()).map_err(|error| Refusal::unwritable(&path, &error))
    }

    fn has_progress(&self, event: &JournalEvent, words: &str) -> bool {
        let notes = read::read(&self.view.feature.folder.join(PROGRESS), MOST_NOTES);
        let start = format!("- [{event}] {words}");
        notes.is_ok_and(|notes| {
            notes.bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(start.as_bytes()))
        })
    }

    fn has_entry(&self, event: &JournalEvent, words: &str) -> bool {
        let (entries, _) = journal::entries(&self.loops.journal(&self.owner));
        entries.iter().any(|entry| {
            entry.event == *event
                && entry.about == self.view.feature.name
                && entry.words.starts_with(words)
        })
    }

    fn journal(&self, event: &JournalEvent, words: &str) -> Result<(), Refusal> {
        let part = self.view.part(&self.list);
        let iteration = if self.owner == RUNNER { 0 } else { self.record_iterations() };
        let entry = Entry {
            task: format!("{}/{}", part.done(), part.tasks.len()),
            ..Entry::now(event.clone(), &self.view.feature.name, iteration, words)
        };
        let noted = self.loops.note(&self.owner, &entry);
        noted.map_err(|error| Refusal::unwritable(self.loops.folder(), &error))
    }
}

impl Drop for Books<'_> {
    fn drop(&mut self) {
        drop(self.lock.take());
        if let Some(ended) = &self.ended {
            ended.tell();
        }
    }
}

/// Refuses to add a task if the pin cannot be written, as in a sandbox. The pin names the loop's tasks, outside the
/// project.
fn cannot_join(after: &str, path: &Path, error: &io::Error) -> Refusal {
    let after = printable(after);
    let what = format!(
        "nothing was added: after {after} it would be one of the named tasks that this loop is about, and `{}`, which says which these are, cannot be written: {error}",
        path.display()
    );
    let next = format!(
        "do it as a part of {after}, or put it after a task that was not named; in a sandbox, a person runs the same `spool task add` in a terminal, or lets the sandbox write that folder"
    );
    Refusal::new(what, next)
}

pub fn read_list(feature: &Feature) -> Result<(TaskList, Vec<u8>), Refusal> {
    let file = task_list::read(&feature.folder).map_err(|problem| {
        let what = format!("`{}` cannot be read: {problem}", feature.folder.join(TASKS).display());
        match too_many_lists(&feature.folder).filter(|_| problem == Problem::Missing) {
            Some((why, next)) => Refusal::new(why, next),
            None => Refusal::new(what, "make the task list first, or repair it"),
        }
    })?;
    Ok((file.list, file.bytes))
}

/// On one line, without control characters; an empty text is refused.
pub fn one_line(text: &str) -> Result<String, Refusal> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return Err(Refusal::new("the text is empty", "say in one line what it is about"));
    }
    Ok(text::title(&line, LONGEST))
}
