//! Gathering: one stop of a speckit loop as an observation for the engine.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::SIGNAL;
use super::armed;
use super::cancel::ends;
use crate::engine::promise::stands_alone;
use crate::engine::tasks::{Task, TaskList};
use crate::engine::{
    Attempt, Contract, Files, Fingerprint, Guardrails, Hasher, Observation, Tampered, Tree,
    Waiting, Work, hash_of, is_last_idle_stop,
};
use crate::evidence::commits;
use crate::evidence::task_list::{self, TASKS};
use crate::feature::STATE;
use crate::feature::project::{Feature, Project};
use crate::feature::state::{State, StateError};
use crate::hosts::claude::input::Event;
use crate::hosts::claude::transcript::lag::{TurnEnd, wait_while};
use crate::hosts::claude::transcript::{Calls, Tail};
use crate::store::loops::{OpenTasks, Record};
use crate::store::pins::{Limits, PinState};
use crate::store::read::Problem;
use crate::store::settled::PATIENCE;
use crate::world::{self, Deadline};

/// The files of a feature as they stand now.
#[derive(Clone, Debug)]
pub struct FeatureSnapshot {
    /// The feature.
    pub feature: Feature,
    /// Its state, as far as it can be read.
    pub state: State,
    /// Its task list, `None` where there is none.
    pub tasks: Option<TaskList>,
    /// What cannot be read: the file and why.
    pub unreadable: Option<Unreadable>,
    /// The limits of its loop; those of one that nobody armed until [`FeatureSnapshot::under`] says otherwise.
    pub limits: Limits,
    tasks_hash: u64,
}

/// A file of the feature that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
    /// Tells one broken content from another.
    pub hash: u64,
    /// Whether there is a content at all.
    pub content: Found,
}

/// What was found of a file that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A content that is none of ours.
    Broken,
    /// Nothing: it cannot be opened at the moment, and may be as good as ever.
    Nothing,
}

impl Unreadable {
    fn unopened(path: PathBuf, why: String) -> Self {
        let hash = hash_of(why.as_bytes());
        Self { path, why, hash, content: Found::Nothing }
    }
}

/// Where the work stands, in the words of spec 003.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The present task, from 1; one more than `total` never occurs.
    pub task: u64,
    /// All tasks.
    pub total: u64,
    /// Finished tasks.
    pub done: u64,
}

impl FeatureSnapshot {
    /// Returns the files of a feature, `None` when it has no state file.
    pub fn read(feature: &Feature) -> Option<Self> {
        Self::read_by(feature, Deadline::after(PATIENCE))
    }

    /// Returns the same; waits until the deadline for those who are writing the files.
    pub fn read_by(feature: &Feature, deadline: Deadline) -> Option<Self> {
        match State::read_by(feature, deadline) {
            Err(StateError::Missing) => None,
            found => Some(Self::with(feature, found, deadline)),
        }
    }

    /// Returns the files of a feature; without a state file its state is empty.
    pub fn read_even_without_state(feature: &Feature) -> Self {
        let deadline = Deadline::after(PATIENCE);
        Self::with(feature, State::read_by(feature, deadline), deadline)
    }

    /// Returns the files of a feature whose state is about to be this one; waits for nobody.
    pub fn with_state(feature: &Feature, state: &State) -> Self {
        Self::with(feature, Ok(state.clone()), Deadline::after(Duration::ZERO))
    }

    fn with(feature: &Feature, state: Result<State, StateError>, deadline: Deadline) -> Self {
        let (state, corrupt) = match state {
            Err(StateError::Missing) => (State::default(), None),
            Ok(state) => (state, None),
            Err(StateError::Unopened { why }) => {
                let path = feature.folder.join(STATE);
                (State::default(), Some(Unreadable::unopened(path, why)))
            }
            Err(StateError::Corrupt { why, bytes }) => {
                let hash = hash_of(&bytes) ^ hash_of(why.as_bytes());
                let path = feature.folder.join(STATE);
                (State::default(), Some(Unreadable { path, why, hash, content: Found::Broken }))
            }
        };
        let mut snapshot = Self {
            feature: feature.clone(),
            limits: armed::limits(&PinState::Nobody, &state),
            state,
            tasks: None,
            unreadable: corrupt,
            tasks_hash: 0,
        };
        snapshot.read_tasks(deadline);
        snapshot
    }

    /// Returns an error for a file that cannot be opened at the moment: nothing can be judged by it, and
    /// nothing is wrong with it.
    pub fn opened(&self) -> io::Result<()> {
        match self.unreadable.as_ref().filter(|it| it.content == Found::Nothing) {
            Some(Unreadable { path, why, .. }) => {
                Err(io::Error::other(format!("`{}` cannot be read: {why}", path.display())))
            }
            None => Ok(()),
        }
    }

    /// Returns the same files under the limits of the loop that was armed.
    #[must_use]
    pub fn under(mut self, standing: &PinState) -> Self {
        self.limits = armed::limits(standing, &self.state);
        self
    }

    fn read_tasks(&mut self, deadline: Deadline) {
        let folder = &self.feature.folder;
        let mut found = task_list::read(folder);
        // A list that is being written may end after its ticked tasks: "all done" is believed
        // only of a list that was left alone for a moment.
        if found.as_ref().is_ok_and(|file| all_done(&file.list)) {
            found = task_list::read_settled(folder, deadline);
        }
        match found {
            Ok(file) => {
                self.tasks_hash = file.hash();
                self.tasks = Some(file.list);
            }
            Err(Problem::Missing) => {}
            Err(Problem::Refused(why))
                if self.unreadable.is_none() && !folder.join(TASKS).is_symlink() =>
            {
                self.unreadable = Some(Unreadable::unopened(folder.join(TASKS), why));
            }
            Err(problem) if self.unreadable.is_none() => {
                let why = problem.to_string();
                let hash = hash_of(why.as_bytes());
                let (path, content) = (folder.join(TASKS), Found::Broken);
                self.unreadable = Some(Unreadable { path, why, hash, content });
            }
            Err(_) => {}
        }
    }

    /// Returns whether this feature is in the phase that the loop drives.
    ///
    /// A corrupt state has no phase; it is spoken about all the same (spec 003, AC-2.1).
    pub fn in_execution(&self) -> bool {
        self.unreadable.is_some() || self.state.phase() == "execution"
    }

    /// Returns where the work stands: by the task list, otherwise by the state file.
    pub fn place(&self) -> Place {
        let (done, total, next) = match &self.tasks {
            Some(list) if !list.tasks.is_empty() => {
                (list.done() as u64, list.tasks.len() as u64, list.first_open() as u64)
            }
            _ => {
                let total = self.state.total_tasks();
                let index = self.state.task_index().min(total);
                (index, total, index)
            }
        };
        Place { task: (next + 1).min(total.max(1)), total, done }
    }

    /// Returns the contract of this feature: the limits of its loop (spec 003, FR-8), and the checks that
    /// a person armed (spec 000).
    pub fn contract(&self, standing: &PinState) -> Contract {
        Contract {
            token: Some(SIGNAL.to_owned()),
            checks: standing.pin().map(|pin| pin.checks.clone()).unwrap_or_default(),
            guardrails: Guardrails {
                max_iterations: Some(self.limits.max_iterations),
                ..Guardrails::default()
            },
            ..Contract::default()
        }
    }

    /// Returns the cheap part of the fingerprint: list, place and commits.
    pub fn work_fingerprint(&self, project: &Project) -> Fingerprint {
        let work = Hasher::default()
            .with_number(self.tasks_hash)
            .with_number(self.state.task_index())
            .with_number(commits::head_fingerprint(&project.root))
            .finish();
        Fingerprint { work, tree: Tree::NotTaken }
    }

    /// Returns a hash of the task list's bytes, 0 without one.
    pub fn tasks_hash(&self) -> u64 {
        self.tasks_hash
    }

    /// Returns the open tasks, by id, with a hash of their text.
    pub fn open_tasks(&self) -> OpenTasks {
        self.tasks.as_ref().map(TaskList::open_by_text).unwrap_or_default()
    }

    /// Returns what became of tasks that were open, other than being done.
    pub fn tampered_since(&self, before: &OpenTasks) -> Tampered {
        let list = self.tasks.as_ref();
        list.map(|list| list.tampered_since(before)).unwrap_or_default()
    }

    fn work(&self, had_list: bool) -> Work {
        if let Some(unreadable) = &self.unreadable {
            return Work::Unreadable { hash: unreadable.hash };
        }
        let (index, total) = (self.state.task_index(), self.state.total_tasks());
        match &self.tasks {
            None if had_list => Work::List { done: 0, open: Vec::new() },
            // An empty list beside a state that counts nothing is no work; beside one that counts
            // tasks it is a list that somebody emptied.
            Some(list) if !list.tasks.is_empty() || total > 0 => Work::List {
                done: list.done(),
                open: list.open().map(|task| task.id.clone()).collect(),
            },
            _ => Work::Counter { index, total },
        }
    }

    /// The attempt at the present task, or at any open one that has used up its attempts.
    fn attempt(&self, place: Place, record: &Record) -> Attempt {
        let limit = self.limits.max_task_iterations;
        let failures = |task: &Task| {
            // The state file may have been made to forget some.
            let counted = record.attempts.get(&task.id).copied().unwrap_or_default();
            self.state.failures(&task.id).max(counted)
        };
        let mut open = self.tasks.iter().flat_map(TaskList::open);
        let first = open.next();
        let spent = first.into_iter().chain(open).find(|task| failures(task) >= limit);
        let used = self.state.task_iteration();
        let named = |task: &Task, used| Attempt { task: task.id.clone(), used, limit };
        match (spent, first) {
            (Some(task), _) => named(task, failures(task).saturating_add(1)),
            (None, Some(task)) => named(task, used),
            (None, None) => Attempt { task: place.task.to_string(), used, limit },
        }
    }
}

/// Returns the observation of one stop; nothing is counted yet (see [`add_seen`]).
pub fn observe(
    project: &Project,
    snapshot: &FeatureSnapshot,
    event: &Event,
    record: &mut Record,
) -> Observation {
    let mut claimed = stands_alone(event.last_message(), SIGNAL);
    // The list decides where there is one; the transcript is asked only where there is none.
    if !claimed && snapshot.tasks.is_none() {
        let path = event.transcript();
        let tail = path.and_then(|path| Tail::read_for_signal(&path, record.transcript_from));
        claimed = tail.is_some_and(|tail| tail.says(SIGNAL));
    }
    record.had_list |= snapshot.tasks.as_ref().is_some_and(|list| !list.tasks.is_empty());
    let fingerprint = snapshot.work_fingerprint(project);
    Observation {
        work: snapshot.work(record.had_list),
        claimed,
        tool_calls: None,
        fingerprint,
        files: Files::NotLooked,
        waiting: waiting(snapshot, event, record),
        attempt: Some(snapshot.attempt(snapshot.place(), record)),
        reported_iteration: snapshot.state.global_iteration(),
        elapsed_seconds: world::now().saturating_sub(record.armed_at) / 1000,
        reentered: event.held(),
        ..Observation::default()
    }
}

/// Waits, half a second at most, for a transcript that shows no tool call yet where a stop without one would
/// end the loop.
pub fn wait_for_transcript(event: &Event, record: &Record, deadline: Deadline) {
    let Some(path) =
        event.transcript().filter(|_| is_last_idle_stop(&Guardrails::default(), &record.ledger))
    else {
        return;
    };
    wait_while(deadline, || {
        let calls = Calls::since(&path, record.transcript_read, record.last_message, 0);
        calls.is_some_and(|calls| calls.count == Some(0))
            && !turn_end(event, record).is_shown(&path, record.transcript_read)
    });
}

/// Returns the end of this turn, as the transcript has to show it.
pub fn turn_end<'a>(event: &'a Event, record: &Record) -> TurnEnd<'a> {
    TurnEnd { told: event.last_message(), armed_at: record.armed_at, after: record.seen_at }
}

/// Adds what happened since the last stop: tool calls, tokens, commits, and a cancel that was typed
/// meanwhile; moves the record's places in transcript and commits on.
///
/// Counting is the dearest part of a stop, and only a session at its own loop needs it.
pub fn add_seen(project: &Project, event: &Event, record: &mut Record, seen: &mut Observation) {
    seen.commits = commits::counted(&project.root, record);
    let Some(path) = event.transcript() else {
        return;
    };
    let from = record.transcript_read;
    let Some(calls) = Calls::since(&path, from, record.last_message, 0) else {
        return;
    };
    seen.waiting.extend(typed_cancel(&calls.typed_ahead, record));
    // A transcript that lags has no calls yet, and does not say that there were none: it is read again at
    // the next stop.
    let unseen = calls.count == Some(0)
        && is_last_idle_stop(&Guardrails::default(), &record.ledger)
        && !turn_end(event, record).is_shown(&path, from);
    if unseen {
        return;
    }
    record.transcript_read = calls.read_up_to;
    record.last_message = calls.last;
    seen.tool_calls = calls.count;
    seen.tokens = calls.tokens.all;
    seen.written_tokens = calls.tokens.written;
}

/// Returns the wait for a command that ends this loop: a person typed it while the agent worked, and
/// the client keeps it until the turn is over. A loop that held the turn would keep it waiting for ever.
pub fn typed_cancel(typed: &[String], record: &Record) -> Option<Waiting> {
    let cancel = typed.iter().find(|typed| ends(typed, record))?;
    Some(Waiting::Typed(cancel.trim().to_owned()))
}

fn waiting(snapshot: &FeatureSnapshot, event: &Event, record: &Record) -> Vec<Waiting> {
    let paused = record.pause().map(|pause| Waiting::Paused(pause.words()));
    let approval = snapshot.state.awaits_approval().then_some(Waiting::Approval);
    let background = event.background().into_iter().map(Waiting::Background);
    paused.into_iter().chain(approval).chain(background).collect()
}

fn all_done(list: &TaskList) -> bool {
    !list.tasks.is_empty() && list.open().next().is_none()
}
