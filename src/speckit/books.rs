//! The books of a feature: task list, state file, progress notes and journal, kept by the program.
//!
//! The task list is the truth and is written first; the state file follows from it. Whoever is
//! killed in between leaves a list and a state that load, and the next entry sets the state right.

use std::fmt;
use std::io;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::arm::Refusal;
use super::ending::end_loop;
use super::project::{Feature, Project, printable};
use super::state::State;
use super::{MOST_TASKS, PROGRESS, TASKS};
use crate::engine::edit::{insert_after, new_id, repair_id, tick};
use crate::engine::tasks::{Task, TaskList};
use crate::engine::{Attempt, Demand, Observation, TerminalReason, Work};
use crate::store::closing::Telling;
use crate::store::journal::Entry;
use crate::store::lock::Lock;
use crate::store::loops::{Loops, TERMINAL, is_session_id};
use crate::store::read;
use crate::store::write::{Flush, append_line, write_whole};
use crate::world;

/// How long to wait while others keep the same books.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest text that is taken for a task, a failure or a need, in characters.
const LONGEST: usize = 500;
/// How deep repairs of repairs go.
const DEEPEST: usize = 2;

/// The open books of one feature; nobody else writes them until they are dropped.
pub struct Books<'a> {
    project: &'a Project,
    feature: &'a Feature,
    session: Option<&'a str>,
    _lock: Lock,
    text: Vec<u8>,
    /// The task list as it stands.
    pub list: TaskList,
    state: Option<State>,
}

/// What a failure led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The task may be tried again.
    Again {
        /// Failed attempts so far.
        used: u32,
        /// Attempts that a task has.
        limit: u32,
    },
    /// A repair was put behind it and comes first.
    Repair {
        /// The id of the repair.
        id: String,
        /// Failed attempts so far.
        used: u32,
        /// Attempts that a task has.
        limit: u32,
    },
    /// The attempts are used up; the loop is over.
    Ended(TerminalReason),
}

/// Why an entry was not made; the text says what to do.
#[derive(Debug)]
pub struct NotKept(pub String);

impl fmt::Display for NotKept {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for NotKept {}

impl From<Refusal> for NotKept {
    fn from(refusal: Refusal) -> Self {
        Self(refusal.0)
    }
}

impl<'a> Books<'a> {
    /// Returns the open books of a feature; waits while others keep them.
    pub fn open(
        project: &'a Project,
        feature: &'a Feature,
        session: Option<&'a str>,
    ) -> Result<Self, NotKept> {
        let loops = Loops::of(&project.root);
        let lock = loops.feature_lock(&feature.name, PATIENCE).map_err(|error| {
            NotKept(format!(
                "the books of feature `{}` cannot be opened: `{}`: {error}\nmake the folder writable, or try again when nobody else writes them",
                feature.name,
                loops.folder().display()
            ))
        })?;
        let (list, text) = read_list(feature)?;
        // Nothing unreadable is overwritten: the stop hook speaks about it.
        let state = State::read_at_once(feature).ok();
        Ok(Self { project, feature, session, _lock: lock, text, list, state })
    }

    /// Returns a task by its id; an error that lists the open ones when there is none of that id.
    pub fn task(&self, id: &str) -> Result<&Task, NotKept> {
        self.list.find(id).ok_or_else(|| {
            let open: Vec<_> = self.list.open().take(12).map(|task| task.id.as_str()).collect();
            NotKept(format!(
                "there is no task `{}` in {TASKS}\nopen tasks: {}",
                printable(id),
                open.join(", ")
            ))
        })
    }

    /// Returns how often a task has failed, and how many attempts it has.
    pub fn attempts(&self, task: &Task) -> (u32, u32) {
        let state = self.state.as_ref();
        let used = state.map_or(0, |state| state.failures(&task.id));
        (used, state.map_or(5, State::max_task_iterations))
    }

    /// Ticks a task; the tasks that it repairs stay open.
    pub fn done(&mut self, id: &str) -> Result<(), NotKept> {
        let task = self.task(id)?.clone();
        let text = tick(&self.text, &task);
        self.write_list(text)?;
        if let Some(state) = &mut self.state {
            state.forget_failures(&task.id);
        }
        self.write_state()?;
        self.note("done", &task, &printable(&task.title))
    }

    /// Counts a failed attempt; puts a repair behind the task, or ends the loop, as the state says.
    pub fn fail(&mut self, id: &str, why: &str) -> Result<Failed, NotKept> {
        let why = one_line(why)?;
        let task = self.task(id)?.clone();
        let (before, limit) = self.attempts(&task);
        let used = before.saturating_add(1);
        if let Some(state) = &mut self.state {
            state.set_failures(&task.id, used);
        }
        let repair = if used < limit { self.repair(&task, &why)? } else { None };
        self.write_state()?;
        self.note("failed", &task, &format!("attempt {used} of {limit}: {why}"))?;
        if let Some(id) = repair {
            return Ok(Failed::Repair { id, used, limit });
        }
        if used < limit {
            return Ok(Failed::Again { used, limit });
        }
        let attempt = Attempt { task: task.id.clone(), used: used + 1, limit };
        let seen =
            Observation { attempt: Some(attempt), work: self.work(), ..Observation::default() };
        let ended = self.end(&seen)?;
        Ok(Failed::Ended(ended.unwrap_or(TerminalReason::TaskFailed {
            task: task.id,
            used: used + 1,
            limit,
        })))
    }

    /// Ends the loop because a person is needed; `need` says what for.
    pub fn block(&mut self, need: &str) -> Result<(), NotKept> {
        let need = one_line(need)?;
        self.progress(&format!("- [blocked] {need}"))?;
        let demand = Some(Demand::Blocked(need));
        let seen = Observation { demand, work: self.work(), ..Observation::default() };
        self.end(&seen).map(|_| ())
    }

    /// Puts a new task behind another one and returns its id, or its text where the list has no ids.
    pub fn add(&mut self, after: &str, what: &str) -> Result<String, NotKept> {
        let what = one_line(what)?;
        let after = self.task(after)?.clone();
        let id = new_id(&self.list, &after);
        let line = id.as_ref().map_or_else(|| what.clone(), |id| format!("{id} {what}"));
        let text = insert_after(&self.text, &after, &line);
        let grown = TaskList::parse(&text);
        if grown.tasks.len() != self.list.tasks.len() + 1 {
            return Err(NotKept(format!(
                "`{what}` would not be read as a task behind {}\nsay it in other words",
                after.id
            )));
        }
        self.write_list(text)?;
        self.write_state()?;
        self.progress(&format!("- [added] behind {}: {line}", after.id))?;
        self.journal("added", format!("behind {}: {line}", after.id))?;
        Ok(id.unwrap_or(what))
    }

    /// The repair for a failed task, when recovery is on and there is room for one more.
    fn repair(&mut self, task: &Task, why: &str) -> Result<Option<String>, NotKept> {
        let Some(state) = self.state.as_mut().filter(|state| state.recovers()) else {
            return Ok(None);
        };
        let (original, depth) = self.list.original(task);
        let open = self.list.open().any(|other| other.fixes.as_deref() == Some(task.id.as_str()));
        let made = state.repairs(&original.id);
        if open || depth >= DEEPEST || made >= state.max_fix_tasks() {
            return Ok(None);
        }
        let id = repair_id(&self.list, original);
        state.add_repair(&original.id, &id, &task.id, why);
        let line = format!("{id} [FIX {}] Repair what made it fail: {why}", task.id);
        let text = insert_after(&self.text, task, &line);
        self.write_list(text)?;
        Ok(Some(id))
    }

    fn work(&self) -> Work {
        Work::List {
            done: self.list.done(),
            open: self.list.open().map(|task| task.id.clone()).collect(),
        }
    }

    fn end(&self, seen: &Observation) -> Result<Option<TerminalReason>, NotKept> {
        let telling = Telling::AtNextStop;
        end_loop(self.project, self.feature, self.session, seen, telling)
            .map_err(|error| unwritable(&self.project.root.join(".claude/ralph"), &error))
    }

    fn write_list(&mut self, text: Vec<u8>) -> Result<(), NotKept> {
        let path = self.feature.folder.join(TASKS);
        if text != self.text {
            write_whole(&path, &text, Flush::ToDisk).map_err(|error| unwritable(&path, &error))?;
        }
        self.list = TaskList::parse(&text);
        self.text = text;
        Ok(())
    }

    /// Brings the counters of the state file into line with the list; a feature without one has none.
    fn write_state(&mut self) -> Result<(), NotKept> {
        let running = self.record_iterations().saturating_add(1);
        let Some(state) = &mut self.state else {
            return Ok(());
        };
        let failed = self.list.next().first().map_or(0, |task| state.failures(&task.id));
        state.set("taskIndex", self.list.first_open());
        state.set("totalTasks", self.list.tasks.len());
        state.set("taskIteration", failed + 1);
        let iteration = state.global_iteration().max(running);
        state.set("globalIteration", iteration);
        let path = self.feature.folder.join(super::STATE);
        state.write(self.feature).map_err(|error| unwritable(&path, &error))
    }

    fn record_iterations(&self) -> u32 {
        let loops = Loops::of(&self.project.root);
        let owner = loops.claim(&self.feature.name).and_then(|claim| claim.session);
        let record = owner.and_then(|session| loops.peek(&session));
        let record = record.filter(|record| record.about == self.feature.name);
        record.map_or(0, |record| record.ledger.iterations)
    }

    fn note(&self, event: &str, task: &Task, words: &str) -> Result<(), NotKept> {
        self.progress(&format!("- [{event}] {} {words}", task.id))?;
        self.journal(event, format!("{} {words}", task.id))
    }

    fn progress(&self, line: &str) -> Result<(), NotKept> {
        let path = self.feature.folder.join(PROGRESS);
        let line = if path.symlink_metadata().is_ok() {
            line.to_owned()
        } else {
            format!("# Progress of {}\n\n{line}", self.feature.name)
        };
        append_line(&path, line.as_bytes()).map_err(|error| unwritable(&path, &error))
    }

    /// Goes into the journal of the session whose loop it is, or of the terminal.
    fn journal(&self, event: &str, words: String) -> Result<(), NotKept> {
        let loops = Loops::of(&self.project.root);
        let owner = loops.claim(&self.feature.name).and_then(|claim| claim.session);
        let owner = owner.filter(|owner| is_session_id(owner));
        let owner = owner.unwrap_or_else(|| TERMINAL.to_owned());
        let entry = Entry {
            at: world::now(),
            event: event.to_owned(),
            about: self.feature.name.clone(),
            iteration: self.record_iterations(),
            task: format!("{}/{}", self.list.done(), self.list.tasks.len()),
            words,
            ..Entry::default()
        };
        loops.note(&owner, &entry).map_err(|error| unwritable(loops.folder(), &error))
    }
}

/// Returns why a feature's loop is over, `None` while it lives or when there never was one.
pub fn over(project: &Project, feature: &Feature) -> Option<String> {
    Loops::of(&project.root).claim(&feature.name)?.closed
}

/// Returns the task list of a feature and its bytes.
pub fn read_list(feature: &Feature) -> Result<(TaskList, Vec<u8>), NotKept> {
    let content = read::read_in(&feature.folder, TASKS, MOST_TASKS).map_err(|problem| {
        let path = feature.folder.join(TASKS);
        NotKept(format!(
            "`{}` cannot be read: {problem}\nmake the task list first, or repair it",
            path.display()
        ))
    })?;
    Ok((TaskList::parse(&content.bytes), content.bytes))
}

fn unwritable(path: &std::path::Path, error: &io::Error) -> NotKept {
    NotKept(format!(
        "`{}` cannot be written: {error}\nmake it writable, then try again",
        path.display()
    ))
}

/// A text as one line without control characters; an empty one is refused.
fn one_line(text: &str) -> Result<String, NotKept> {
    let words: Vec<_> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|letter| !letter.is_control()).collect();
    if line.is_empty() {
        return Err(NotKept("the text is empty\nsay in one line what it is about".to_owned()));
    }
    Ok(line.chars().take(LONGEST).collect())
}

impl State {
    /// Returns how often a task has failed.
    pub fn failures(&self, task: &str) -> u32 {
        let counted = self.object("taskAttempts").and_then(|all| all.get(task));
        counted.and_then(Value::as_u64).map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX))
    }

    fn set_failures(&mut self, task: &str, count: u32) {
        let mut all = self.object("taskAttempts").cloned().unwrap_or_default();
        all.insert(task.to_owned(), count.into());
        self.set("taskAttempts", Value::Object(all));
    }

    fn forget_failures(&mut self, task: &str) {
        if let Some(mut all) = self.object("taskAttempts").cloned() {
            all.shift_remove(task);
            self.set("taskAttempts", Value::Object(all));
        }
    }

    /// How many repairs of an original task there have been (`fixTaskMap`).
    fn repairs(&self, original: &str) -> u64 {
        let entry = self.object("fixTaskMap").and_then(|map| map.get(original));
        entry.and_then(|entry| entry.get("attempts")).and_then(Value::as_u64).unwrap_or(0)
    }

    fn add_repair(&mut self, original: &str, id: &str, failed: &str, why: &str) {
        let mut map = self.object("fixTaskMap").cloned().unwrap_or_else(Map::new);
        let entry = map.entry(original.to_owned()).or_insert_with(|| json!({}));
        let count = entry.get("attempts").and_then(Value::as_u64).unwrap_or(0);
        let mut ids =
            entry.get("fixTaskIds").and_then(Value::as_array).cloned().unwrap_or_default();
        ids.push(id.into());
        *entry = json!({
            "attempts": count + 1,
            "fixTaskIds": ids,
            "lastFailed": failed,
            "lastError": why,
        });
        self.set("fixTaskMap", Value::Object(map));
    }
}
