//! What one iteration showed, as plain values.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fields::read_fields;
use super::fingerprint::Fingerprint;
use super::order::few;
use super::promise::Promise;
use super::unproved::UnprovedTask;

/// The most ids that one line names.
const NAMED: usize = 12;

/// All that a driver gathered about one iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each one is a fact")]
pub struct Observation {
    /// What the task list or its stand-in says of the work.
    pub work: Work,
    /// Whether the agent's own words claim completion.
    pub claimed: bool,
    /// What they say of the completion token.
    pub promise: Promise,
    /// Open tasks that are not in the list any more, and those that were reworded since it was last looked at.
    pub tampered: Tampered,
    /// Ticked tasks that nothing proves: they count as open.
    pub unproved: Vec<UnprovedTask>,
    /// Commands that have to be run around the work, are due now and have not run.
    pub hooks_due: Vec<String>,
    /// Whether the agent has run the contract's converge command since the last iteration.
    pub converge_ran: bool,
    /// Hash of the task list's bytes, 0 without one.
    pub list: u64,
    /// Tool calls since the last iteration, or `None` where nothing says so.
    pub tool_calls: Option<u64>,
    /// How many of them were denied or failed: they are no work.
    pub failed_calls: u64,
    /// Whether there may have been more of them in a part of the record that was too long to read.
    pub more_calls: bool,
    /// Commits made since the last iteration, or `None` where there is no repository.
    pub commits: Option<u64>,
    /// Tokens used since the last iteration, 0 where nothing says so.
    pub tokens: u64,
    /// What it cost, in millionths of a dollar, 0 where nobody knows.
    pub cost: u64,
    /// Those of them that the model wrote.
    pub written_tokens: u64,
    /// Why the agent program failed in this iteration, or `None` when it came to its own end.
    pub failed: Option<String>,
    /// What the agent tried in this iteration and was denied, as the agent program names it.
    pub denied: Vec<String>,
    /// Whether the service answered, if only that it is busy: the loop's settings can work.
    pub answered: bool,
    /// Whether files or commits differ from what they were when the loop was armed.
    pub since_arming: Difference,
    /// What speaks against the claim, in words: it is refused once. Empty for nothing.
    pub against: String,
    /// What the work looks like now.
    pub fingerprint: Fingerprint,
    /// For how many iterations the files have stayed unchanged.
    pub files: UnchangedFiles,
    /// What it looked like after the checks had run, which may write files; `None` when none ran. Only
    /// [`Pending`](super::Pending) sets it.
    pub after_checks: Option<Fingerprint>,
    /// The results of the contract's checks, or `None` when they were not run.
    pub checks: Option<Vec<CheckResult>>,
    /// What was finished while other tasks are open, and is to be reviewed before them; `None` for nothing.
    pub finished: Option<FinishedPart>,
    /// The agent's last words, short and on one line; empty where no review has to be answered with them.
    pub last_words: String,
    /// What is still running or still to be answered.
    pub waiting: Vec<Waiting>,
    /// How often the present task was tried.
    pub attempt: Option<Attempt>,
    /// The iteration count that somebody else keeps, 0 for none.
    pub reported_iteration: u32,
    /// Seconds since the loop was armed.
    pub elapsed_seconds: u64,
    /// Whether the host says that this turn continues only because a hook blocked it (`stop_hook_active`).
    pub reentered: bool,
    /// An end that a person, the agent or the driver asks for.
    pub demand: Option<Demand>,
}

/// Tasks that were finished together, to be reviewed before the next ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinishedPart {
    /// Their ids, in the order of the list.
    pub tasks: Vec<String>,
    /// What the ledger knows the phases or checks by once they are reviewed.
    pub marks: Vec<String>,
}

/// Tokens of an agent's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TokenTotals {
    /// All that went through the model: read again, read from its cache, put there, and written.
    pub all: u64,
    /// Those that it wrote.
    pub written: u64,
}

read_fields!(TokenTotals { all, written });

impl TokenTotals {
    /// Returns the sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let add = u64::saturating_add;
        Self { all: add(self.all, other.all), written: add(self.written, other.written) }
    }

    /// Returns what is left of these without the others, never less than nothing.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let take = u64::saturating_sub;
        Self { all: take(self.all, other.all), written: take(self.written, other.written) }
    }
}

/// What the task list, or what stands in for it, says of the work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// No list and no counter: words and checks decide.
    #[default]
    Untold,
    /// A task list was read; it outranks words and counters.
    List {
        /// How many tasks are ticked.
        done: usize,
        /// How many are open.
        open: usize,
    },
    /// There is no list; a state file counts.
    Counter {
        /// Tasks finished.
        index: u64,
        /// Tasks in all.
        total: u64,
    },
    /// The state cannot be read; the hash differs where the unreadable content does.
    Unreadable {
        /// Hash of what was found.
        hash: u64,
    },
}

/// For how many iterations in a row no file has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnchangedFiles {
    /// The fingerprints of this iteration and of the one before it show it.
    #[default]
    InFingerprint,
    /// Nobody looked: the loop would not end because of them (see [`evaluate`](super::evaluate())).
    NotLooked,
    /// There were too many of them for the time that there was.
    Unknown,
    /// In this many, this one included; 0 when this one changed a file.
    Still(u32),
}

/// Whether something differs from what it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Difference {
    /// Nobody looked, or nobody could.
    #[default]
    Unknown,
    /// It is the same.
    Same,
    /// It differs.
    Changed,
}

/// What happened to open tasks other than being done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tampered {
    /// Ids that were open and are no longer in the list; they count as open.
    pub removed: Vec<String>,
    /// Ids that were open and now stand for another text.
    pub reworded: Vec<String>,
}

impl Tampered {
    /// Returns whether nothing of the kind happened.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.reworded.is_empty()
    }
}

impl fmt::Display for Tampered {
    /// Writes which tasks it happened to, at most twelve of each kind, without a full stop.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [("taken out of the list", &self.removed), ("reworded", &self.reworded)];
        let mut gap = "open tasks were ";
        for (what, ids) in parts.into_iter().filter(|(_, ids)| !ids.is_empty()) {
            write!(out, "{gap}{what}: {}", few(&mut ids.iter().cloned(), NAMED))?;
            gap = "; ";
        }
        Ok(())
    }
}

/// What a loop waits for: it lets the agent stop, counts nothing and stays armed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// A person's approval.
    Approval,
    /// A person's answer to this question of the agent, which did nothing since it was sent back.
    Answer(String),
    /// Work that runs in the background, as its host describes it.
    Background(String),
    /// The end of a pause; why the loop is paused, in words.
    Paused(String),
    /// A command that ends the loop: a person typed it, and the host runs it when the turn ended. Empty where the host does
    /// not name what was typed.
    Typed(String),
    /// A usage limit that will be lifted, as the agent program reports it.
    UsageLimit(String),
    /// There is nothing to do: no list and a counter of zero tasks.
    NoTasks,
    /// A blocked turn that this loop's ledger knows nothing of.
    Unproven,
}

/// How often the present task was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The task's id or its place in the list.
    pub task: String,
    /// Attempts so far, the running one included.
    pub used: u32,
    /// Attempts allowed.
    pub limit: u32,
}

/// The outcome of one check command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The command as configured.
    pub run: String,
    /// Whether it ended with code 0 within its limit.
    pub passed: bool,
    /// How it ended, in words (`exit code 1`, `no such program`, `over its limit of 60 s`).
    pub outcome: String,
    /// The end of what it printed; of a review, what is missing.
    pub tail: String,
    /// What came of a review, `None` for a command; not kept, for it is counted when it is made.
    #[serde(skip)]
    pub review: Option<ReviewResult>,
}

impl CheckResult {
    /// Returns whether it is a review that passed and found something met: one that left all for later shows nothing.
    pub fn is_proof_by_review(&self) -> bool {
        self.passed && self.review.is_some_and(|review| review.met > 0)
    }
}

/// What came of a review, as `spool review` reports it; nothing that its reader wrote is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReviewResult {
    /// Whether there is a verdict on the work; otherwise the reader failed, or its answer cannot be used.
    pub judged: bool,
    /// How many requirements it found met.
    pub met: u64,
    /// Hash of the verdicts, each with the id of its requirement. Without a verdict, when a usage limit of its reader is lifted, in
    /// seconds since the Unix epoch: 1 where nothing tells, 0 for no limit.
    pub verdicts: u64,
    /// Tokens that it used, 0 where nothing says so; counted only once.
    pub tokens: u64,
    /// What it cost, in millionths of a dollar, 0 where nothing says so; counted only once.
    pub cost: u64,
    /// Whether that is an estimate, by the prices that a person gave.
    pub estimated: bool,
}

impl ReviewResult {
    /// Whether its reader met a usage limit.
    pub fn is_limited(&self) -> bool {
        !self.judged && self.verdicts > 0
    }
}

/// An end that does not follow from the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand {
    /// The agent says what it needs from a person.
    Blocked(String),
    /// A person canceled.
    Cancelled,
    /// A signal or a person stopped the driver.
    Stopped,
    /// The agent program could not be run.
    HarnessFailed(String),
}
