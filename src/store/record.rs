//! The record of a session's loop, as `session-<session>.json` holds it: what it is about, how far it has read, its ledger.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::due::ExtensionHooks;
use super::journal::Entry;
use super::names::{ArmedBy, JournalEvent, LoopKind, PausedBy};
pub use super::pin::Asked;
use super::pin::Pin;
use crate::engine::fields::{is_default, read_fields};
use crate::engine::{
    CheckResult, Contract, Fingerprint, Ledger, PromiseMatch, TokenTotals, UNSEEN,
};
use crate::world::{FileTime, WallTime};

/// The version that this file carries.
pub const VERSION: u32 = 2;
/// How long a live loop may be silent, in milliseconds, before it counts as abandoned: an hour.
pub const SILENT: Duration = Duration::from_hours(1);

/// A session's loop: what it is about, how far it was read, and its ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// Version of this file's form.
    pub version: u32,
    /// The project's real root, in a list: version 1.0.0 refuses the file by its name, and takes it for nothing that it armed.
    pub project: Vec<String>,
    /// What it is about.
    pub kind: LoopKind,
    /// The session it is bound to.
    pub session: String,
    /// The feature it drives, such as `001-user-login`, or the first words of the task.
    pub about: String,
    /// The feature's folder, relative to the project; empty for a task.
    pub folder: String,
    /// When it was armed.
    pub armed_at: WallTime,
    /// How it was armed.
    pub armed_by: ArmedBy,
    /// When it was last judged; not known for never.
    pub seen_at: WallTime,
    /// When a stop last judged it that counted; not known for never.
    pub judged_at: WallTime,
    /// Where the transcript was when the loop was armed, in bytes: what came before is not its own.
    pub transcript_from: u64,
    /// Up to where the transcript was read, in bytes.
    pub transcript_read: u64,
    /// Up to where the transcript was when a stop was let go for what a person had typed, in bytes; 0 for never.
    #[serde(skip_serializing_if = "is_default")]
    pub let_go: u64,
    /// The message whose tokens were counted last: more lines of it may follow.
    pub last_message: LastMessage,
    /// Up to where the repository's log of its head was read, in bytes.
    pub commits_read: u64,
    /// The hash of the last line of it that was read, 0 for none.
    #[serde(skip_serializing_if = "is_default")]
    pub commits_line: u64,
    /// When the last iterations ended, to find out which of them changed a file.
    pub marks: Marks,
    /// The transcript's path: that it grows is a sign of life of the session.
    pub transcript: String,
    /// Whether the feature ever had a task list under this loop; one that goes away is not done.
    pub had_list: bool,
    /// The loop's memory.
    pub ledger: Ledger,
    /// What the last verdict said, in plain words; empty where the loop waits.
    pub words: String,
    /// What the last stop waits for, in plain words; empty for nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub waits_for: String,
    /// What the checks printed that failed at the last stop at which checks ran; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Whether the loop ended outside of a stop and the person has not been notified yet.
    #[serde(rename = "untold")]
    pub unnotified: bool,
    /// Hash of the task list when its open tasks were last noted, 0 for never.
    pub tasks_hash: u64,
    /// Tasks that were open under this loop and are gone from the list, by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone_tasks: Vec<String>,
    /// Tasks whose boxes were ticked at the last stop and did not count, by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// Why the loop is paused, `None` while it is not.
    pub paused: Option<Pause>,
    /// What was asked of a feature's loop besides the feature, `None` for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<Asked>>,
    /// What a person armed for a ralph loop, `None` where none did, and for a feature's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub armed: Option<Box<Pin>>,
    /// What a ralph loop was asked for, `None` for a feature's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignment: Option<Box<Assignment>>,
    /// From whom this session took the loop over, `None` when it was armed here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopted: Option<Adopted>,
    /// The session that took the loop over, empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub moved_to: String,
    /// What the person has been notified of.
    #[serde(rename = "told", skip_serializing_if = "is_default")]
    pub notified: Notified,
    /// How the client took the answers that continued its turns with more context.
    #[serde(skip_serializing_if = "is_default")]
    pub context: ContextAnswers,
    /// Failed attempts of each open task, as `spool task fail` counted them; the state file cannot make
    /// them fewer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attempts: BTreeMap<String, u32>,
    /// The extension hooks of spec-kit that have run under this loop.
    #[serde(skip_serializing_if = "ExtensionHooks::is_empty")]
    pub hooks_ran: ExtensionHooks,
    /// Whether the agent was told to run the converge command of spec-kit and has: the next verdict counts it.
    #[serde(skip_serializing_if = "is_default")]
    pub converge_ran: bool,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Record {
    version, project, kind, session, about, folder, armed_at, armed_by, seen_at, judged_at, transcript_from,
    transcript_read, let_go, last_message, commits_read, commits_line, marks, transcript, had_list,
    ledger, words, waits_for, output, unnotified as "untold", tasks_hash, gone_tasks, refused, paused, asked, armed, assignment,
    adopted, moved_to, notified as "told", context, attempts, hooks_ran, converge_ran,
} kept more);

/// When iterations ended, by the clock that the files have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// When the loop was armed; not known for one that nobody has judged.
    pub start: FileTime,
    /// The ends of the last iterations, oldest first.
    pub ends: Vec<FileTime>,
    /// Whether the record was written last by a stop that does not count.
    pub waited: bool,
    /// When the checks of the last stop began; not known where none ran.
    pub checking: FileTime,
    /// From when to when checks ran: what changed meanwhile is not the agent's work.
    pub checks: Vec<[FileTime; 2]>,
    /// What some files and folders contain: a hash of the path, one of the content or of the names in it, and since when.
    pub contents: Vec<[u64; 3]>,
}

read_fields!(Marks { start, ends, waited, checking, checks, contents });

/// What the person has been notified of, once for each loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Notified {
    /// That no person armed it, or that nobody knows.
    pub unarmed: bool,
    /// That its state file asks for a person's approval.
    pub approval: bool,
    /// Hash of the other phase in its state file that the person was notified of last, 0 for none.
    pub phase: u64,
    /// That the settings switch it off.
    pub switched_off: bool,
    /// Hash of the changed settings that were reported last, 0 for none.
    pub settings: u64,
}

read_fields!(Notified { unarmed, approval, phase, switched_off, settings });

/// How a client took the answers that continue a turn with more context, and block nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextAnswers {
    /// The number of its version.
    pub client: u64,
    /// Whether the last stop was answered so, and nobody knows yet whether the turn continued.
    pub asked: bool,
    /// Whether a turn was seen to continue.
    pub works: bool,
    /// Whether a turn ended all the same: this client gets no such answer in this loop again.
    pub failed: bool,
}

read_fields!(ContextAnswers { client, asked, works, failed });

/// A message of the agent whose tokens were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LastMessage {
    /// Hash of its id, 0 for none.
    pub id: u64,
    /// What was counted for it.
    pub tokens: TokenTotals,
}

read_fields!(LastMessage { id, tokens });

/// A loop's way from one session to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Adopted {
    /// The session that had it before.
    pub from: String,
    /// When it was taken over.
    pub at: WallTime,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Adopted { from, at } kept more);

/// A pause: the agent may stop, nothing is counted, the loop stays armed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pause {
    /// Since when.
    pub at: WallTime,
    /// Where it comes from.
    pub by: PausedBy,
    /// The error that ended the turn, such as `rate_limit`; empty for a pause that was asked for.
    pub error: String,
    /// Whether the person has been notified of it in the session.
    #[serde(rename = "told")]
    pub notified: bool,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Pause { at, by, error, notified as "told" } kept more);

/// What a person asked a ralph loop for, and what it knows besides its ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Assignment {
    /// The task, unchanged; of a long one the beginning.
    pub task: String,
    /// The name of the file in the session's folder that holds a long task whole, empty for a short one.
    pub task_file: String,
    /// When it is done, and what ends it otherwise.
    pub contract: Contract,
    /// Where the promise has to be.
    pub promise_match: PromiseMatch,
    /// Whether every text for the agent begins with the ultrawork instruction.
    pub ultrawork: bool,
    /// The last run of the checks.
    pub checked: Option<Checked>,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Assignment {
    task, task_file, contract, promise_match, ultrawork, checked,
} kept more);

/// A run of the checks, with the work as it left it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Checked {
    /// What the work looked like afterwards.
    pub fingerprint: Fingerprint,
    /// When that stop ended, by the clock of the files; not known until the next one.
    pub since: FileTime,
    /// The results, in the order of the contract.
    pub results: Vec<CheckResult>,
}

read_fields!(Checked { fingerprint, since, results });

impl Record {
    /// The line of the journal for something that happens to the loop now.
    pub fn entry(&self, event: JournalEvent, words: &str) -> Entry {
        Entry::now(event, &self.about, self.ledger.iterations, words)
    }

    /// What came of the last stop, in plain words.
    pub fn last_words(&self) -> String {
        let waits = || ["waiting for ", &self.waits_for].concat();
        if self.words.is_empty() { waits() } else { self.words.clone() }
    }

    /// The pin of a feature's loop whose own is gone: it says whose the loop is, and arms nothing.
    pub fn bare_pin(&self) -> Pin {
        Pin {
            about: self.about.clone(),
            session: self.session.clone(),
            armed_at: self.armed_at,
            armed_by: self.armed_by.clone(),
            commits_from: Some(self.commits_read),
            commits_line: self.commits_line,
            list: [&self.folder, "/tasks.md"].concat(),
            ..Pin::default()
        }
        .bare()
    }

    /// What a ralph loop was asked for, `None` when this is no ralph loop.
    pub fn ralph(&self) -> Option<&Assignment> {
        self.assignment.as_deref().filter(|_| self.kind == LoopKind::Task)
    }

    /// The pause of a loop that lives, `None` when it ended or is not paused.
    pub fn pause(&self) -> Option<&Pause> {
        self.paused.as_ref().filter(|_| self.ledger.is_live())
    }

    /// Returns whether this is a ralph loop that has not ended.
    pub fn is_live_ralph(&self) -> bool {
        self.kind == LoopKind::Task && self.ledger.is_live()
    }

    /// Goes back to where another state of this record was in transcript and commits: what was
    /// read since is read again.
    pub fn read_as_far_as(&mut self, before: &Self) {
        self.transcript_read = before.transcript_read;
        self.last_message = before.last_message;
        self.commits_read = before.commits_read;
        self.commits_line = before.commits_line;
    }

    /// Returns when its session last gave a sign of life: a stop, the arming, or a line in its transcript.
    pub fn last_sign(&self) -> WallTime {
        let written = fs::metadata(&self.transcript).and_then(|meta| meta.modified());
        let written = written.map(WallTime::from).unwrap_or_default();
        let adopted = self.adopted.as_ref().map(|adopted| adopted.at).unwrap_or_default();
        self.seen_at.max(self.armed_at).max(adopted).max(written)
    }

    /// Returns for how long its session has been silent.
    pub fn silent_for(&self) -> Duration {
        self.last_sign().age()
    }

    /// Returns whether the loop lives, no person has paused it, and its session has been silent for
    /// more than an hour.
    pub fn is_orphaned(&self) -> bool {
        self.may_be_left_behind() && self.silent_for() > SILENT
    }

    /// Returns whether the loop lives and no person has paused it.
    pub fn may_be_left_behind(&self) -> bool {
        let is_kept = self.pause().is_some_and(|pause| !pause.ends_by_itself());
        self.ledger.is_live() && !is_kept
    }
}

impl Marks {
    /// Takes in when the record was written last: the end of the iteration before.
    ///
    /// The arming is such an end only for a loop that is `settled` by then: that knew its commits.
    pub fn begin(&mut self, written: Option<FileTime>, settled: bool) {
        let Some(written) = written else {
            return;
        };
        let checking = std::mem::take(&mut self.checking);
        if checking.is_known() {
            self.checks.push([checking, written]);
        }
        let is_first = !self.start.is_known();
        if is_first {
            self.start = written;
        }
        if is_first && !settled {
            return;
        }
        if self.waited && !self.ends.is_empty() {
            return;
        }
        // A clock that was set back: what was noted before can be compared with nothing.
        if self.ends.last().is_some_and(|last| *last > written) {
            self.ends.clear();
        }
        self.ends.push(written);
        let surplus = self.ends.len().saturating_sub(UNSEEN as usize + 1);
        self.ends.drain(..surplus);
        let first = self.ends[0];
        self.checks.retain(|[_, end]| *end >= first);
    }

    /// Returns since when something with this path contains what it does, and remembers that; `changed` is its own time.
    pub fn contains_since(&mut self, [path, content]: [u64; 2], changed: FileTime) -> FileTime {
        let known = self.contents.iter().position(|known| known[0] == path);
        if let Some(known) = known.map(|place| self.contents.remove(place)) {
            let is_same = known[1] == content;
            let since = if is_same { FileTime::of(0, known[2]) } else { changed };
            self.contents.push([path, content, since.nanoseconds()]);
            return since;
        }
        self.contents.push([path, content, changed.nanoseconds()]);
        changed
    }

    /// Returns whether checks ran at a time. When the record was written they had ended, and the clock of the files had
    /// gone a step: what has that time is the agent's work, or nobody can say.
    pub fn is_in_checks(&self, time: FileTime) -> bool {
        self.checks.iter().any(|[start, end]| (*start..*end).contains(&time))
    }
}

impl Pause {
    /// Returns whether it ends with the next prompt; any other one ends when somebody says so.
    pub fn ends_by_itself(&self) -> bool {
        self.by == PausedBy::Failure
    }

    /// Returns why the loop is paused, in a few words.
    pub fn words(&self) -> String {
        match self.by {
            PausedBy::Failure if self.error.is_empty() => "the turn broke off".to_owned(),
            PausedBy::Failure => format!("the turn broke off: {}", self.error),
            PausedBy::Session => "asked for inside of its session".to_owned(),
            _ => "asked for in a terminal".to_owned(),
        }
    }
}
