//! The loops of a project: `<project>/.claude/ralph/`, one folder a session, one claim a feature.
//!
//! A *record* is a session's loop with its ledger; a *claim* says which session drives a feature.
//! A closed claim is a tombstone: no late stop brings its loop back, only arming does.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::journal::{self, Entry};
use super::lock::Lock;
use super::read::{self, Content, Problem, below};
use super::write::{Flush, LEFT_ALONE, make_private_folder, remove_all_leftovers, write_private};
use crate::engine::{
    CheckResult, Contract, Fingerprint, Ledger, PromiseMatch, TerminalReason, Tokens, UNSEEN,
};
use crate::world;

/// Where the journal of loops stands that no session has taken yet.
pub const TERMINAL: &str = "terminal";
/// The kind of a loop that drives a feature.
pub const SPECKIT: &str = "speckit";
/// The kind of a loop that drives one task in one session (spec 002).
pub const RALPH: &str = "ralph";
/// A pause that a person asked for in a terminal.
pub const BY_TERMINAL: &str = "terminal";
/// A pause that was asked for inside of the loop's session, by the person or by the agent.
pub const BY_SESSION: &str = "session";
/// A pause because an error of the service ended the turn.
pub const BY_FAILURE: &str = "failure";
/// The version that these files carry.
pub const VERSION: u32 = 1;
/// Where the loops of a project are, relative to its root.
const FOLDER: &str = ".claude/ralph";
/// The name of the file with a session's record.
const RECORD: &str = "loop.json";
/// The name of the file with the sessions that were let go.
const LET_GO: &str = "let-go.json";
/// How many of them are kept.
const MOST_LET_GO: usize = 8;
/// The most that is read of a record or a claim, in bytes.
const MOST: u64 = 1 << 20;
/// The most that is read of the open tasks of a list, in bytes: more than the longest list takes.
const MOST_NOTED: u64 = 64 << 20;
/// How long a live loop may be silent, in milliseconds, before it is taken for left behind: an hour.
pub const SILENT: u64 = 60 * 60 * 1000;
/// How often something is tried again that was taken away in the same moment.
const TRIES: usize = 50;
/// How long to wait for another process that writes the same file.
pub const PATIENCE: Duration = Duration::from_millis(700);

/// A session's loop: what it is about, where its reading stands, and its ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// Version of this file's form.
    pub version: u32,
    /// What kind of loop: [`SPECKIT`] or [`RALPH`].
    pub kind: String,
    /// The session it is bound to.
    pub session: String,
    /// The feature it drives, such as `001-user-login`, or the first words of the task.
    pub about: String,
    /// The feature's folder, relative to the project; empty for a task.
    pub folder: String,
    /// When it was armed, in milliseconds since the Unix epoch.
    pub armed_at: u64,
    /// How it was armed: `command`, `terminal`, `session`, `unkept`, or `claim` for a state file that nobody
    /// armed.
    pub armed_by: String,
    /// When it was last judged, in milliseconds since the Unix epoch, 0 for never.
    pub seen_at: u64,
    /// Where the transcript stood when the loop was armed, in bytes: what stands before is not its own.
    pub transcript_from: u64,
    /// Up to where the transcript was read, in bytes.
    pub transcript_read: u64,
    /// The message whose tokens were counted last: more lines of it may follow.
    pub last_message: LastMessage,
    /// Up to where the repository's log of its head was read, in bytes.
    pub commits_read: u64,
    /// When the last iterations ended, to find out which of them changed a file.
    pub marks: Marks,
    /// The transcript's path: that it grows is a sign of life of the session.
    pub transcript: String,
    /// Whether the feature ever had a task list under this loop; one that goes away is not done.
    pub had_list: bool,
    /// The loop's memory.
    pub ledger: Ledger,
    /// What the last verdict said, in plain words.
    pub words: String,
    /// Whether the loop ended outside of a stop and the person has not been told yet.
    pub untold: bool,
    /// Hash of the task list when its open tasks were last noted, 0 for never.
    pub tasks_hash: u64,
    /// Tasks that were open under this loop and are gone from the list, by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone_tasks: Vec<String>,
    /// Why the loop is paused, `None` while it is not.
    pub paused: Option<Pause>,
    /// What a ralph loop was asked for, `None` for a feature's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignment: Option<Box<Assignment>>,
    /// From whom this session took the loop over, `None` when it was armed here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopted: Option<Adopted>,
    /// The session that took the loop over, empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub moved_to: String,
    /// What the person has been told once.
    #[serde(skip_serializing_if = "Told::is_nothing")]
    pub told: Told,
    /// Failed attempts of each open task, as `spool task fail` counted them; the state file cannot make
    /// them fewer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attempts: BTreeMap<String, u32>,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// When iterations ended, by the clock that the files have; nanoseconds since the Unix epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Marks {
    /// When the loop was armed, 0 where nobody knows.
    pub start: u64,
    /// The ends of the last iterations, oldest first.
    pub ends: Vec<u64>,
    /// Whether the record was written last by a stop that does not count.
    pub waited: bool,
    /// When the checks of the last stop began, 0 where none ran.
    pub checking: u64,
    /// From when to when checks ran: what changed meanwhile is not the agent's work.
    pub checks: Vec<[u64; 2]>,
    /// Folders in which something was removed or renamed: a hash of the path, and one of the names in it.
    pub folders: Vec<[u64; 2]>,
}

/// What the person has been told once of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    /// That no person armed it, or that nobody knows.
    pub unarmed: bool,
    /// That its state file asks for a person's approval.
    pub approval: bool,
    /// Hash of the other phase in its state file that was told of last, 0 for none.
    pub phase: u64,
    /// That the settings switch it off.
    pub switched_off: bool,
    /// Hash of the changed settings that were told of last, 0 for none.
    pub settings: u64,
}

impl Told {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A message of the agent whose tokens were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastMessage {
    /// Hash of its id, 0 for none.
    pub id: u64,
    /// What was counted for it.
    pub tokens: Tokens,
}

/// A loop's way from one session to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Adopted {
    /// The session that had it before.
    pub from: String,
    /// When it was taken over, in milliseconds since the Unix epoch.
    pub at: u64,
    /// Whether the record was written before the loop had left the other session: it counts only
    /// where the loop really left.
    pub arriving: bool,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A pause: the agent may stop, nothing is counted, the loop stays armed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pause {
    /// Since when, in milliseconds since the Unix epoch.
    pub at: u64,
    /// Where it comes from: [`BY_TERMINAL`], [`BY_SESSION`] or [`BY_FAILURE`].
    pub by: String,
    /// The error that ended the turn, such as `rate_limit`; empty for a pause that was asked for.
    pub error: String,
    /// Whether the person has been told of it in the session.
    pub told: bool,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What a person asked a ralph loop for, and what it knows besides its ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Assignment {
    /// The task, letter for letter; of a long one the beginning.
    pub task: String,
    /// The name of the file in the session's folder that holds a long task whole, empty for a short one.
    pub task_file: String,
    /// When it is done, and what ends it otherwise.
    pub contract: Contract,
    /// Where the promise has to stand.
    pub promise_match: PromiseMatch,
    /// Whether every text for the agent begins with the ultrawork instruction.
    pub ultrawork: bool,
    /// What the files and commits looked like when it was armed.
    pub start: Fingerprint,
    /// The last run of the checks.
    pub checked: Option<Checked>,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A run of the checks, with the work as it left it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checked {
    /// What the work looked like afterwards.
    pub fingerprint: Fingerprint,
    /// When that stop ended, by the clock of the files, in nanoseconds; 0 until the next one knows.
    pub since: u64,
    /// The results, in the order of the contract.
    pub results: Vec<CheckResult>,
}

/// The open tasks of a list, by id, with a hash of their text.
pub type OpenTasks = BTreeMap<String, u64>;

/// The Verify commands of a list when its loop was armed, by the id of their task.
pub type VerifyCommands = BTreeMap<String, String>;

/// `open-tasks.json`, as it stands on the disk.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct NotedTasks {
    version: u32,
    tasks: OpenTasks,
}

/// Which session drives a feature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Claim {
    /// Version of this file's form.
    pub version: u32,
    /// The session, or `None` when it was armed from a terminal: the first one that stops takes it.
    pub session: Option<String>,
    /// The feature.
    pub about: String,
    /// Its folder, relative to the project.
    pub folder: String,
    /// When it was armed, in milliseconds since the Unix epoch.
    pub armed_at: u64,
    /// How long the repository's log of its head was then, in bytes; `None` where nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits_from: Option<u64>,
    /// The name of the terminal reason, or `None` while the loop lives.
    pub closed: Option<String>,
    /// Why it is over, in plain words.
    pub words: String,
    /// The terminal reason of an end outside of a stop: where it did not reach the session's record, the next
    /// stop writes it there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<TerminalReason>,
    /// Whether a person armed it where nothing can be kept outside of the project.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unkept: bool,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A session that stopped and was let go, for the loop of the feature is another session's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LetGo {
    /// The session that stopped.
    pub session: String,
    /// The feature.
    pub about: String,
    /// The session that drives it.
    pub owner: String,
    /// When it was let go for the first time, in milliseconds since the Unix epoch.
    pub at: u64,
}

/// `let-go.json`, as it stands on the disk, the latest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct NotedLetGo {
    version: u32,
    sessions: Vec<LetGo>,
}

/// The record that was read last, with its bytes: the same bytes are not taken apart twice at one stop, which
/// reads its record without the lock and under it.
type LastRead = Arc<Mutex<Option<(Vec<u8>, Record)>>>;

/// The folder that holds a project's loops; it need not exist yet.
#[derive(Clone, Debug)]
pub struct Loops {
    folder: PathBuf,
    last: LastRead,
}

/// The folder of one session, locked against other hooks of the same session.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    last: LastRead,
    _lock: Lock,
}

/// Returns whether a session id may name a folder: letters, digits, `.`, `_`, `-`, at most 128.
pub fn is_session_id(id: &str) -> bool {
    let first = id.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphanumeric())
        && id.len() <= 128
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        && !matches!(id, "claims" | "lock" | TERMINAL)
}

impl Record {
    /// Returns what a ralph loop was asked for, `None` when this is no ralph loop.
    pub fn ralph(&self) -> Option<&Assignment> {
        self.assignment.as_deref().filter(|_| self.kind == RALPH)
    }

    /// Returns the pause of a loop that lives, `None` when it is over or not paused.
    pub fn pause(&self) -> Option<&Pause> {
        self.paused.as_ref().filter(|_| self.ledger.is_live())
    }

    /// Returns whether this is a ralph loop that has not ended.
    pub fn is_live_ralph(&self) -> bool {
        self.kind == RALPH && self.ledger.is_live()
    }

    /// Goes back to where another state of this record stood in transcript and commits: what was
    /// read since is read again.
    pub fn read_as_far_as(&mut self, before: &Self) {
        self.transcript_read = before.transcript_read;
        self.last_message = before.last_message;
        self.commits_read = before.commits_read;
    }

    /// Returns when its session last gave a sign of life, in milliseconds since the Unix epoch: a
    /// stop, the arming, or a line in its transcript.
    pub fn last_sign(&self) -> u64 {
        let written = fs::metadata(&self.transcript).and_then(|meta| meta.modified());
        let written = written.map(world::millis).unwrap_or_default();
        let adopted = self.adopted.as_ref().map_or(0, |adopted| adopted.at);
        self.seen_at.max(self.armed_at).max(adopted).max(written)
    }

    /// Returns for how long its session has been silent, in milliseconds.
    pub fn silent_for(&self) -> u64 {
        world::now().saturating_sub(self.last_sign())
    }

    /// Returns whether the loop lives, no person has paused it, and its session has been silent for
    /// more than an hour.
    pub fn is_orphaned(&self) -> bool {
        let is_kept = self.pause().is_some_and(|pause| !pause.ends_by_itself());
        self.ledger.is_live() && !is_kept && self.silent_for() > SILENT
    }
}

impl Marks {
    /// Takes in when the record was written last, in nanoseconds: the end of the iteration before.
    ///
    /// The arming is such an end only for a loop that is `settled` by then: that knew its commits.
    pub fn begin(&mut self, written: Option<u64>, settled: bool) {
        let Some(written) = written else {
            return;
        };
        let checking = std::mem::take(&mut self.checking);
        if checking > 0 {
            self.checks.push([checking, written]);
        }
        let is_first = self.start == 0;
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

    /// Returns whether checks ran at a time, in nanoseconds.
    pub fn is_in_checks(&self, time: u64) -> bool {
        self.checks.iter().any(|[start, end]| (*start..=*end).contains(&time))
    }
}

impl Pause {
    /// Returns whether it ends with the next prompt; any other one ends when somebody says so.
    pub fn ends_by_itself(&self) -> bool {
        self.by == BY_FAILURE
    }

    /// Returns why the loop is paused, in a few words.
    pub fn words(&self) -> String {
        match self.by.as_str() {
            BY_FAILURE if self.error.is_empty() => "the turn broke off".to_owned(),
            BY_FAILURE => format!("the turn broke off: {}", self.error),
            BY_SESSION => "asked for inside of its session".to_owned(),
            _ => "asked for in a terminal".to_owned(),
        }
    }
}

impl Loops {
    /// Returns the loops of the project with this real root.
    pub fn of(root: &Path) -> Self {
        Self { folder: below(root, &[FOLDER]), last: LastRead::default() }
    }

    /// Returns whether the project at `root` ever had a loop; opens no file.
    pub fn are_in(root: &Path) -> bool {
        may_be_there(&below(root, &[FOLDER]))
    }

    /// Returns whether this session ever had a loop in the project at `root`; opens no file.
    pub fn has_known(root: &Path, session: &str) -> bool {
        may_be_there(&below(root, &[FOLDER, session, RECORD]))
    }

    /// Returns the folder that holds them.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns whether this session ever had a loop here; opens no file.
    pub fn knows(&self, session: &str) -> bool {
        may_be_there(&self.record_path(session))
    }

    /// Returns the ids of all sessions that had a loop here.
    pub fn sessions(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let has_journal =
            |name: &String| self.folder.join(name).join("journal.jsonl").symlink_metadata().is_ok();
        let mut ids: Vec<_> = names.filter(|name| self.knows(name) || has_journal(name)).collect();
        ids.sort();
        ids
    }

    /// Returns the record of a session without locking it, `None` when there is none that can be read.
    pub fn peek(&self, session: &str) -> Option<Record> {
        if !is_session_id(session) {
            return None;
        }
        let found = load_record(&self.record_path(session), &self.last).ok().flatten();
        self.arrived(found?).ok().flatten()
    }

    /// The same record, unless it was written for a loop that has not left its session after all:
    /// whoever took it over died on the way, and the loop is still where it was.
    ///
    /// A task's loop has left when the other record says so, a feature's when its claim does.
    fn arrived(&self, mut record: Record) -> io::Result<Option<Record>> {
        let Some(adopted) = record.adopted.as_mut().filter(|adopted| adopted.arriving) else {
            return Ok(Some(record));
        };
        adopted.arriving = false;
        let has_left = if record.kind == RALPH {
            let from = Some(adopted.from.as_str()).filter(|from| is_session_id(from));
            let left =
                from.map(|from| load_whole::<Record>(&self.record_path(from))).transpose()?;
            left.flatten().is_some_and(|left| {
                left.moved_to == record.session && left.armed_at == record.armed_at
            })
        } else {
            self.read_claim(&record.about)?.is_some_and(|claim| {
                claim.session.as_ref() == Some(&record.session) && claim.armed_at == record.armed_at
            })
        };
        Ok(has_left.then_some(record))
    }

    /// Completes the record of the session that took this loop over, before the record that proves
    /// it is overwritten; for whoever holds the lock of the project.
    pub fn settle(&self, left: &Record) -> io::Result<()> {
        let to = left.moved_to.as_str();
        if !is_session_id(to) || to == left.session {
            return Ok(());
        }
        let arriving = |record: &Record| record.adopted.as_ref().is_some_and(|it| it.arriving);
        let found: Option<Record> = load_whole(&self.record_path(to))?;
        if !found.as_ref().is_some_and(arriving) {
            return Ok(());
        }
        let folder = self.session(to)?;
        folder.record()?.map_or(Ok(()), |record| folder.save(&record))
    }

    fn record_path(&self, session: &str) -> PathBuf {
        below(&self.folder, &[session, RECORD])
    }

    /// Returns the journal of a session as it stands, empty when there is none.
    pub fn journal(&self, session: &str) -> Vec<u8> {
        let path = self.folder.join(session).join("journal.jsonl");
        read::read(&path, 256 << 20).map(|content| content.bytes).unwrap_or_default()
    }

    /// Returns the claim on a feature, `None` when nobody has one that can be read.
    pub fn claim(&self, feature: &str) -> Option<Claim> {
        load(&self.claim_path(feature).ok()?).ok().flatten()
    }

    /// Returns the claim on a feature for somebody who acts on it: one that cannot be opened is an error,
    /// and not none.
    pub fn read_claim(&self, feature: &str) -> io::Result<Option<Claim>> {
        // A name that cannot name a file has no claim.
        self.claim_path(feature).map_or(Ok(None), |path| load_whole(&path))
    }

    /// Writes the claim on a feature whole; one that is broken is put aside first.
    pub fn write_claim(&self, claim: &Claim) -> io::Result<()> {
        let path = self.claim_path(&claim.about)?;
        match load::<Claim>(&path) {
            Ok(_) => {}
            Err(NotLoaded::Broken) => drop(put_aside(&path)?),
            Err(NotLoaded::Unopened(error)) => return Err(error),
        }
        save(&path, &Claim { version: VERSION, ..claim.clone() })
    }

    /// Returns the sessions that were let go because a loop is another's, the latest first.
    pub fn let_go(&self) -> Vec<LetGo> {
        let noted: Option<NotedLetGo> = load(&self.folder.join(LET_GO)).ok().flatten();
        noted.unwrap_or_default().sessions
    }

    /// Notes a session that is let go; one that is noted already keeps its time and costs no write.
    pub fn note_let_go(&self, session: &str, about: &str, owner: &str) -> io::Result<()> {
        let mut sessions = self.let_go();
        let is_it = |it: &LetGo| it.session == session && it.about == about;
        if sessions.iter().any(|it| is_it(it) && it.owner == owner) {
            return Ok(());
        }
        sessions.retain(|it| !is_it(it));
        sessions.insert(
            0,
            LetGo {
                session: session.to_owned(),
                about: about.to_owned(),
                owner: owner.to_owned(),
                at: world::now(),
            },
        );
        sessions.truncate(MOST_LET_GO);
        // A link in the folder's place is not followed out of the project.
        self.create()?;
        save(&self.folder.join(LET_GO), &NotedLetGo { version: VERSION, sessions })
    }

    /// Returns the lock under which claims are taken and given up.
    ///
    /// What programs that were killed have left is removed at the same time: no stop pays for that.
    pub fn lock(&self) -> io::Result<Lock> {
        self.create()?;
        let lock = take_lock(&self.folder, PATIENCE)?;
        self.remove_leftovers();
        Ok(lock)
    }

    fn remove_leftovers(&self) {
        remove_all_leftovers(&self.folder, LEFT_ALONE);
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            // A link in a folder's place is not followed.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                remove_all_leftovers(&entry.path(), LEFT_ALONE);
            }
        }
    }

    /// Returns the lock under which a feature's task list and state file are changed: the one on the
    /// feature's folder, which stands as long as there is a list in it.
    pub fn feature_lock(
        &self,
        feature: &str,
        folder: &Path,
        patience: Duration,
    ) -> io::Result<Lock> {
        again_where_removed(|| self.create())?;
        let instead = self.claim_path(feature)?.with_extension("lock");
        Lock::take_folder(folder, &instead, patience).map_err(|error| in_file(folder, &error))
    }

    /// Appends to a session's journal without locking it: one line is one write.
    pub fn note(&self, session: &str, entry: &Entry) -> io::Result<()> {
        self.note_all(session, std::slice::from_ref(entry))
    }

    /// Appends several entries in one write: all of them are there, or the error says that they are not.
    pub fn note_all(&self, session: &str, entries: &[Entry]) -> io::Result<()> {
        let folder = self.folder.join(session);
        let path = folder.join("journal.jsonl");
        let append = || {
            self.create()?;
            make_inside(&self.root()?, &folder)?;
            journal::append(&path, entries).map_err(|error| in_file(&path, &error))
        };
        again_where_removed(append)
    }

    /// Returns the session's folder, made where it is missing, and locked.
    pub fn session(&self, session: &str) -> io::Result<Session> {
        self.session_within(session, PATIENCE)
    }

    /// Returns the same; waits this long for whoever has it locked.
    pub fn session_within(&self, session: &str, patience: Duration) -> io::Result<Session> {
        if !is_session_id(session) {
            return Err(io::Error::other("the session id has characters that no folder may have"));
        }
        let folder = self.folder.join(session);
        if !folder.exists() {
            self.create()?;
        }
        make_inside(&self.root()?, &folder)?;
        let lock = take_lock(&folder, patience)?;
        Ok(Session { folder, last: Arc::clone(&self.last), _lock: lock })
    }

    /// Returns the lock that is held while the checks of a session's loop run, `None` when it
    /// cannot be had: it only tells that they run.
    pub fn checking(&self, session: &str) -> Option<Lock> {
        Lock::take(&self.checks_path(session), Duration::from_millis(50)).ok()
    }

    /// Returns when a session's journal was last written, by the clock of the files, in nanoseconds since
    /// the Unix epoch; 0 where that cannot be told.
    pub fn noted_at(&self, session: &str) -> u64 {
        changed_at(&self.folder.join(session).join("journal.jsonl")).unwrap_or_default()
    }

    /// Returns the check that runs for a session just now, such as `` `cargo test` (3 of 5) ``.
    pub fn running_check(&self, session: &str) -> Option<String> {
        if !is_session_id(session) || !Lock::is_held(&self.checks_path(session)) {
            return None;
        }
        let (entries, _) = journal::entries(&self.journal(session));
        let last = entries.into_iter().rfind(|entry| entry.event == "checks")?;
        Some(last.words.trim_start_matches("running ").to_owned())
    }

    fn checks_path(&self, session: &str) -> PathBuf {
        self.folder.join(session).join("checks.lock")
    }

    /// Makes the folder with a `.gitignore` for all of it; refuses one that a link leads out of the project.
    fn create(&self) -> io::Result<()> {
        let root = self.root()?;
        for folder in [&root.join(".claude"), &self.folder, &self.folder.join("claims")] {
            make_inside(&root, folder)?;
        }
        let ignored = self.folder.join(".gitignore");
        if ignored.is_file() {
            return Ok(());
        }
        write_private(&ignored, b"*\n", Flush::ToSystem).map_err(|it| in_file(&ignored, &it))
    }

    /// Returns the real root of the project; an error where it is gone.
    pub fn root(&self) -> io::Result<PathBuf> {
        self.folder.ancestors().nth(2).unwrap_or(&self.folder).canonicalize()
    }

    /// Returns the path of the claim on a feature; an error when the name cannot name a file.
    pub fn claim_path(&self, feature: &str) -> io::Result<PathBuf> {
        // Names come out of files, too: only one that names nothing but a file is taken.
        if Path::new(feature).file_name() != Some(feature.as_ref()) {
            return Err(io::Error::other("the feature's name cannot name a file"));
        }
        Ok(self.folder.join("claims").join(format!("{feature}.json")))
    }
}

impl Session {
    /// Returns the session's record; a broken one is put aside and counts as none. One that cannot be
    /// opened is an error: it may be as good as ever.
    pub fn record(&self) -> io::Result<Option<Record>> {
        let path = below(&self.folder, &[RECORD]);
        let folder = self.folder.parent().unwrap_or(&self.folder).to_owned();
        let loops = Loops { folder, last: Arc::clone(&self.last) };
        match load_record(&path, &self.last) {
            Ok(record) => record.map_or(Ok(None), |record| loops.arrived(record)),
            Err(NotLoaded::Broken) => put_aside(&path).map(|_| None),
            Err(NotLoaded::Unopened(error)) => Err(error),
        }
    }

    /// Returns the session's record for somebody who knows from elsewhere that the loop is here: also one that
    /// was written for a loop that had not left its session yet.
    pub fn record_as_it_is(&self) -> Option<Record> {
        let mut record: Record = load(&self.folder.join("loop.json")).ok().flatten()?;
        if let Some(adopted) = record.adopted.as_mut() {
            adopted.arriving = false;
        }
        Some(record)
    }

    /// Writes the record whole.
    pub fn save(&self, record: &Record) -> io::Result<()> {
        save(&below(&self.folder, &[RECORD]), &Record { version: VERSION, ..record.clone() })
    }

    /// Returns the open tasks as they were last noted, none when what is there is broken; an error when it
    /// cannot be opened.
    pub fn open_tasks(&self) -> io::Result<OpenTasks> {
        Ok(self.noted()?.tasks)
    }

    /// Notes the open tasks, so that one that is taken out of the list is noticed.
    pub fn save_open_tasks(&self, tasks: &OpenTasks) -> io::Result<()> {
        save(&self.noted_path(), &NotedTasks { version: VERSION, tasks: tasks.clone() })
    }

    fn noted(&self) -> io::Result<NotedTasks> {
        let noted = load_up_to(&self.noted_path(), MOST_NOTED).or_else(NotLoaded::or_none)?;
        Ok(noted.unwrap_or_default())
    }

    fn noted_path(&self) -> PathBuf {
        self.folder.join("open-tasks.json")
    }

    /// Returns the path of a file of the session's own.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns when the record was written last, by the clock of the files, in nanoseconds since the
    /// Unix epoch; `None` where that cannot be told.
    pub fn written_at(&self) -> Option<u64> {
        changed_at(&below(&self.folder, &[RECORD]))
    }

    /// Appends to the session's journal.
    pub fn note(&self, entry: &Entry) -> io::Result<()> {
        let path = self.folder.join("journal.jsonl");
        journal::append(&path, std::slice::from_ref(entry)).map_err(|error| in_file(&path, &error))
    }
}

/// Whether there is something of this name, or something that cannot be looked at.
fn may_be_there(path: &Path) -> bool {
    let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    path.symlink_metadata().map_or_else(|error| !missing.contains(&error.kind()), |_| true)
}

/// When a file last changed, in nanoseconds since the Unix epoch.
fn changed_at(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(path).ok()?;
    let nanoseconds = |seconds: i64, rest: i64| {
        let seconds = u64::try_from(seconds).unwrap_or_default();
        seconds.saturating_mul(1_000_000_000) + u64::try_from(rest).unwrap_or_default()
    };
    let content = nanoseconds(meta.mtime(), meta.mtime_nsec());
    Some(content.max(nanoseconds(meta.ctime(), meta.ctime_nsec())))
}

/// Renames a file that cannot be read to `<name>.corrupt-<time>` and returns the new path.
pub fn put_aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = path.with_file_name(format!("{name}.corrupt-{}", world::now()));
    fs::rename(path, &aside).map_err(|error| in_file(path, &error))?;
    Ok(aside)
}

/// Does something again when what it has made was taken away in the same moment, by `git clean` say.
fn again_where_removed<T>(act: impl Fn() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..TRIES {
        match act() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
    }
    act()
}

fn take_lock(folder: &Path, patience: Duration) -> io::Result<Lock> {
    let path = folder.join("lock");
    Lock::take(&path, patience).map_err(|error| in_file(&path, &error))
}

/// Makes a folder where it is missing, and looks where it is before anything is made in it.
fn make_inside(root: &Path, folder: &Path) -> io::Result<()> {
    // Claude Code's own folder is not ours to close.
    let made = if folder == root.join(".claude") {
        fs::create_dir(folder)
    } else {
        make_private_folder(folder)
    };
    match made {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(in_file(folder, &error));
        }
        _ => {}
    }
    let inside = read::folder_inside(root, folder);
    inside.map(drop).map_err(|it| io::Error::other(format!("`{}`: {it}", folder.display())))
}

/// The same error with the name of the file it is about.
fn in_file(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

/// Why a file of ours gives nothing.
enum NotLoaded {
    /// What stands there is not ours: it may be renamed, so that a new one can take its place.
    Broken,
    /// It cannot be opened or read at the moment, and may be as good as ever: it stays where it is.
    Unopened(io::Error),
}

impl NotLoaded {
    /// Nothing where the file is broken, an error where it cannot be opened.
    fn or_none<T>(self) -> io::Result<Option<T>> {
        match self {
            Self::Broken => Ok(None),
            Self::Unopened(error) => Err(error),
        }
    }
}

fn load<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, NotLoaded> {
    load_up_to(path, MOST)
}

fn load_up_to<T: DeserializeOwned>(path: &Path, most: u64) -> Result<Option<T>, NotLoaded> {
    read_ours(path, most)?.map(|bytes| taken_apart(&bytes)).transpose()
}

/// The same for a record; one with the bytes of the last one is not taken apart again.
fn load_record(path: &Path, last: &LastRead) -> Result<Option<Record>, NotLoaded> {
    let Some(bytes) = read_ours(path, MOST)? else {
        return Ok(None);
    };
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, record)) = last.as_ref().filter(|(known, _)| *known == bytes) {
        return Ok(Some(record.clone()));
    }
    let record: Record = taken_apart(&bytes)?;
    *last = Some((bytes, record.clone()));
    Ok(Some(record))
}

fn taken_apart<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, NotLoaded> {
    serde_json::from_slice(bytes).map_err(|_| NotLoaded::Broken)
}

/// The bytes of a file of ours, nothing where it is missing.
fn read_ours(path: &Path, most: u64) -> Result<Option<Vec<u8>>, NotLoaded> {
    match read::read(path, most) {
        // A link to nothing is in the way of what is to be written there.
        Err(Problem::Missing) if path.is_symlink() => Err(NotLoaded::Broken),
        Err(Problem::Missing) => Ok(None),
        Err(Problem::Refused(why)) if !path.is_symlink() => {
            let words = format!("`{}` cannot be read: {why}", path.display());
            Err(NotLoaded::Unopened(io::Error::other(words)))
        }
        Err(_) => Err(NotLoaded::Broken),
        Ok(Content { bytes, .. }) => Ok(Some(bytes)),
    }
}

/// What a file of ours holds, nothing where it is missing or broken.
fn load_whole<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    load(path).or_else(NotLoaded::or_none)
}

fn save<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    write_private(path, &bytes, Flush::ToSystem).map_err(|error| in_file(path, &error))
}
