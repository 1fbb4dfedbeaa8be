//! The words of the files: a loop's state, and one iteration (spec 001).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::engine::fields::{is_default, name_of};
use crate::engine::{Check, CheckResult, Ledger, TerminalReason};
use crate::forms::spent::{Amount, Spent, in_dollars, micros};
use crate::runner::options::DoneWhen;
use crate::store::names::{PromiseState, VerdictName};

/// Seconds that no loop needs to count which has done nothing but wait for so long.
const SHORT: f64 = 60.0;

/// What a loop does that a person has paused; a reason may follow.
pub const PAUSED: &str = "paused";

/// The status of a loop (spec 001).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoopStatus {
    /// Being set up: no iteration has begun.
    #[default]
    Starting,
    /// At work, waiting or paused.
    Running,
    /// The work is done.
    Done,
    /// A limit was reached, or a person is needed.
    Stuck,
    /// Nothing changes any more.
    Stalled,
    /// A person or a signal ended it, or its program died.
    Stopped,
}

/// A loop as its files show it; every field of spec 001 is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopState {
    /// Version of this file's form.
    pub version: u32,
    /// The change.
    pub change_id: String,
    /// The same, under its older name.
    pub worktree_name: String,
    /// The state of the loop.
    pub status: LoopStatus,
    /// The iteration that runs, or the last one, from 1 in each run; 0 before the first.
    pub current_iteration: u32,
    /// The last iteration that may run, 0 for no limit.
    pub max_iterations: u32,
    /// When this run was started, ISO 8601 with offset.
    pub started_at: String,
    /// When this file was last written, ISO 8601 with offset.
    pub updated_at: String,
    /// When the loop ended, empty while it runs.
    pub ended_at: String,
    /// The person's prompt.
    pub task: String,
    /// What counts as done.
    pub done_criteria: DoneWhen,
    /// Iterations in a row without a commit that end the loop, 0 for none.
    pub stall_threshold: u32,
    /// Minutes that an iteration may take, 0 for no limit.
    pub iteration_timeout_min: f64,
    /// Seconds that runners had this loop; a loop that was stopped and goes on counts on.
    pub ran_seconds: f64,
    /// Seconds beside that in which the runner was stopped, by Ctrl-Z.
    #[serde(skip_serializing_if = "is_default")]
    pub stopped_seconds: f64,
    /// Tokens of all iterations of this run.
    pub total_tokens: u64,
    /// Whether there are iterations whose use is not known.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens_unknown: bool,
    /// Dollars that all iterations of this run cost, as far as it is known.
    #[serde(skip_serializing_if = "is_default")]
    pub total_cost_usd: f64,
    /// Whether a part of that is an estimate by the prices that a person gave.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_estimated: bool,
    /// Whether there are iterations of which nothing tells the cost.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_unknown: bool,
    /// What each agent did, in the order in which they first worked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentShare>,
    /// Tools that were denied in this run, each named once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// In how many iterations tools were denied.
    #[serde(skip_serializing_if = "is_default")]
    pub denied_iterations: u32,
    /// The agent program.
    pub harness: String,
    /// Its version, as far as it is known.
    pub harness_version: String,
    /// The model that was asked for, empty for the agent program's own choice.
    pub model: String,
    /// The module of the change, empty for none.
    pub module: String,
    /// The process of the runner.
    pub pid: u32,
    /// The session of the last iteration.
    pub session_id: String,
    /// The checks that must pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// The command that tells a person of the end, empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub notify: String,
    /// The converge command of spec-kit that has to run before the end, empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub converge: String,
    /// Whether optional tasks count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub include_optional: bool,
    /// What the loop does at the moment, in plain words: `iteration 3`, `paused`, `waiting for the usage limit`.
    pub doing: String,
    /// Seconds since the Unix epoch at which a waiting loop continues, 0 for none.
    pub waits_until: u64,
    /// The name of the terminal reason, empty while it runs.
    pub reason: String,
    /// Why it ended, in plain words.
    pub words: String,
    /// The exit code of the runner, `None` while it runs.
    pub exit_code: Option<u8>,
    /// The ref that holds what the last try left, which did not come to its own end; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kept_as: String,
    /// The loop's memory.
    pub ledger: Ledger,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What one agent of a loop did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentShare {
    /// The agent program.
    pub harness: String,
    /// The model that it was asked for, empty for its own choice.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// How often it was run.
    pub runs: u32,
    /// Tokens that it used, as far as they are known.
    pub tokens: u64,
    /// Whether a part of them is an estimate.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens_estimated: bool,
    /// Whether there are runs whose tokens nothing reports.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens_unknown: bool,
    /// Dollars that it cost, as far as it is known.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_usd: f64,
    /// Whether a part of that is an estimate by the prices that a person gave.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_estimated: bool,
    /// Whether there are runs of which nothing tells the cost.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_unknown: bool,
}

/// One iteration, as history keeps it; without `ended` it is still running, or its runner was killed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Iteration {
    /// Its number, from 1 in each run.
    pub n: u32,
    /// When it began, ISO 8601 with offset.
    pub started: String,
    /// When it ended, ISO 8601 with offset; for one that its runner did not outlive, the last sign of life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The commit on which it began, forty zeros before the first one, empty without a repository; from
    /// it, commits are found even when the runner is killed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub head_at_start: String,
    /// Whether the done criteria were met.
    pub done_check: bool,
    /// The commits made on this head, oldest first.
    pub commits: Vec<String>,
    /// Tokens used.
    pub tokens_used: u64,
    /// Whether `tokens_used` is only an estimate.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens_estimated: bool,
    /// Whether nothing says what it used; `tokens_used` is 0 then.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens_unknown: bool,
    /// Dollars that it cost, `None` where nothing tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Whether that is an estimate by the prices that a person gave.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_estimated: bool,
    /// Whether a time limit cut it short.
    #[serde(skip_serializing_if = "is_default")]
    pub timed_out: bool,
    /// Whether it never came to its own end: its runner was stopped or killed in the middle.
    #[serde(skip_serializing_if = "is_default")]
    pub interrupted: bool,
    /// Whether it was asked to leave a handoff, because a limit was near.
    #[serde(skip_serializing_if = "is_default")]
    pub handoff_asked: bool,
    /// Seconds it took.
    pub seconds: f64,
    /// Seconds beside that in which the runner was stopped, by Ctrl-Z.
    #[serde(skip_serializing_if = "is_default")]
    pub stopped_seconds: f64,
    /// The agent program's exit code, `None` when a signal ended it.
    pub exit_code: Option<i32>,
    /// Tool calls, `None` where nothing says.
    pub tool_calls: Option<u64>,
    /// Files that differ from what they were, at most 200 of them.
    pub files: Vec<String>,
    /// How many files differ in all.
    pub files_changed: u64,
    /// Tasks ticked in this iteration, by id.
    pub tasks_ticked: Vec<String>,
    /// Ticks that nothing proves and that were taken back, with why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unproved: Vec<String>,
    /// What became of the promise.
    pub promise: PromiseState,
    /// The verdict.
    pub verdict: VerdictName,
    /// Why, in plain words.
    pub words: String,
    /// What went wrong with the agent program, empty for nothing.
    pub failure: String,
    /// How many of its tool calls were denied or failed.
    #[serde(skip_serializing_if = "is_default")]
    pub failed_calls: u64,
    /// Tools that were denied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// The checks that ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckResult>,
    /// The agent program's session.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session_id: String,
    /// The file with all that the agent program printed, relative to the state folder.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub log: String,
    /// How much of that file the agent program has printed, in bytes: what follows comes from checks and from git. 0 where
    /// that is not known.
    #[serde(skip_serializing_if = "is_default")]
    pub agent_log_bytes: u64,
    /// The agent program that ran, as `--harness` names it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub harness: String,
    /// The model that answered, or the one that was asked for where the agent program does not say; empty where neither is
    /// known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The ref that holds what it left, where it did not come to its own end; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kept_as: String,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl LoopState {
    /// Returns whether the next runner goes on with what this loop has used: something stopped it, and it came to no end of its
    /// own; `false` for one that has used nothing.
    pub fn goes_on(&self) -> bool {
        let was_stopped = match self.ledger.ended {
            None | Some(TerminalReason::Stopped) => self.status == LoopStatus::Stopped,
            Some(TerminalReason::UsageLimit { .. }) => true,
            Some(_) => false,
        };
        let has_used =
            self.current_iteration > 0 || self.total_tokens > 0 || self.ledger.all_cost() > 0;
        was_stopped && (has_used || self.ran_seconds >= SHORT)
    }

    /// Returns whether the next runner judges by what this loop began with: it goes on with it, or this one came to an end before
    /// its work was done. What was ticked without a proof has none then either, and what was done without a tick is still its work.
    pub fn leaves_work(&self) -> bool {
        let is_over =
            [TerminalReason::Stopped, TerminalReason::Completed, TerminalReason::CorruptState];
        self.goes_on() || self.ledger.ended.as_ref().is_some_and(|end| !is_over.contains(end))
    }

    /// Adds what an iteration used to the share of the agent that works.
    pub fn add_share(&mut self, iteration: &Iteration) {
        let (harness, model) = (&self.harness, &self.model);
        let is_its = |it: &AgentShare| it.harness == *harness && it.model == *model;
        let known = self.agents.iter().position(is_its);
        let at = known.unwrap_or(self.agents.len());
        if known.is_none() {
            let (harness, model) = (harness.clone(), model.clone());
            self.agents.push(AgentShare { harness, model, ..AgentShare::default() });
        }
        let share = &mut self.agents[at];
        share.runs = share.runs.saturating_add(1);
        let Spent { tokens, cost } = share.spent().plus(iteration.spent());
        (share.tokens, share.tokens_estimated) = (tokens.value, tokens.estimated);
        share.tokens_unknown = tokens.partial;
        (share.cost_usd, share.cost_estimated) = (in_dollars(cost.value), cost.estimated);
        share.cost_unknown = cost.partial;
    }

    /// Counts what an iteration used.
    pub fn count(&mut self, iteration: &Iteration) {
        let Spent { tokens, cost } = self.spent().plus(iteration.spent());
        (self.total_tokens, self.tokens_unknown) = (tokens.value, tokens.partial);
        (self.total_cost_usd, self.cost_estimated) = (in_dollars(cost.value), cost.estimated);
        self.cost_unknown = cost.partial;
    }

    /// Counts what a review used: the ledger never has it.
    pub fn count_review(&mut self, Spent { tokens, cost }: Spent) {
        let ledger = &mut self.ledger;
        ledger.review_tokens = ledger.review_tokens.saturating_add(tokens.value);
        ledger.review_cost = ledger.review_cost.saturating_add(cost.value);
        ledger.review_cost_estimated |= cost.estimated && cost.value > 0;
        self.tokens_unknown |= tokens.partial;
        self.cost_unknown |= cost.partial;
    }

    /// What all iterations of this run used and cost.
    pub fn spent(&self) -> Spent {
        let estimated = self.agents.iter().any(|share| share.tokens_estimated);
        let cost = (self.total_cost_usd, [self.cost_estimated, self.cost_unknown]);
        Spent::of((self.total_tokens, [estimated, self.tokens_unknown]), cost)
    }

    /// What its reviews used and cost beside that.
    pub fn spent_on_reviews(&self) -> Spent {
        let Ledger { review_tokens, review_cost, review_cost_estimated, .. } = self.ledger;
        let cost = Amount { value: review_cost, estimated: review_cost_estimated, partial: false };
        Spent { tokens: Amount { value: review_tokens, ..Amount::default() }, cost }
    }

    /// Returns this first state of a run with what an earlier run of the same loop has used.
    pub(super) fn going_on_from(self, earlier: &Self) -> Self {
        let mut ledger = earlier.ledger.going_on();
        // The iteration in which it was stopped was never judged, and is spent.
        ledger.iterations = ledger.iterations.max(earlier.current_iteration);
        ledger.tokens = ledger.tokens.max(earlier.total_tokens);
        ledger.cost = ledger.cost.max(micros(earlier.total_cost_usd));
        Self {
            started_at: earlier.started_at.clone(),
            current_iteration: ledger.iterations,
            ran_seconds: earlier.ran_seconds,
            stopped_seconds: earlier.stopped_seconds,
            total_tokens: earlier.total_tokens,
            tokens_unknown: earlier.tokens_unknown,
            total_cost_usd: earlier.total_cost_usd,
            cost_estimated: earlier.cost_estimated,
            cost_unknown: earlier.cost_unknown,
            agents: earlier.agents.clone(),
            denied: earlier.denied.clone(),
            denied_iterations: earlier.denied_iterations,
            ledger,
            ..self
        }
    }
}

impl AgentShare {
    /// What its runs used and cost.
    pub fn spent(&self) -> Spent {
        let cost = (self.cost_usd, [self.cost_estimated, self.cost_unknown]);
        Spent::of((self.tokens, [self.tokens_estimated, self.tokens_unknown]), cost)
    }
}

impl Iteration {
    /// What it used and cost.
    pub fn spent(&self) -> Spent {
        let cost = [self.cost_estimated, self.cost_usd.is_none()];
        let cost = (self.cost_usd.unwrap_or_default(), cost);
        Spent::of((self.tokens_used, [self.tokens_estimated, self.tokens_unknown]), cost)
    }

    /// Notes that it took this long by the clock on the wall, which has counted what stood still.
    pub(super) fn took(&mut self, by_the_wall: Duration) {
        self.seconds = (in_seconds(by_the_wall) - self.stopped_seconds).max(0.0);
    }

    /// Returns whether the agent program failed or was cut short in it, or a check failed; a usage limit is no failure.
    pub fn has_failed(&self) -> bool {
        let is_bad = self.timed_out || self.interrupted || !self.failure.is_empty();
        let has_failed_check = self.checks.iter().any(|check| !check.passed);
        self.verdict != VerdictName::Wait && (is_bad || has_failed_check)
    }
}

impl LoopStatus {
    /// Returns whether the loop has ended.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Starting | Self::Running)
    }

    /// The word that the files use.
    pub fn word(self) -> String {
        name_of(self)
    }
}

/// A length of time in seconds, to the millisecond.
pub(super) fn in_seconds(time: Duration) -> f64 {
    time.as_millis() as f64 / 1000.0
}
