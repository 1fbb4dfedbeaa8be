//! The arguments of `spool ralph`, as they are typed.

use crate::cli::context::Where;
use crate::settings::{CHANGE, Flags, LIMITS, RUNNER};

/// Run an agent again and again until a change is done
///
/// Each iteration is a fresh run of the agent program. Between two of them `spool` looks at the task list,
/// the checks, the commits and the agent's last words, and decides whether the loop continues. It always ends
/// with a reason, a line that says it, and an exit code of its own.
#[derive(clap::Args)]
#[command(after_help = SHORT_EXAMPLES, after_long_help = EXAMPLES)]
pub struct RalphArgs {
    /// What is to be done, in quotes; after `--` when it begins with a dash [default: the open tasks of the task list]
    #[arg(value_name = "PROMPT")]
    pub prompt: Option<String>,

    #[command(flatten)]
    pub settings: Flags<RUNNER>,

    /// Arguments for the agent program itself, such as --mcp-config FILE
    #[arg(last = true, value_name = "AGENT_ARGS")]
    pub rest: Vec<String>,

    /// Show the state of the loop of a change, and its last iterations
    #[arg(long, group = "action", conflicts_with = "prompt", help_heading = RUNNING)]
    pub status: bool,
    /// Add words to the prompt of every iteration from the next one on, also while the loop runs
    #[arg(long, value_name = "TEXT", group = "action", conflicts_with = "prompt", help_heading = RUNNING)]
    pub add_context: Option<String>,
    /// Take away all words that were added
    #[arg(long, group = "action", conflicts_with = "prompt", help_heading = RUNNING)]
    pub clear_context: bool,
    /// Print what would happen, with the first prompt, and start nothing
    #[arg(long, group = "action", help_heading = RUNNING)]
    pub dry_run: bool,
    /// List the agent programs with what each can do for the loop, and start nothing
    #[arg(long, group = "action", conflicts_with = "prompt", help_heading = RUNNING)]
    pub list_harnesses: bool,

    /// Begin at iteration 1 with whole budgets, although the last run was stopped and this one would continue with what it has used
    #[arg(long, conflicts_with = "action", help_heading = LIMITS)]
    pub restart: bool,
    /// Let the project's `.spool/ralph.toml` name checks and the agent program, commit, and lift limits, this once
    #[arg(long, help_heading = CHANGE)]
    pub trust_project: bool,
    /// Continue although checklists of the spec-kit feature are open
    #[arg(long, help_heading = CHANGE)]
    pub ignore_checklists: bool,
    #[command(flatten)]
    pub place: Where,
}

const RUNNING: &str = "Beside a run";

// One line a paragraph: clap wraps them at the terminal's width. Columns fit 80.
const SHORT_EXAMPLES: &str = include_str!("short-examples.txt").trim_ascii_end();

const EXAMPLES: &str = include_str!("examples.txt").trim_ascii_end();
