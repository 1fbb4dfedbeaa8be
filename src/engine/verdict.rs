//! Verdicts, and the named reasons that end a loop.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::fields::{is_default, read_fields};
use super::observation::{CheckResult, Tampered, Waiting};
use super::unproved::UnprovedTask;
use crate::text::grouped;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The agent continues; these things are missing.
    Continue(Vec<Shortfall>),
    /// The agent may stop, nothing is counted, the loop stays armed.
    Wait(Vec<Waiting>),
    End(TerminalReason),
}

/// One thing that keeps the work from being done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// A claim of completion in spite of open tasks.
    ClaimedWithOpenTasks,
    OpenTasks,
    /// Open tasks have left the list or were reworded; said once.
    Tampered(Tampered),
    /// Ticked tasks without proof: they count as open.
    Unproved(Vec<UnprovedTask>),
    /// The task list holds no task.
    EmptyList,
    /// Commands around the work have not run.
    HooksDue(Vec<String>),
    /// This command of spec-kit has to compare code and specification.
    ConvergeDue(String),
    /// The completion token is missing.
    NoToken,
    /// The token is quoted, denied, or in the wrong place.
    PromiseNotMade,
    /// The token came before enough work.
    NoWork {
        /// Seen tool calls.
        calls: u64,
        /// Needed tool calls.
        needed: u64,
    },
    /// The token came without visible work, for this reason; said once.
    UnseenWork(String),
    /// The token came before the first iteration that may end the loop.
    TooEarly {
        /// That iteration.
        first: u32,
    },
    CheckFailed(CheckResult),
    /// The same checks failed in the same way in several iterations.
    SameFailure {
        /// In a row, 3 or more.
        times: u32,
    },
    /// The review came to no verdict, which is not the agent's fault.
    NotReviewed(CheckResult),
    /// Checks are configured and were not run.
    ChecksNotRun,
    /// The state cannot be read.
    Unreadable,
}

/// Every end has exactly one of these names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum TerminalReason {
    /// The evidence says that the work is done.
    Completed,
    MaxIters {
        limit: u32,
    },
    /// Nothing changes any more.
    NoProgress {
        stall: Stall,
        /// In a row.
        times: u32,
    },
    /// One task used up its attempts.
    TaskFailed {
        task: String,
        /// Used attempts.
        used: u32,
        /// Allowed attempts.
        limit: u32,
    },
    /// The agent needs a person.
    Blocked {
        /// What the person must do.
        need: String,
        #[serde(skip_serializing_if = "is_default")]
        by: Obstacle,
    },
    /// A person canceled the loop.
    Cancelled,
    /// A person or a signal stopped the driver.
    Stopped,
    TimedOut {
        /// Seconds.
        limit: u64,
    },
    /// The agent program could not be run.
    HarnessFailed {
        why: String,
    },
    /// The usage limit lasts longer than the loop may wait.
    UsageLimit {
        /// The end of the usage limit, and the longest wait.
        why: String,
    },
    /// The allowed tokens or money are used up.
    Budget {
        used: u64,
        limit: u64,
        /// The unit of both.
        #[serde(skip_serializing_if = "super::fields::is_default")]
        unit: BudgetUnit,
    },
    /// The state stayed unreadable after the agent was shown how to recover.
    CorruptState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetUnit {
    #[default]
    Tokens,
    /// Millionths of a dollar.
    Money,
}

/// Millionths of a dollar, shown as dollars: with two digits, and with four below one dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dollars(pub u64);

impl fmt::Display for Dollars {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1.. if self.0 < 1_000_000 => write!(out, "$0.{:04}", self.0 / 100),
            all => write!(out, "${}.{:02}", all / 1_000_000, all / 10_000 % 100),
        }
    }
}

/// Why an agent needs a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// Known from the words alone.
    #[default]
    Other,
    /// The agent program denies the attempts of the agent.
    Denial,
    /// The folder of the change or of the project is gone.
    FolderGone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stall {
    /// Stops without a tool call.
    NoToolCall,
    /// Iterations that left the work unchanged.
    SameFingerprint,
    NoCommit,
    /// Iterations with a task list that holds no task.
    EmptyList,
}

/// The fields of all reasons. serde's derived code for the enum is six times as long.
#[derive(Default)]
struct ReasonFields {
    reason: String,
    task: String,
    need: String,
    why: String,
    limit: u64,
    times: u64,
    used: u64,
    unit: BudgetUnit,
    by: Obstacle,
    stall: Option<Stall>,
}

read_fields!(ReasonFields { reason, task, need, why, limit, times, used, unit, by, stall });

impl<'de> Deserialize<'de> for TerminalReason {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let fields = ReasonFields::deserialize(source)?;
        let ReasonFields { task, need, why, limit, used, unit, by, .. } = fields;
        let short = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(match (fields.reason.as_str(), fields.stall) {
            ("completed", _) => TerminalReason::Completed,
            ("max_iters", _) => TerminalReason::MaxIters { limit: short(limit) },
            ("no_progress", Some(stall)) => {
                TerminalReason::NoProgress { stall, times: short(fields.times) }
            }
            ("task_failed", _) => {
                TerminalReason::TaskFailed { task, used: short(used), limit: short(limit) }
            }
            ("blocked", _) => TerminalReason::Blocked { need, by },
            ("cancelled", _) => TerminalReason::Cancelled,
            ("stopped", _) => TerminalReason::Stopped,
            ("timed_out", _) => TerminalReason::TimedOut { limit },
            ("harness_failed", _) => TerminalReason::HarnessFailed { why },
            ("usage_limit", _) => TerminalReason::UsageLimit { why },
            ("budget", _) => TerminalReason::Budget { used, limit, unit },
            ("corrupt_state", _) => TerminalReason::CorruptState,
            _ => return Err(D::Error::custom("no reason of an end")),
        })
    }
}

impl TerminalReason {
    /// The fixed name in the journal, in messages and for other programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::MaxIters { .. } => "max_iters",
            Self::NoProgress { .. } => "no_progress",
            Self::TaskFailed { .. } => "task_failed",
            Self::Blocked { .. } => "blocked",
            Self::Cancelled => "cancelled",
            Self::Stopped => "stopped",
            Self::TimedOut { .. } => "timed_out",
            Self::HarnessFailed { .. } => "harness_failed",
            Self::UsageLimit { .. } => "usage_limit",
            Self::Budget { .. } => "budget",
            Self::CorruptState => "corrupt_state",
        }
    }
}

impl fmt::Display for TerminalReason {
    /// Writes one plain sentence without a full stop.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => write!(out, "all the work is done"),
            Self::MaxIters { limit: 1 } => write!(out, "the limit of 1 iteration was reached"),
            Self::MaxIters { limit } => write!(out, "the limit of {limit} iterations was reached"),
            Self::NoProgress { stall: Stall::NoToolCall, times } => {
                write!(out, "the agent stopped {times} times in a row without doing anything")
            }
            Self::NoProgress { stall: Stall::SameFingerprint, times } => {
                write!(out, "{times} iterations in a row changed nothing in the project")
            }
            Self::NoProgress { stall: Stall::NoCommit, times } => {
                write!(out, "{times} iterations in a row made no commit")
            }
            Self::NoProgress { stall: Stall::EmptyList, times } => {
                write!(
                    out,
                    "the task list holds no task, and {times} iterations in a row got no further"
                )
            }
            Self::TaskFailed { task, used, limit } => {
                write!(out, "task {task} is at attempt {used}, and {limit} are allowed")
            }
            Self::Blocked { need, .. } => write!(out, "the agent needs a person: {need}"),
            Self::Cancelled => write!(out, "it was cancelled"),
            Self::Stopped => write!(out, "it was stopped"),
            Self::TimedOut { limit } => write!(out, "the time limit of {limit} s was reached"),
            Self::HarnessFailed { why } => write!(out, "the agent program could not be run: {why}"),
            Self::UsageLimit { why } => write!(out, "{why}"),
            Self::Budget { used, limit, unit: BudgetUnit::Tokens } => {
                write!(
                    out,
                    "{} tokens are used, and {} are allowed",
                    grouped(*used),
                    grouped(*limit)
                )
            }
            Self::Budget { used, limit, unit: BudgetUnit::Money } => {
                write!(out, "{} are used, and {} are allowed", Dollars(*used), Dollars(*limit))
            }
            Self::CorruptState => write!(out, "the state file is still unreadable"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_group_in_threes() {
        let words = |used, limit| {
            TerminalReason::Budget { used, limit, unit: BudgetUnit::Tokens }.to_string()
        };
        assert_eq!(words(999, 0), "999 tokens are used, and 0 are allowed");
        assert_eq!(words(1000, 200_100), "1,000 tokens are used, and 200,100 are allowed");
        assert!(words(u64::MAX, 1_002_003).starts_with("18,446,744,073,709,551,615 tokens"));
        assert!(words(1, 1_002_003).ends_with("and 1,002,003 are allowed"));
    }

    #[test]
    fn reasons_are_read_as_written() {
        let words = || "1 \"x\"".to_owned();
        let all = [
            TerminalReason::Completed,
            TerminalReason::MaxIters { limit: 7 },
            TerminalReason::NoProgress { stall: Stall::SameFingerprint, times: 3 },
            TerminalReason::TaskFailed { task: words(), used: 4, limit: 5 },
            TerminalReason::Blocked { need: words(), by: Obstacle::Other },
            TerminalReason::Blocked { need: words(), by: Obstacle::Denial },
            TerminalReason::Blocked { need: words(), by: Obstacle::FolderGone },
            TerminalReason::Cancelled,
            TerminalReason::Stopped,
            TerminalReason::TimedOut { limit: u64::MAX },
            TerminalReason::HarnessFailed { why: words() },
            TerminalReason::UsageLimit { why: words() },
            TerminalReason::Budget { used: u64::MAX, limit: 1, unit: BudgetUnit::Tokens },
            TerminalReason::Budget { used: 3, limit: 1, unit: BudgetUnit::Money },
            TerminalReason::CorruptState,
        ];
        for reason in all {
            let text = serde_json::to_string(&reason).unwrap();
            assert_eq!(serde_json::from_str::<TerminalReason>(&text).unwrap(), reason, "{text}");
        }
        let turned = r#"{"more": [1], "times": 2, "stall": "no_commit", "reason": "no_progress"}"#;
        let reason = TerminalReason::NoProgress { stall: Stall::NoCommit, times: 2 };
        assert_eq!(serde_json::from_str::<TerminalReason>(turned).unwrap(), reason);
        for wrong in [
            "{}",
            r#"{"reason": "done"}"#,
            r#"{"reason": 7}"#,
            r#"{"reason": "no_progress", "times": 2}"#,
            r#"{"reason": "max_iters", "limit": "7"}"#,
            "\"completed\"",
            "[]",
        ] {
            assert!(serde_json::from_str::<TerminalReason>(wrong).is_err(), "{wrong}");
        }
    }
}
