//! A loop as programs read it: one form for a feature's, a task's, and a runner's.

use serde::Serialize;

use super::plain::{JsonNumber, JsonTime, dollars};
use super::proofs::ProofsForm;
use super::review::LastReview;
use crate::engine::{Check, CheckResult, Converging, Ledger};
use crate::store::loops::{LetGo, Pause};
use crate::store::names::{ArmedBy, EndName};

/// A loop.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoopForm {
    /// What it is about.
    pub kind: LoopSubject,
    /// The name of the feature or change, or the first words of the task.
    pub about: String,
    /// The whole task, or the prompt of a runner's loop; null for a feature's loop.
    pub task: Option<String>,
    /// How it is.
    pub state: LoopFormState,
    /// What drives it: the hook of a session, or a runner (`spool ralph`) from outside.
    pub driver: LoopDriver,
    /// The session it is bound to, of a runner the session of its last iteration; null before there is one.
    pub session: Option<String>,
    /// What that session does; null for a runner's loop and for one that has ended.
    pub session_state: Option<SessionState>,
    /// The process of the session or of the runner; null where it is not known.
    pub process: Option<u32>,
    /// When it was armed, or when this run of the runner was started.
    pub armed_at: Option<JsonTime>,
    /// Who armed it; null where that is not known.
    pub armed_by: Option<LoopArmer>,
    /// Whether what a person armed holds whatever the files of the project say.
    pub pinned: bool,
    /// When its session or runner last gave a sign of life.
    pub last_sign_at: Option<JsonTime>,
    /// How it ended; null while it lives.
    pub end: Option<EndForm>,
    /// The pause; null while it is not paused.
    pub pause: Option<PauseForm>,
    /// Iterations so far.
    pub iterations: u32,
    /// The last iteration that may run; null for no limit.
    pub max_iterations: Option<u32>,
    /// Tokens since it was armed; null where nothing reports them.
    pub tokens: Option<JsonNumber>,
    /// Whether that is all of them, as far as can be seen.
    pub tokens_complete: bool,
    /// Tokens that reviews used since it was armed, beside those; a limit of tokens counts both.
    pub review_tokens: JsonNumber,
    /// Dollars that they cost, as far as it is known; null where nothing tells.
    pub review_cost_usd: Option<f64>,
    /// Whether a part of that is an estimate, by the prices that a person gave.
    pub review_cost_estimated: bool,
    /// The last review of what it is about; null where there was none.
    pub review: Option<LastReview>,
    /// Tool calls since it was armed; null where they cannot be seen.
    pub tool_calls: Option<JsonNumber>,
    /// Whether that is all of them, as far as can be seen.
    pub tool_calls_complete: bool,
    /// Commits since it was armed, as far as can be seen.
    pub commits: JsonNumber,
    /// How often the agent was sent back to work.
    pub sent_back: u32,
    /// Claims to be done that were refused.
    pub refused_claims: u32,
    /// The turn of the agent since its last stop; null where no session works on it.
    pub turn: Option<TurnForm>,
    /// What it is at: the task, or what the runner does; null for nothing.
    pub at_work: Option<String>,
    /// The last stop that was judged, or the end of the last iteration; null before the first.
    pub last_stop: Option<StopForm>,
    /// The checks in force, in their order.
    pub checks: Vec<LoopCheck>,
    /// The Verify commands in force, by the id of their task.
    pub verify_commands: Vec<TaskCommand>,
    /// The check that runs just now with its number, such as `` `cargo test` (1 of 2) ``; null while none runs.
    pub running_check: Option<String>,
    /// Extension hooks of spec-kit that still have to run.
    pub hooks_due: Vec<String>,
    /// The converge command of spec-kit that has to run before the end; null where it was not asked for.
    pub converge: Option<ConvergeForm>,
    /// The command that tells a person of an end; null for none.
    pub notify: Option<String>,
    /// The tasks that it is about; null for all of the list.
    pub only_tasks: Option<Vec<String>>,
    /// Words for the agent besides the feature; null for none.
    pub words_for_agent: Option<String>,
    /// What it waits for, in words; empty for nothing.
    pub waits_for: Vec<String>,
    /// What a person does next, in words; null for nothing.
    pub next: Option<String>,
    /// How well its tasks are proved; null where nothing is known of any task.
    pub proofs: Option<ProofsForm>,
    /// The session that it was taken over from; null for none.
    pub taken_over_from: Option<String>,
    /// The session that took it over; null for none.
    pub taken_over_by: Option<String>,
    /// Sessions that were allowed to stop although tasks are open, because this loop is another session's.
    pub not_blocked: Vec<NotBlocked>,
}

/// How a loop is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LoopFormState {
    /// It is armed, and the first session that stops takes it.
    Unbound,
    /// It lives.
    #[default]
    Live,
    /// It lives, the agent may stop, and nothing is counted.
    Paused,
    /// It lives, and its session is gone or has been silent for an hour.
    Orphaned,
    /// Its runner was killed.
    Dead,
    /// It has ended.
    Ended,
    /// Its file cannot be read.
    Unreadable,
}

/// What the session of a loop does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SessionState {
    /// Its agent works.
    Works,
    /// Its agent is idle.
    Idle,
    /// It waits for a person.
    Waits,
    /// It runs, and nobody says more.
    Runs,
    /// It is gone.
    Gone,
    /// Nobody can say.
    #[default]
    Unknown,
}

/// What a loop is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LoopSubject {
    /// A feature of a spec-kit project, in a session.
    Feature,
    /// One task in one session.
    #[default]
    Task,
    /// A change that a runner works on.
    Change,
}

/// What drives a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LoopDriver {
    /// The hook of the session in which the agent works.
    #[default]
    Session,
    /// `spool ralph`.
    Runner,
}

/// Who armed a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LoopArmer {
    /// A person, with a slash command in a session.
    Command,
    /// A person, in a terminal.
    Terminal,
    /// A person, who started `spool ralph`.
    Runner,
    /// A command inside of an agent's session: perhaps no person.
    Session,
    /// A person, where nothing can be kept outside of the project.
    Unkept,
    /// Nobody: a session found a state file that asks for a loop.
    Nobody,
}

/// How a loop ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EndForm {
    /// The name of the end, one of those in docs/ends.md.
    pub name: EndName,
    /// The same in words.
    pub words: String,
}

/// A pause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PauseForm {
    /// Since when; null where that is not known.
    pub since: Option<JsonTime>,
    /// Why, in words.
    pub words: String,
    /// Whether the next prompt ends it; otherwise somebody resumes the loop.
    pub ends_by_itself: bool,
}

/// The turn of an agent since its last stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TurnForm {
    /// Tool calls; null where they cannot be seen.
    pub tool_calls: Option<JsonNumber>,
    /// Whether that is all of them.
    pub tool_calls_complete: bool,
    /// Tokens, as far as they are seen.
    pub tokens: JsonNumber,
}

/// A stop that was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StopForm {
    /// When.
    pub at: JsonTime,
    /// What came of it, in words.
    pub words: String,
}

/// A check of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoopCheck {
    /// The command.
    pub run: String,
    /// Seconds that it has.
    pub limit_seconds: JsonNumber,
    /// Whether it is a review, and the command the words of `spool review`.
    pub review: bool,
    /// What one line of its output has to show, with `*` for any text; null for nothing.
    pub expect: Option<String>,
    /// How many tests have to pass in it at least; null where nobody counts them.
    pub min_tests: Option<JsonNumber>,
    /// What it has to meet, in words (see [`Check::terms`]).
    #[serde(skip)]
    pub terms: String,
}

/// What came of the converge command of spec-kit in a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConvergeForm {
    /// The command, without its slash.
    pub command: String,
    /// How often it has run, at most 2.
    pub rounds: u32,
    /// Whether the last run found nothing missing.
    pub passed: bool,
}

impl ConvergeForm {
    /// `None` for an empty command.
    pub fn of(command: &str, ledger: &Ledger) -> Option<Self> {
        let Converging { rounds, passed, .. } = ledger.converging;
        let command = super::plain::words(command)?;
        Some(Self { command, rounds, passed })
    }
}

/// The Verify command of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskCommand {
    /// The id of the task.
    pub task: String,
    /// The command.
    pub run: String,
}

/// A session that was allowed to stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NotBlocked {
    /// The session.
    pub session: String,
    /// When it stopped.
    pub at: Option<JsonTime>,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckOutcome {
    /// The command.
    pub run: String,
    /// Whether it passed.
    pub passed: bool,
    /// How it ended, in words.
    pub outcome: String,
    /// The end of what it printed; null for nothing.
    pub output: Option<String>,
}

/// The sums of the ledger.
impl From<&Ledger> for LoopForm {
    fn from(ledger: &Ledger) -> Self {
        Self {
            iterations: ledger.iterations,
            review_tokens: ledger.review_tokens.into(),
            review_cost_usd: dollars(ledger.review_cost),
            review_cost_estimated: ledger.review_cost_estimated,
            tool_calls: Some(ledger.tool_calls.into()),
            tool_calls_complete: !ledger.more_calls,
            commits: ledger.commits.into(),
            sent_back: ledger.continued,
            refused_claims: ledger.refused_claims,
            ..Self::default()
        }
    }
}

impl From<&Check> for LoopCheck {
    fn from(check: &Check) -> Self {
        Self {
            run: check.run.clone(),
            review: check.is_review(),
            limit_seconds: check.limit_seconds.into(),
            expect: super::plain::words(&check.expect),
            min_tests: (check.min_tests > 0).then(|| check.min_tests.into()),
            terms: check.terms(),
        }
    }
}

impl From<&CheckResult> for CheckOutcome {
    fn from(result: &CheckResult) -> Self {
        Self {
            run: result.run.clone(),
            passed: result.passed,
            outcome: result.outcome.clone(),
            output: super::plain::words(&result.tail),
        }
    }
}

impl LoopArmer {
    /// `None` for a word of another version.
    pub fn of(armed_by: &ArmedBy) -> Option<Self> {
        Some(match armed_by {
            ArmedBy::Command => Self::Command,
            ArmedBy::Terminal | ArmedBy::Lost => Self::Terminal,
            ArmedBy::Session => Self::Session,
            ArmedBy::Unkept => Self::Unkept,
            ArmedBy::Runner => Self::Runner,
            ArmedBy::Claim => Self::Nobody,
            ArmedBy::Other(_) => return None,
        })
    }
}

impl From<&Pause> for PauseForm {
    fn from(pause: &Pause) -> Self {
        Self {
            since: JsonTime::of(pause.at),
            words: pause.words(),
            ends_by_itself: pause.ends_by_itself(),
        }
    }
}

impl From<&LetGo> for NotBlocked {
    fn from(stop: &LetGo) -> Self {
        Self { session: stop.session.clone(), at: JsonTime::of(stop.at) }
    }
}
