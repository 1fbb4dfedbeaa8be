//! `spool ralph --json`: one line for each event.

use serde::Serialize;

use super::iteration::IterationForm;
use super::loops::LoopCheck;
use super::plain::{JsonNumber, JsonTime};
use super::proofs::ProofsForm;
use super::runner::{AgentShareForm, DoneWhen};
use super::spent::Spent;
use super::summary::RunSummary;

/// One line of `spool ralph --json`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventForm {
    /// When it happened.
    pub at: Option<JsonTime>,
    /// What happened.
    #[serde(flatten)]
    pub event: RunnerEvent,
    /// The same in words, as a person reads it.
    pub words: String,
}

/// What happened in a runner's loop.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunnerEvent {
    /// The demo has made its project.
    Demo {
        /// The folder of the project.
        folder: String,
    },
    /// A runner before this one was killed.
    Recovered {
        /// Its process.
        process: u32,
    },
    /// The loop begins.
    Start {
        /// The change.
        change: String,
        /// The module of the change; null for none.
        module: Option<String>,
        /// The agent program.
        harness: String,
        /// Its version; null where it is not known.
        harness_version: Option<String>,
        /// When the work counts as done.
        done_when: DoneWhen,
        /// The last iteration that may run; null for no limit.
        max_iterations: Option<u32>,
        /// The process of the runner.
        process: u32,
    },
    /// The loop was stopped, and goes on with what it has used.
    Continued {
        /// Iterations that it has used.
        iterations: u32,
        /// Seconds that it ran.
        seconds: JsonNumber,
        /// Tokens, with those of reviews; null where nothing reports them.
        tokens: Option<JsonNumber>,
        /// Dollars that it cost, with its reviews, as far as it is known; null where nothing tells.
        cost_usd: Option<f64>,
        /// Whether a part of that is an estimate, by the prices that a person gave.
        cost_estimated: bool,
    },
    /// A limit ended the loop before this one, which begins with whole budgets.
    Restarted {
        /// The name of that end.
        reason: &'static str,
    },
    /// The agent changed: to a fallback, because the other is at a usage limit or overloaded, or back to the first choice.
    Agent {
        /// The agent program.
        harness: String,
        /// The model that it is asked for; null for its own choice.
        model: Option<String>,
        /// When the one before is tried again; null for the first choice.
        until: Option<JsonTime>,
    },
    /// Commands that will run were armed.
    Armed {
        /// The checks; empty where Verify commands of tasks were armed.
        checks: Vec<LoopCheck>,
    },
    /// What an interrupted iteration had left was committed.
    Committed {
        /// The files.
        files: Vec<String>,
    },
    /// The unfinished work of an iteration was kept.
    Kept {
        /// The git ref that holds it.
        name: String,
        /// Files that are only in the work tree: they were too large, cannot be read, or are repositories of their own.
        left_out: Vec<String>,
    },
    /// An iteration begins.
    Iteration {
        /// Its number.
        number: u32,
        /// The id of the next task; null for none.
        task: Option<String>,
    },
    /// The agent said something.
    Said,
    /// The agent called a tool.
    Called {
        /// The tool.
        tool: String,
    },
    /// The agent program reported a fault.
    Trouble,
    /// A check begins.
    Check {
        /// The command.
        run: String,
    },
    /// A check has ended.
    Checked {
        /// The command.
        run: String,
        /// Whether it passed.
        passed: bool,
    },
    /// A box was opened again: nothing proves the task.
    TakenBack {
        /// The id of the task.
        task: String,
        /// What it lacks, in words.
        why: String,
    },
    /// An iteration has ended.
    IterationEnd {
        /// The iteration.
        iteration: Box<IterationForm>,
    },
    /// Processes that the agent had left running were ended.
    Survivors {
        /// How many.
        processes: JsonNumber,
    },
    /// The loop waits.
    Waiting {
        /// For what, in words.
        r#for: String,
        /// Until when.
        until: Option<JsonTime>,
    },
    /// The runner was stopped, by Ctrl-Z, and its agent with it. No limit counts that time.
    Standstill {
        /// Seconds that the runner was stopped.
        stopped_seconds: JsonNumber,
    },
    /// The loop is paused.
    Paused,
    /// The loop continues after a pause.
    Resumed,
    /// Somebody ends the loop.
    Ending,
    /// The loop has ended.
    End(Box<RunnerEnd>),
}

/// The end of a runner's loop.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunnerEnd {
    /// The status, as `loop-state.json` has it: `done`, `stuck`, `stalled` or `stopped`; `killed` where `spool log --summary` shows a
    /// run whose runner was killed.
    pub status: String,
    /// The name of the end, one of those in docs/ends.md; `killed` in the same way.
    pub reason: &'static str,
    /// The exit code of the runner; 137 where it was killed.
    pub exit_code: u8,
    /// Iterations of this run.
    pub iterations: u32,
    /// Seconds that the run took.
    pub seconds: JsonNumber,
    /// What it used and cost, without its reviews.
    #[serde(flatten)]
    pub spent: Spent,
    /// What each agent did of that, in the order in which they first worked.
    pub agents: Vec<AgentShareForm>,
    /// Tokens that reviews used beside that.
    pub review_tokens: JsonNumber,
    /// Dollars that reviews cost beside that, as far as it is known; null where nothing tells.
    pub review_cost_usd: Option<f64>,
    /// Whether a part of that is an estimate, by the prices that a person gave.
    pub review_cost_estimated: bool,
    /// Tools that were denied.
    pub denied_tools: Vec<String>,
    /// Commits.
    pub commits: JsonNumber,
    /// Files that changed.
    pub files_changed: JsonNumber,
    /// How many tasks are done of how many, such as `3/9`; null without a list.
    pub tasks: Option<String>,
    /// The tasks whose tick was taken back in this run because nothing proved it.
    pub taken_back: Vec<String>,
    /// How well the tasks are proved that were ticked in this run; null where nothing is known of any task.
    pub proofs: Option<ProofsForm>,
    /// What a person does next, in words; null for nothing.
    pub next: Option<String>,
    /// What a person should look at although the loop is done.
    pub doubts: Vec<String>,
    /// The git ref with the unfinished work of the last try; null for none.
    pub kept_as: Option<String>,
    /// What changed, what each finished task cost, and how to read it.
    pub summary: RunSummary,
}

impl EventForm {
    pub fn now(event: RunnerEvent, words: impl Into<String>) -> Self {
        let at = JsonTime::of(crate::world::now());
        Self { at, event, words: words.into() }
    }
}
