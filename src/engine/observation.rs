//! One iteration as plain values.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fields::read_fields;
use super::fingerprint::Fingerprint;
use super::order::few;
use super::promise::Promise;
use super::unproved::UnprovedTask;

/// The only doubt about a claim with work behind it that no check confirms.
pub const NO_CHECK: &str = "no check";
/// Ids in one line.
const NAMED: usize = 12;

/// All that a driver gathered about one iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    pub work: Work,
    /// The agent's own words claim completion.
    pub claimed: bool,
    /// The completion token in the agent's words.
    pub promise: Promise,
    /// Open tasks that have left the list, and tasks reworded since the last look.
    pub tampered: Tampered,
    /// Ticked tasks without proof: they count as open.
    pub unproved: Vec<UnprovedTask>,
    /// Commands around the work that are due and have not run.
    pub hooks_due: Vec<String>,
    /// The agent ran the converge command since the last iteration.
    pub converge_ran: bool,
    /// Hash of the task list's bytes; 0 without a list.
    pub list: u64,
    /// Tool calls since the last iteration; `None` if unknown.
    pub tool_calls: Option<u64>,
    /// The part of `tool_calls` that was denied or failed: no work.
    pub failed_calls: u64,
    /// A part of the record was too long to read and may hold more tool calls.
    pub more_calls: bool,
    /// Commits since the last iteration; `None` without a repository.
    pub commits: Option<u64>,
    /// Tokens since the last iteration; 0 if unknown.
    pub tokens: u64,
    /// Millionths of a dollar since the last iteration; 0 if unknown.
    pub cost: u64,
    /// The part of `tokens` that the model wrote.
    pub written_tokens: u64,
    /// Why the agent program failed; `None` when the program ended by itself.
    pub failed: Option<String>,
    /// Denied attempts of this iteration, in the agent program's words.
    pub denied: Vec<String>,
    /// The service answered, if only that it is busy: the loop's settings can work.
    pub answered: bool,
    /// A difference of files or commits since the loop was armed.
    pub since_arming: Difference,
    /// Doubts about the claim; empty for none. Any doubt but [`NO_CHECK`] refuses the claim once.
    pub against: String,
    pub fingerprint: Fingerprint,
    pub files: UnchangedFiles,
    /// The work after the checks, which may write files; `None` without a run of checks. Only
    /// [`Pending`](super::Pending) sets this field.
    pub after_checks: Option<Fingerprint>,
    /// `None` when the checks did not run.
    pub checks: Option<Vec<CheckResult>>,
    /// A part that was finished while other tasks are open, and is to be reviewed before them.
    pub finished: Option<FinishedPart>,
    /// The agent's last words on one line; empty unless a review may have to be answered.
    pub last_words: String,
    /// Running work and unanswered questions.
    pub waiting: Vec<Waiting>,
    pub attempt: Option<Attempt>,
    /// The iteration count that another program keeps; 0 for none.
    pub reported_iteration: u32,
    /// Since the loop was armed.
    pub elapsed_seconds: u64,
    /// The host says that this turn continues only because a hook blocked it (`stop_hook_active`).
    pub reentered: bool,
    /// An end that a person, the agent or the driver asks for.
    pub demand: Option<Demand>,
}

/// Tasks to be reviewed together before the next ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinishedPart {
    /// Ids in the order of the list.
    pub tasks: Vec<String>,
    /// The ledger's names for the reviewed phases or checks.
    pub marks: Vec<String>,
}

/// Tokens of an agent's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TokenTotals {
    /// All tokens through the model: read, read from its cache, put there, and written.
    pub all: u64,
    /// The part that the model wrote.
    pub written: u64,
}

read_fields!(TokenTotals { all, written });

impl TokenTotals {
    pub fn plus(self, other: Self) -> Self {
        let add = u64::saturating_add;
        Self { all: add(self.all, other.all), written: add(self.written, other.written) }
    }

    /// The difference, at least 0.
    pub fn minus(self, other: Self) -> Self {
        let take = u64::saturating_sub;
        Self { all: take(self.all, other.all), written: take(self.written, other.written) }
    }
}

/// The state of the work by the task list or its stand-in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// No list and no counter: words and checks decide.
    #[default]
    Untold,
    /// A task list outranks words and counters.
    List {
        /// Ticked tasks.
        done: usize,
        /// Open tasks.
        open: usize,
    },
    /// There is no list; a state file counts.
    Counter {
        /// Finished tasks.
        index: u64,
        /// All tasks.
        total: u64,
    },
    /// The state cannot be read.
    Unreadable {
        /// Differs with the unreadable content.
        hash: u64,
    },
}

/// Iterations in a row without a changed file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnchangedFiles {
    /// The fingerprints of this iteration and of the one before tell.
    #[default]
    InFingerprint,
    /// No look was made: the files would not decide (see [`evaluate`](super::evaluate())).
    NotLooked,
    /// Too many files for the available time.
    Unknown,
    /// The number, this iteration included; 0 when this one changed a file.
    Still(u32),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Difference {
    /// No look was made, or none was possible.
    #[default]
    Unknown,
    Same,
    Changed,
}

/// Open tasks that were removed or reworded instead of done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tampered {
    /// Open ids that have left the list; they count as open.
    pub removed: Vec<String>,
    /// Open tasks whose text was rewritten under the same id.
    pub reworded: Vec<String>,
}

impl Tampered {
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.reworded.is_empty()
    }
}

impl fmt::Display for Tampered {
    /// Writes at most twelve tasks of each kind, without a full stop.
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

/// While a loop waits, the agent may stop, nothing is counted and the loop stays armed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// A person's approval.
    Approval,
    /// A person's answer to this question. The agent did nothing since it was sent back.
    Answer(String),
    /// Work in the background, in the host's words.
    Background(String),
    /// The end of a pause; the words tell its reason.
    Paused(String),
    /// A typed command that ends the loop. The host runs the command when the turn has ended. Empty if the host does
    /// not name the command.
    Typed(String),
    /// The end of a usage limit, in the agent program's words.
    UsageLimit(String),
    /// There is nothing to do: no list, and a counter of zero tasks.
    NoTasks,
    /// A blocked turn that is not in this loop's ledger.
    Unproven,
}

/// The tries of the present task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The task's id or its place in the list.
    pub task: String,
    /// Including the running one.
    pub used: u32,
    pub limit: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The command as configured.
    pub run: String,
    /// The command ended with code 0 within its limit.
    pub passed: bool,
    /// The end in words (`exit code 1`, `no such program`, `over its limit of 60 s`).
    pub outcome: String,
    /// The end of the output; for a review, what is missing.
    pub tail: String,
    /// `None` for a command. Not kept in files: a review is counted when it is made.
    #[serde(skip)]
    pub review: Option<ReviewResult>,
}

impl CheckResult {
    /// A review that passed and found something met: a review that left all for later shows nothing.
    pub fn is_proof_by_review(&self) -> bool {
        self.passed && self.review.is_some_and(|review| review.met > 0)
    }
}

/// The numbers of `spool review`, which prints them for the loop as one line of JSON; no words of the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReviewResult {
    /// There is a verdict on the work; else the reader failed, or its answer cannot be used.
    pub judged: bool,
    /// Requirements found met.
    pub met: u64,
    /// Hash of the verdicts, each with the id of its requirement. Without a verdict: the end of the reader's usage
    /// limit in seconds since the Unix epoch; 1 for an unknown end, 0 for no limit.
    pub verdicts: u64,
    /// 0 if unknown; counted once.
    pub tokens: u64,
    /// Millionths of a dollar; 0 if unknown; counted once.
    pub cost: u64,
    /// The cost is an estimate by a person's prices.
    pub estimated: bool,
}

read_fields!(ReviewResult { judged, met, verdicts, tokens, cost, estimated });

impl ReviewResult {
    /// The reader met a usage limit.
    pub fn is_limited(&self) -> bool {
        !self.judged && self.verdicts > 0
    }
}

/// An end that does not follow from the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand {
    /// The agent's need, for a person.
    Blocked(String),
    Cancelled,
    /// A signal or a person stopped the driver.
    Stopped,
    /// The agent program could not be run.
    HarnessFailed(String),
    /// The attempts of a task are used up.
    TaskFailed(Attempt),
}
