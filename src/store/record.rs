//! A session's record, `session-<session>.json`: the loop's subject, how far the loop has read, its ledger.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::due::ExtensionHooks;
use super::journal::Entry;
use super::names::{ArmedBy, JournalEvent, LoopKind, PausedBy};
pub use super::pin::Asked;
use super::pin::Pin;
use super::read;
use crate::engine::fields::{is_default, read_fields};
use crate::engine::{
    CheckResult, Contract, Fingerprint, Ledger, PromiseMatch, TokenTotals, UNSEEN,
};
use crate::world::{FileTime, WallTime};

pub const RECORD_VERSION: u32 = 2;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    pub version: u32,
    /// The project's real root, as a list: version 1.0.0 then refuses the file by name, instead of taking it for
    /// nothing.
    pub project: Vec<String>,
    pub kind: LoopKind,
    pub session: String,
    /// The feature, such as `001-user-login`, or the first words of the task.
    pub about: String,
    /// The feature's folder, relative to the project; empty for a task.
    pub folder: String,
    pub armed_at: WallTime,
    pub armed_by: ArmedBy,
    /// The last judgement; unknown for never.
    pub seen_at: WallTime,
    /// The last stop that counted; unknown for never.
    pub judged_at: WallTime,
    /// The transcript's bytes at arming: what came before is not of this loop.
    pub transcript_from: u64,
    /// The transcript's bytes that are read.
    pub transcript_read: u64,
    /// The transcript's bytes at the last stop that was let go for a person's words; 0 for never.
    #[serde(skip_serializing_if = "is_default")]
    pub let_go: u64,
    /// The message whose tokens were counted last: more of its lines may follow.
    pub last_message: LastMessage,
    /// Bytes that are read of the repository's log of its head.
    pub commits_read: u64,
    /// Hash of the last line read; 0 for none.
    #[serde(skip_serializing_if = "is_default")]
    pub commits_line: u64,
    /// The ends of the last iterations, to tell which of them changed a file.
    pub marks: Marks,
    /// The transcript's path: a growing transcript is a sign of life.
    pub transcript: String,
    /// The feature had a task list under this loop. A list that disappears is not done.
    pub had_list: bool,
    pub ledger: Ledger,
    /// The words of the last verdict; empty while the loop waits.
    pub words: String,
    /// What the last stop waits for; empty for nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub waits_for: String,
    /// The output of failed checks at the last stop with checks; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// The loop ended outside of a stop, and the person has not been notified.
    #[serde(rename = "untold")]
    pub unnotified: bool,
    /// Hash of the task list when its open tasks were last noted; 0 for never.
    pub tasks_hash: u64,
    /// Ids of tasks that were open under this loop and are gone from the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone_tasks: Vec<String>,
    /// Ids of tasks that were ticked at the last stop and did not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// Ids of tasks whose Verify command failed when it ran last: they count as open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unverified: Vec<String>,
    /// `None` while the loop is not paused.
    pub paused: Option<Pause>,
    /// `None` if only the feature was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<Asked>>,
    /// The arming of a ralph loop by a person. `None` if no person armed the loop, and for a feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub armed: Option<Box<Pin>>,
    /// The assignment of a ralph loop; `None` for a feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignment: Option<Box<Assignment>>,
    /// The former session of an adopted loop; `None` if the loop was armed here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopted: Option<Adopted>,
    /// The session that adopted this loop; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub moved_to: String,
    #[serde(rename = "told", skip_serializing_if = "is_default")]
    pub notified: Notified,
    /// Failed attempts of each open task, as `spool task fail` counted them; the state file cannot make
    /// them fewer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attempts: BTreeMap<String, u32>,
    /// Extension hooks of spec-kit that have run under this loop.
    #[serde(skip_serializing_if = "ExtensionHooks::is_empty")]
    pub hooks_ran: ExtensionHooks,
    /// The agent was told to run spec-kit's converge command, and has: the next verdict counts it.
    #[serde(skip_serializing_if = "is_default")]
    pub converge_ran: bool,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Record {
    version, project, kind, session, about, folder, armed_at, armed_by, seen_at, judged_at, transcript_from,
    transcript_read, let_go, last_message, commits_read, commits_line, marks, transcript, had_list,
    ledger, words, waits_for, output, unnotified as "untold", tasks_hash, gone_tasks, refused, unverified, paused, asked, armed, assignment,
    adopted, moved_to, notified as "told", attempts, hooks_ran, converge_ran,
} kept more);

/// The ends of iterations, by the files' clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// The time of arming; unknown before the first judgement.
    pub start: FileTime,
    /// The oldest first.
    pub ends: Vec<FileTime>,
    /// The record was last written by a stop that does not count.
    pub waited: bool,
    /// The beginning of the last stop's checks; unknown if none ran.
    pub checking: FileTime,
    /// Times of checks: a change during them is not the agent's work.
    pub checks: Vec<[FileTime; 2]>,
    /// Contents of some files and folders: hash of the path, hash of the content or of the names inside, and since
    /// when.
    pub contents: Vec<[u64; 3]>,
}

read_fields!(Marks { start, ends, waited, checking, checks, contents });

/// Notices the person got, each once for a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Notified {
    /// No person armed the loop, or the pin cannot be read.
    pub unarmed: bool,
    /// The state file asks for a person's approval.
    pub approval: bool,
    /// Hash of the last reported other phase in the state file; 0 for none.
    pub phase: u64,
    /// The settings switch the loop off.
    pub switched_off: bool,
    /// Hash of the last reported change of settings; 0 for none.
    pub settings: u64,
}

read_fields!(Notified { unarmed, approval, phase, switched_off, settings });

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LastMessage {
    /// Hash of the message's id; 0 for none.
    pub id: u64,
    /// The tokens counted for the message.
    pub tokens: TokenTotals,
}

read_fields!(LastMessage { id, tokens });

/// The takeover of a loop from another session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Adopted {
    /// The former session.
    pub from: String,
    pub at: WallTime,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Adopted { from, at } kept more);

/// A pause: the agent may stop, nothing counts, and the loop stays armed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pause {
    pub at: WallTime,
    pub by: PausedBy,
    /// The error that ended the turn, such as `rate_limit`; empty for a requested pause.
    pub error: String,
    /// The person has been notified of the pause in the session.
    #[serde(rename = "told")]
    pub notified: bool,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Pause { at, by, error, notified as "told" } kept more);

/// A ralph loop's task and contract, and its state beside the ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Assignment {
    /// The task word for word; the beginning of a long one.
    pub task: String,
    /// The file in the session's folder with a long task; empty for a short one.
    pub task_file: String,
    pub contract: Contract,
    pub promise_match: PromiseMatch,
    /// Every text for the agent begins with the ultrawork instruction.
    pub ultrawork: bool,
    pub checked: Option<Checked>,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Assignment {
    task, task_file, contract, promise_match, ultrawork, checked,
} kept more);

/// A run of the checks, and the work after the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Checked {
    /// The work afterwards.
    pub fingerprint: Fingerprint,
    /// The end of that stop by the files' clock; unknown until the next stop.
    pub since: FileTime,
    /// In the contract's order.
    pub results: Vec<CheckResult>,
}

read_fields!(Checked { fingerprint, since, results });

impl Record {
    /// A record for a pin, with an empty ledger. Earlier lines of the transcript do not belong to the loop.
    pub fn new(pin: &Pin, session: &str, by: &ArmedBy, transcript: Option<&Path>) -> Self {
        let mut record = Self {
            kind: LoopKind::Feature,
            session: session.to_owned(),
            about: pin.about.clone(),
            folder: pin.feature_folder().to_owned(),
            armed_at: pin.armed_at,
            armed_by: by.clone(),
            commits_read: pin.commits_from.unwrap_or_default(),
            commits_line: pin.commits_line,
            ..Self::default()
        };
        record.begin_behind(transcript);
        record
    }

    /// Reads a transcript from its end on.
    pub fn begin_behind(&mut self, transcript: Option<&Path>) {
        let file = transcript.and_then(|path| read::open(path).ok());
        self.transcript_from = file.map_or(0, |(_, meta)| meta.len());
        self.transcript_read = self.transcript_from;
        self.last_message = LastMessage::default();
        transcript.and_then(Path::to_str).unwrap_or_default().clone_into(&mut self.transcript);
    }

    /// A journal entry for now.
    pub fn entry(&self, event: JournalEvent, words: &str) -> Entry {
        Entry::now(event, &self.about, self.ledger.iterations, words)
    }

    /// The outcome of the last stop, in plain words.
    pub fn last_words(&self) -> String {
        let waits = || ["waiting for ", &self.waits_for].concat();
        if self.words.is_empty() { waits() } else { self.words.clone() }
    }

    /// Rebuilds a feature's lost pin: it names the owner and arms nothing.
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

    /// A ralph loop's assignment; `None` for a feature's loop.
    pub fn ralph(&self) -> Option<&Assignment> {
        self.assignment.as_deref().filter(|_| self.kind == LoopKind::Task)
    }

    /// The pause of a live loop.
    pub fn pause(&self) -> Option<&Pause> {
        self.paused.as_ref().filter(|_| self.ledger.is_live())
    }

    pub fn is_live_ralph(&self) -> bool {
        self.kind == LoopKind::Task && self.ledger.is_live()
    }

    /// Goes back to the places of `before` in transcript and commits: everything since is read again.
    pub fn read_as_far_as(&mut self, before: &Self) {
        self.transcript_read = before.transcript_read;
        self.last_message = before.last_message;
        self.commits_read = before.commits_read;
        self.commits_line = before.commits_line;
    }

    /// The session's last sign of life: a stop, the arming, an adoption, or a line in its transcript.
    pub fn last_sign(&self) -> WallTime {
        let written = fs::metadata(&self.transcript).and_then(|meta| meta.modified());
        let written = written.map(WallTime::from).unwrap_or_default();
        let adopted = self.adopted.as_ref().map(|adopted| adopted.at).unwrap_or_default();
        self.seen_at.max(self.armed_at).max(adopted).max(written)
    }

    pub fn silent_for(&self) -> Duration {
        self.last_sign().age()
    }
}

impl Marks {
    /// The last write of the record marks the end of the previous iteration.
    ///
    /// The arming, too, is a write, but counts as an end only for a `settled` loop, which knew its commits.
    pub fn begin(&mut self, written: Option<FileTime>, settled: bool) {
        let Some(written) = written else { return };
        let checking = std::mem::take(&mut self.checking);
        self.checks.extend(checking.is_known().then_some([checking, written]));
        let is_first = !self.start.is_known();
        if is_first {
            self.start = written;
        }
        if (is_first && !settled) || (self.waited && !self.ends.is_empty()) {
            return;
        }
        // The clock was set back: earlier times can be compared with nothing.
        if self.ends.last().is_some_and(|last| *last > written) {
            self.ends.clear();
        }
        self.ends.push(written);
        let surplus = self.ends.len().saturating_sub(UNSEEN as usize + 1);
        self.ends.drain(..surplus);
        let first = self.ends[0];
        self.checks.retain(|[_, end]| *end >= first);
    }

    /// Remembers a path's content, and returns since when the path has it. `changed` is the file's own time.
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

    /// True if checks ran at this time. The end is exclusive: the files' clock has ticked since, so a change at that
    /// time is the agent's, or unclear.
    pub fn is_in_checks(&self, time: FileTime) -> bool {
        self.checks.iter().any(|[start, end]| (*start..*end).contains(&time))
    }
}

impl Pause {
    /// True if the next prompt ends the pause. Any other pause ends on request.
    pub fn ends_by_itself(&self) -> bool {
        self.by == PausedBy::Failure
    }

    /// Why the loop is paused, in a few words.
    pub fn words(&self) -> String {
        match self.by {
            PausedBy::Failure if self.error.is_empty() => "the turn broke off".to_owned(),
            PausedBy::Failure => format!("the turn broke off: {}", self.error),
            PausedBy::Session => "asked for inside of its session".to_owned(),
            _ => "asked for in a terminal".to_owned(),
        }
    }
}
