//! The files of a feature at one stop: the state, the task list, and what cannot be read.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::project::Feature;
use super::state::{State, StateError};
use super::{SIGNAL, STATE};
use crate::engine::matched::ListChanges;
use crate::engine::tasks::{Task, TaskList};
use crate::engine::{Attempt, Contract, Fingerprint, Guardrails, Hasher, Tree, Work, hash_of};
use crate::evidence::task_list::{self, TASKS, TaskFile};
use crate::store::loops::{Asked, Record};
use crate::store::pins::{LoopLimits, PinState};
use crate::store::read::Problem;
use crate::store::receipts::Receipts;
use crate::store::settled::PATIENCE;
use crate::text::counted;
use crate::world::{Deadline, WallTime};

/// The files of a feature.
#[derive(Clone, Debug)]
pub struct FeatureSnapshot {
    pub feature: Feature,
    /// Default where the state cannot be read.
    pub state: State,
    /// `None` without a list.
    pub tasks: Option<TaskList>,
    pub unreadable: Option<Unreadable>,
    /// The limits of the loop: those of a loop that no person armed, until [`FeatureSnapshot::under`] sets others.
    pub limits: LoopLimits,
    /// The agent works by the outline of spec-kit's own command.
    pub by_outline: bool,
    /// The list has only the tasks that somebody named.
    is_part: bool,
    /// The bytes of the task list.
    pub text: Vec<u8>,
    /// The ticked tasks that count as open.
    pub not_proved: Vec<String>,
    /// Open tasks of the loop that have left the list.
    pub gone: Vec<String>,
    tasks_hash: u64,
}

/// A file of the feature that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub path: PathBuf,
    pub why: String,
    /// Differs with the broken content.
    pub hash: u64,
    /// The file cannot be opened at the moment, and may be whole.
    may_be_whole: bool,
}

impl Unreadable {
    fn new(path: PathBuf, why: String, may_be_whole: bool) -> Self {
        Self { hash: hash_of(why.as_bytes()), path, why, may_be_whole }
    }
}

/// The present task and the number of done ones, in the words of spec 003.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskPosition {
    /// From 1, at most `total`.
    pub task: u64,
    /// All tasks.
    pub total: u64,
    /// Finished tasks.
    pub done: u64,
    /// These are the tasks that somebody named, not the whole list.
    pub named: bool,
}

impl TaskPosition {
    /// `3 of 5 tasks`, or `3 of 5 named tasks` for a part of a list.
    pub fn words(self) -> String {
        let what = if self.named { "named task" } else { "task" };
        format!("{} of {}", self.done, counted(self.total, what))
    }
}

/// The feature's list at an arming; `None` if the list was not kept.
pub fn armed_list(feature: &Feature, at: WallTime) -> Option<TaskList> {
    let root = feature.folder.ancestors().nth(feature.relative.split('/').count())?;
    let list = [&feature.relative, "/", TASKS].concat();
    let kept = Receipts::of(root, &feature.name, &list).ok()?.armed_list(at.millis())?;
    Some(TaskList::parse(&kept))
}

impl FeatureSnapshot {
    /// `None` without a state file.
    pub fn read(feature: &Feature) -> Option<Self> {
        Self::read_by(feature, Deadline::after(PATIENCE))
    }

    /// Waits until the deadline for other programs that write the files.
    pub fn read_by(feature: &Feature, deadline: Deadline) -> Option<Self> {
        match State::read_by(feature, deadline) {
            Err(StateError::Missing) => None,
            found => Some(Self::with(feature, found, deadline)),
        }
    }

    /// Without a state file the state is empty.
    pub fn read_even_without_state(feature: &Feature) -> Self {
        let deadline = Deadline::after(PATIENCE);
        Self::with(feature, State::read_by(feature, deadline), deadline)
    }

    /// Under the terms of a loop's pin and what was asked of the loop; does not wait.
    pub fn of_loop(feature: &Feature, standing: &PinState, asked: &Asked) -> Self {
        let mut found = Self::read_even_without_state(feature);
        found.limits = limits_of(standing, &found.state);
        found.keep_within(asked, Deadline::after(Duration::ZERO));
        found
    }

    /// The files with a state that is about to be written; does not wait.
    pub fn with_state(feature: &Feature, state: &State) -> Self {
        Self::with(feature, Ok(state.clone()), Deadline::after(Duration::ZERO))
    }

    fn with(feature: &Feature, state: Result<State, StateError>, deadline: Deadline) -> Self {
        let file = |why, is_whole| Unreadable::new(feature.folder.join(STATE), why, is_whole);
        let (state, unreadable) = match state {
            Err(StateError::Missing) => (State::default(), None),
            Ok(state) => (state, None),
            Err(StateError::Unopened { why }) => (State::default(), Some(file(why, true))),
            Err(StateError::Corrupt { why, bytes }) => {
                let mut file = file(why, false);
                file.hash ^= hash_of(&bytes);
                (State::default(), Some(file))
            }
        };
        let mut snapshot = Self {
            feature: feature.clone(),
            limits: limits_of(&PinState::Nobody, &state),
            state,
            tasks: None,
            unreadable,
            by_outline: false,
            is_part: false,
            text: Vec::new(),
            not_proved: Vec::new(),
            gone: Vec::new(),
            tasks_hash: 0,
        };
        snapshot.read_tasks(deadline, &Asked::default());
        snapshot
    }

    /// An error for a file that cannot be opened at the moment: nothing can be judged by the file, and nothing is wrong
    /// with it.
    pub fn opened(&self) -> io::Result<()> {
        let file = self.unreadable.iter().find(|file| file.may_be_whole);
        file.map_or(Ok(()), |Unreadable { path, why, .. }| {
            Err(io::Error::other(format!("`{}` cannot be read: {why}", path.display())))
        })
    }

    /// Sets the limits of the armed loop, and keeps only its tasks in the list. Waits until the deadline if that needs
    /// another reading of the list.
    pub fn under(
        mut self,
        standing: &PinState,
        record: Option<&Record>,
        deadline: Deadline,
    ) -> Self {
        self.limits = limits_of(standing, &self.state);
        if let Some(asked) = standing.asked(record) {
            self.keep_within(asked, deadline);
        }
        self
    }

    fn keep_within(&mut self, asked: &Asked, deadline: Deadline) {
        self.by_outline = asked.by_outline;
        if (asked.optional || !asked.tasks.is_empty())
            && let Some(list) = self.tasks.take()
        {
            self.is_part = !asked.tasks.is_empty();
            let is_settled = all_done(&list);
            let part = asked.part_of(list, |at| armed_list(&self.feature, at));
            if all_done(&part) && !is_settled {
                self.read_tasks(deadline, asked);
            } else {
                self.tasks = Some(part);
            }
        }
    }

    /// Reads the part of the task list that was asked for.
    fn read_tasks(&mut self, deadline: Deadline, asked: &Asked) {
        let folder = &self.feature.folder;
        let armed = |at| armed_list(&self.feature, at);
        let within = |file: TaskFile| TaskFile { list: asked.part_of(file.list, armed), ..file };
        let mut found = task_list::read(folder).map(within);
        // A half-written list may end behind its ticked tasks: "all done" is believed only of a list that was left
        // alone for a moment.
        if found.as_ref().is_ok_and(|file| all_done(&file.list)) {
            found = task_list::read_settled(folder, deadline).map(within);
        }
        match found {
            Ok(file) => {
                self.tasks_hash = file.hash();
                self.tasks = Some(file.list);
                self.text = file.bytes;
            }
            Err(Problem::Missing) => {}
            Err(problem) => {
                let path = folder.join(TASKS);
                let is_whole = matches!(problem, Problem::Refused(_)) && !path.is_symlink();
                let file = Unreadable::new(path, problem.to_string(), is_whole);
                self.unreadable.get_or_insert(file);
            }
        }
    }

    /// The feature is in the phase that the loop drives.
    ///
    /// A corrupt state has no phase, but the loop speaks about it (spec 003, AC-2.1).
    pub fn in_execution(&self) -> bool {
        self.unreadable.is_some() || self.state.phase() == "execution"
    }

    /// By the task list, else by the state file.
    pub fn place(&self) -> TaskPosition {
        let (done, total, next) = match &self.tasks {
            Some(list) if !list.tasks.is_empty() => {
                let total = (list.tasks.len() + self.gone.len()) as u64;
                (list.done() as u64, total, list.first_open() as u64)
            }
            _ => {
                let total = self.state.total_tasks();
                let index = self.state.task_index().min(total);
                (index, total, index)
            }
        };
        TaskPosition { task: (next + 1).min(total.max(1)), total, done, named: self.is_part }
    }

    /// There are tasks, and every one is done.
    pub fn all_done(&self) -> bool {
        let place = self.place();
        place.total > 0 && place.done == place.total
    }

    /// Counts these tasks as open, whatever their boxes say.
    pub fn open_again(&mut self, ids: &[String]) {
        self.not_proved.extend(self.tasks.iter_mut().flat_map(|list| list.open_again(ids)));
    }

    /// The limits of the loop (spec 003, FR-8), and the checks that a person armed (spec 000).
    pub fn contract(&self, standing: &PinState) -> Contract {
        Contract {
            token: Some(SIGNAL.to_owned()),
            checks: standing.pin().map(|pin| pin.checks.clone()).unwrap_or_default(),
            converge: standing.pin().map(|pin| pin.converge.clone()).unwrap_or_default(),
            guardrails: Guardrails {
                max_iterations: Some(self.limits.max_iterations),
                ..Guardrails::default()
            },
            ..Contract::default()
        }
    }

    /// The cheap part of the fingerprint: list and place. A commit adds nothing: its work counted when it was written.
    pub fn work_fingerprint(&self) -> Fingerprint {
        let work = Hasher::default()
            .with_number(self.tasks_hash)
            .with_number(self.state.task_index())
            .finish();
        Fingerprint { work, tree: Tree::NotTaken }
    }

    /// 0 without a list.
    pub fn tasks_hash(&self) -> u64 {
        self.tasks_hash
    }

    /// A line for each task.
    pub fn task_lines(&self) -> String {
        self.tasks.as_ref().map(TaskList::to_lines).unwrap_or_default()
    }

    pub fn since(&self, before: &str) -> ListChanges {
        self.tasks.as_ref().map(|list| list.since(before)).unwrap_or_default()
    }

    /// `had_list`: an earlier stop saw a list with tasks.
    pub fn work(&self, had_list: bool) -> Work {
        if let Some(unreadable) = &self.unreadable {
            return Work::Unreadable { hash: unreadable.hash };
        }
        let (index, total) = (self.state.task_index(), self.state.total_tasks());
        match &self.tasks {
            None if had_list => Work::List { done: 0, open: 0 },
            // An empty list beside a state that counts nothing is no work. Beside a state that counts tasks, or after a
            // list with some, it is a list that was emptied.
            Some(list) if !list.tasks.is_empty() || total > 0 || had_list => {
                Work::List { done: list.done(), open: list.open().count() }
            }
            _ => Work::Counter { index, total },
        }
    }

    /// The attempt at the present task, or at an open task without attempts left.
    pub fn attempt(&self, place: TaskPosition, record: &Record) -> Attempt {
        let limit = self.limits.max_task_iterations;
        let failures = |task: &Task| {
            // The state file may have lost some.
            let counted = record.attempts.get(&task.id).copied().unwrap_or_default();
            self.state.failures(&task.id).max(counted)
        };
        let first = self.tasks.as_ref().and_then(TaskList::present);
        let has_failed = !record.attempts.is_empty() || self.state.object("taskAttempts").is_some();
        let rest = self.tasks.iter().flat_map(TaskList::open).take_while(|_| has_failed);
        let spent = first.into_iter().chain(rest).find(|task| failures(task) >= limit);
        let used = self.state.task_iteration();
        let named = |task: &Task, used| Attempt { task: task.id.clone(), used, limit };
        match (spent, first) {
            (Some(task), _) => named(task, failures(task).saturating_add(1)),
            (None, Some(task)) => named(task, used),
            (None, None) => Attempt { task: place.task.to_string(), used, limit },
        }
    }
}

/// The limits of a feature's loop: those that a person armed, else those of the state file, which can be shorter than
/// the defaults and not longer.
pub fn limits_of(standing: &PinState, state: &State) -> LoopLimits {
    if let Some(pin) = standing.pin() {
        return pin.limits;
    }
    let most = LoopLimits::default();
    LoopLimits {
        max_iterations: state.max_global_iterations().min(most.max_iterations),
        max_task_iterations: state.max_task_iterations().min(most.max_task_iterations),
        recovery: state.recovers(),
    }
}

fn all_done(list: &TaskList) -> bool {
    !list.tasks.is_empty() && list.open().next().is_none()
}
