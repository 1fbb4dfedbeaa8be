//! A loop's state and an iteration, as in the files (spec 001).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::engine::fields::{is_default, name_of};
use crate::engine::{Check, CheckResult, Ledger, TerminalReason};
use crate::forms::spent::{Amount, Spent, in_dollars, micros};
use crate::runner::options::DoneWhen;
use crate::store::journal::Entry;
use crate::store::names::{PromiseState, VerdictName};

/// Seconds: a shorter loop that has used nothing is not continued.
const SHORT: f64 = 60.0;
/// The state of a paused loop; a reason may follow.
pub const PAUSED: &str = "paused";
const FIELD: &str = "agents";
/// The most denied tools that a run remembers.
pub const MOST_DENIED_OF_RUN: usize = 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoopStatus {
    /// No iteration has begun.
    #[default]
    Starting,
    Running,
    Done,
    /// A limit was reached, or a person is needed.
    Stuck,
    Stalled,
    /// A person or a signal ended the loop, or its program died.
    Stopped,
}

/// A loop in its files, with every field of spec 001.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopState {
    /// Version of this file's form.
    pub version: u32,
    pub change_id: String,
    /// The same as `change_id`, under its older name.
    pub worktree_name: String,
    pub status: LoopStatus,
    /// The running iteration, or the last one, from 1 in each run; 0 before the first.
    pub current_iteration: u32,
    /// The last iteration; 0 for no limit.
    pub max_iterations: u32,
    /// The start of this run, ISO 8601 with offset.
    pub started_at: String,
    /// The last write of this file, ISO 8601 with offset.
    pub updated_at: String,
    /// Empty while the loop runs.
    pub ended_at: String,
    /// The person's prompt.
    pub task: String,
    /// What counts as done.
    pub done_criteria: DoneWhen,
    /// Iterations in a row without a commit that end the loop; 0 for none.
    pub stall_threshold: u32,
    /// Minutes for an iteration; 0 for no limit.
    pub iteration_timeout_min: f64,
    /// Seconds in which runners had this loop; a stopped loop that continues counts on.
    pub ran_seconds: f64,
    /// Tokens of all iterations of this run.
    pub total_tokens: u64,
    /// The use of some iterations is unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens_unknown: bool,
    /// Known dollars of all iterations of this run.
    #[serde(skip_serializing_if = "is_default")]
    pub total_cost_usd: f64,
    /// A part of `total_cost_usd` is an estimate by a person's prices.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_estimated: bool,
    /// The cost of some iterations is unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_unknown: bool,
    /// Each agent's share, in the order of their first work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentShare>,
    /// Tools denied in this run, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Iterations with denied tools.
    #[serde(skip_serializing_if = "is_default")]
    pub denied_iterations: u32,
    pub harness: String,
    /// Empty if unknown.
    pub harness_version: String,
    /// The requested model; empty for the agent program's own choice.
    pub model: String,
    /// Empty for none.
    pub module: String,
    /// The runner's process.
    pub pid: u32,
    /// The last iteration's session.
    pub session_id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// The command that tells a person about the end; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub notify: String,
    /// Spec-kit's converge command, if it must run before the end; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub converge: String,
    /// Optional tasks count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub include_optional: bool,
    /// The loop's current action in plain words: `iteration 3`, `paused`, `waiting for the usage limit`.
    pub doing: String,
    /// When a waiting loop continues, in seconds since the Unix epoch; 0 for no wait.
    pub waits_until: u64,
    /// The name of the terminal reason; empty while the loop runs.
    pub reason: String,
    /// Why the loop ended, in plain words.
    pub words: String,
    /// `None` while the loop runs.
    pub exit_code: Option<u8>,
    /// The ref with the work of an unfinished last try; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kept_as: String,
    pub ledger: Ledger,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentShare {
    pub harness: String,
    /// The requested model; empty for the program's own choice.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Number of runs.
    pub runs: u32,
    /// Known tokens.
    pub tokens: u64,
    /// A part of `tokens` is an estimate.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens_estimated: bool,
    /// The tokens of some runs are unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens_unknown: bool,
    /// Known dollars.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_usd: f64,
    /// A part of `cost_usd` is an estimate by a person's prices.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_estimated: bool,
    /// The cost of some runs is unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_unknown: bool,
}

/// An iteration of the history. Without `ended`, it still runs or its runner was killed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Iteration {
    /// From 1 in each run.
    pub n: u32,
    /// ISO 8601 with offset.
    pub started: String,
    /// ISO 8601 with offset; after a killed runner, the last sign of life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The commit at the beginning; forty zeros before the first commit, empty without a repository. After a killed
    /// runner, it tells the iteration's commits.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub head_at_start: String,
    /// The done criteria were met.
    pub done_check: bool,
    /// Commits on this head, oldest first.
    pub commits: Vec<String>,
    pub tokens_used: u64,
    /// `tokens_used` is an estimate.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens_estimated: bool,
    /// The use is unknown, and `tokens_used` 0.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens_unknown: bool,
    /// `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// `cost_usd` is an estimate by a person's prices.
    #[serde(skip_serializing_if = "is_default")]
    pub cost_estimated: bool,
    /// A time limit cut the iteration short.
    #[serde(skip_serializing_if = "is_default")]
    pub timed_out: bool,
    /// The runner was stopped or killed in the middle.
    #[serde(skip_serializing_if = "is_default")]
    pub interrupted: bool,
    /// The agent was asked for a handoff, because a limit was near.
    #[serde(skip_serializing_if = "is_default")]
    pub handoff_asked: bool,
    pub seconds: f64,
    /// `None` after a signal.
    pub exit_code: Option<i32>,
    /// `None` if unknown.
    pub tool_calls: Option<u64>,
    /// Changed files, at most 200.
    pub files: Vec<String>,
    /// The number of all changed files.
    pub files_changed: u64,
    /// Ids of tasks that were ticked in this iteration.
    pub tasks_ticked: Vec<String>,
    /// Unproved ticks that were taken back, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unproved: Vec<String>,
    /// The fate of the promise.
    pub promise: PromiseState,
    pub verdict: VerdictName,
    /// Why, in plain words.
    pub words: String,
    /// What went wrong with the agent program; empty for nothing.
    pub failure: String,
    /// Denied and failed tool calls.
    #[serde(skip_serializing_if = "is_default")]
    pub failed_calls: u64,
    /// Denied tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckResult>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session_id: String,
    /// The file with the agent program's output, relative to the state folder.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub log: String,
    /// Bytes of that file by the agent program: checks and git wrote the rest. 0 if unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub agent_log_bytes: u64,
    /// By its name for `--harness`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub harness: String,
    /// The model that answered, or the requested one if the program does not say; empty if neither is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The ref with the work of an unfinished iteration; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kept_as: String,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl LoopState {
    /// True if the next runner continues this loop's counts: a stop or a usage limit ended it, and it has used
    /// something or ran for a minute.
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

    /// True if the next runner judges by this loop's baseline: the loop goes on, or ended before its work was done.
    /// Then an unproved tick stays unproved, and work without a tick stays the loop's work.
    pub fn leaves_work(&self) -> bool {
        let is_over =
            [TerminalReason::Stopped, TerminalReason::Completed, TerminalReason::CorruptState];
        self.goes_on() || self.ledger.ended.as_ref().is_some_and(|end| !is_over.contains(end))
    }

    /// Adds an iteration's use to the share of its agent, and its denied tools to those of the run.
    pub fn add_share(&mut self, iteration: &Iteration) {
        let (harness, model) = (&self.harness, &self.model);
        let is_its = |share: &AgentShare| share.harness == *harness && share.model == *model;
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
        self.denied_iterations += u32::from(!iteration.denied.is_empty());
        for tool in &iteration.denied {
            if self.denied.len() < MOST_DENIED_OF_RUN && !self.denied.contains(tool) {
                self.denied.push(tool.clone());
            }
        }
    }

    /// Counts an iteration's use.
    pub fn count(&mut self, iteration: &Iteration) {
        let Spent { tokens, cost } = self.spent().plus(iteration.spent());
        (self.total_tokens, self.tokens_unknown) = (tokens.value, tokens.partial);
        (self.total_cost_usd, self.cost_estimated) = (in_dollars(cost.value), cost.estimated);
        self.cost_unknown = cost.partial;
    }

    /// Counts the use of a review that was cut off, which the engine never sees.
    pub fn count_review(&mut self, Spent { tokens, cost }: Spent) {
        let ledger = &mut self.ledger;
        ledger.review_tokens = ledger.review_tokens.saturating_add(tokens.value);
        ledger.review_cost = ledger.review_cost.saturating_add(cost.value);
        ledger.review_cost_estimated |= cost.estimated && cost.value > 0;
        self.tokens_unknown |= tokens.partial;
        self.cost_unknown |= cost.partial;
    }

    /// The use of all iterations of this run.
    pub fn spent(&self) -> Spent {
        let estimated = self.agents.iter().any(|share| share.tokens_estimated);
        let cost = (self.total_cost_usd, [self.cost_estimated, self.cost_unknown]);
        Spent::of((self.total_tokens, [estimated, self.tokens_unknown]), cost)
    }

    /// The use of reviews, beside that of iterations.
    pub fn spent_on_reviews(&self) -> Spent {
        let Ledger { review_tokens, review_cost, review_cost_estimated, .. } = self.ledger;
        let cost = Amount { value: review_cost, estimated: review_cost_estimated, partial: false };
        Spent { tokens: Amount { value: review_tokens, ..Amount::default() }, cost }
    }

    /// Adds an earlier run's use to the first state of a new run.
    pub(super) fn going_on_from(self, earlier: &Self) -> Self {
        let mut ledger = earlier.ledger.going_on();
        // The iteration of the stop was never judged, and is spent.
        ledger.iterations = ledger.iterations.max(earlier.current_iteration);
        ledger.tokens = ledger.tokens.max(earlier.total_tokens);
        ledger.cost = ledger.cost.max(micros(earlier.total_cost_usd));
        Self {
            started_at: earlier.started_at.clone(),
            current_iteration: ledger.iterations,
            ran_seconds: earlier.ran_seconds,
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
    pub fn spent(&self) -> Spent {
        let cost = (self.cost_usd, [self.cost_estimated, self.cost_unknown]);
        Spent::of((self.tokens, [self.tokens_estimated, self.tokens_unknown]), cost)
    }
}

impl Iteration {
    pub fn spent(&self) -> Spent {
        let cost = [self.cost_estimated, self.cost_usd.is_none()];
        let cost = (self.cost_usd.unwrap_or_default(), cost);
        Spent::of((self.tokens_used, [self.tokens_estimated, self.tokens_unknown]), cost)
    }

    /// The agent program failed or was cut short, or a check failed. A usage limit is no failure.
    pub fn has_failed(&self) -> bool {
        let is_bad = self.timed_out || self.interrupted || !self.failure.is_empty();
        let has_failed_check = self.checks.iter().any(|check| !check.passed);
        self.verdict != VerdictName::Wait && (is_bad || has_failed_check)
    }
}

impl LoopStatus {
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Starting | Self::Running)
    }

    /// The word in the files.
    pub fn word(self) -> String {
        name_of(self)
    }
}

/// To the millisecond.
pub(super) fn in_seconds(time: Duration) -> f64 {
    time.as_millis() as f64 / 1000.0
}

pub fn with_shares(mut entry: Entry, agents: &[AgentShare]) -> Entry {
    let shares: Vec<Value> = agents.iter().flat_map(serde_json::to_value).collect();
    if !shares.is_empty() {
        entry.more.insert(FIELD.to_owned(), Value::Array(shares));
    }
    entry
}

/// Each agent's share by an entry; empty if the entry does not say.
pub fn shares_in(entry: &Entry) -> Vec<AgentShare> {
    let shares = entry.more.get(FIELD).cloned();
    shares.and_then(|shares| serde_json::from_value(shares).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_shares_read_again() {
        let share = |harness: &str| AgentShare {
            harness: harness.to_owned(),
            runs: 3,
            tokens: 5,
            ..AgentShare::default()
        };
        let agents = [share("claude"), share("codex")];
        let entry = with_shares(Entry::default(), &agents);
        let line = serde_json::to_string(&entry).unwrap();
        assert_eq!(shares_in(&serde_json::from_str(&line).unwrap()), agents);
        assert_eq!(with_shares(Entry::default(), &[]), Entry::default());
        let mut other = Entry::default();
        other.more.insert(FIELD.to_owned(), "all".into());
        assert!(shares_in(&other).is_empty());
    }
}
