//! `spool ralph --dry-run --json`.

use serde::Serialize;

use super::loops::LoopCheck;
use super::plain::JsonNumber;
use super::runner::DoneWhen;
use crate::engine::aside::Aside;

/// What `spool ralph --dry-run --json` prints: what a run would do.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanForm {
    /// The change; null for the demo, which makes its own.
    pub change: Option<PlannedChange>,
    /// The agent program, and how it would be started.
    pub agent: PlannedAgent,
    /// The agents that continue where that one is at a usage limit or overloaded, in their order.
    pub fallbacks: Vec<PlannedAgent>,
    /// When the work counts as done; null for the demo.
    pub done_when: Option<DoneWhen>,
    /// The promise with which the agent claims completion; null where none is asked for.
    pub promise: Option<String>,
    /// The iteration before which nothing counts as done; 0 for none.
    pub min_iterations: u32,
    /// The checks that would run, in their order.
    pub checks: Vec<LoopCheck>,
    /// The command that tells a person of the end; null for none.
    pub notify: Option<String>,
    /// The file of spec-kit's converge command that has to run before the end; null where it was not asked for.
    pub converge: Option<String>,
    /// The mandatory extension hooks of spec-kit, in words; null for none.
    pub hooks: Option<String>,
    /// The checklists that are open although the loop would start.
    pub open_checklists: Vec<String>,
    /// The limits.
    pub limits: PlannedLimits,
    /// How many checks the project asks of every loop.
    pub checks_of_every_loop: JsonNumber,
    /// The settings that were made; all others are as they are by default.
    pub settings: Vec<PlannedSetting>,
    /// Settings of the project that do not count, because it is not trusted.
    pub left_out: Vec<PlannedSetting>,
    /// The first prompt; null for the demo.
    pub prompt: Option<String>,
}

/// A change, as a run would find it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlannedChange {
    /// Its name.
    pub name: String,
    /// Its module; null for none.
    pub module: Option<String>,
    /// The folder in which the agent works.
    pub work_tree: String,
    /// The folder with the loop's files.
    pub folder: String,
    /// The task list; null where there is none.
    pub task_list: Option<String>,
    /// Its lines with a box that do not count, or have an odd mark.
    pub asides: Vec<Aside>,
    /// The files that the prompt is made of, each with what becomes of it, in words.
    pub files: Vec<String>,
}

/// The agent program of a run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlannedAgent {
    /// The agent program.
    pub harness: String,
    /// The model that is asked for; null for the agent program's own choice.
    pub model: Option<String>,
    /// Whether every tool runs without asking.
    pub allow_all: bool,
    /// Whether each iteration continues with the session of the one before.
    pub continue_session: bool,
    /// Whether the runner commits after each iteration.
    pub commit: bool,
    /// How it is started; null for the demo, and where it cannot be started.
    pub command_line: Option<PlannedCommand>,
    /// Why it cannot be started; null where it can.
    pub problem: Option<String>,
}

/// How an agent program is started.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlannedCommand {
    /// Its words, the program first; `THE_PROMPT` and `SCRATCH` stand for the prompt and for a temporary folder.
    pub words: Vec<String>,
    /// What is set in its environment, each as `NAME=VALUE`.
    pub variables: Vec<String>,
    /// Bytes on its standard input; null for none.
    pub input_bytes: Option<JsonNumber>,
}

/// The limits of a run; null for a limit that does not hold.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlannedLimits {
    /// Iterations.
    pub max_iterations: Option<u32>,
    /// Iterations in a row without a commit.
    pub stall_threshold: Option<u32>,
    /// Iterations in a row that change nothing.
    pub no_progress: Option<u32>,
    /// Failed runs of the agent program in a row.
    pub max_failures: Option<u32>,
    /// Seconds that an iteration may take.
    pub iteration_seconds: Option<f64>,
    /// Seconds that the agent program may be silent.
    pub idle_seconds: Option<f64>,
    /// Seconds that the whole loop may take.
    pub runtime_seconds: Option<f64>,
    /// Tokens that the loop may use.
    pub tokens: Option<JsonNumber>,
    /// Dollars that the loop may cost.
    pub cost_usd: Option<f64>,
    /// Seconds to wait at most for a usage limit, 0 for not at all.
    pub limit_wait_seconds: Option<f64>,
    /// Whether a person on the terminal is asked at a usage limit.
    pub asks_at_usage_limit: bool,
    /// Seconds between asking the agent program to end and killing it.
    pub grace_seconds: f64,
    /// Seconds of the pause after a failed run.
    pub retry_seconds: f64,
}

/// A setting that was made.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlannedSetting {
    /// Its name, that of the flag without the dashes.
    pub name: String,
    /// What was written: one value, or those of a list.
    pub values: Vec<String>,
    /// Where it was made, in words.
    pub from: String,
}
