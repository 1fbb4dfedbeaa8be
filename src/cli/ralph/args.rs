//! The arguments of `spool ralph`, as they are typed.

use crate::cli::context::Where;
use crate::runner::options::{AgentArgument, CHANGE, LIMITS, RunnerSettings, Set};

/// Run an agent again and again until a change is done
///
/// Each iteration is a fresh run of the agent program. Between two of them `spool` looks at the task list,
/// the checks, the commits and the agent's last words, and decides whether the loop continues. It always ends
/// with a reason, a line that says it, and an exit code of its own.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each one is a flag")]
#[command(after_help = SHORT_EXAMPLES, after_long_help = EXAMPLES)]
pub struct RalphArgs {
    /// What is to be done, in quotes; after `--` when it begins with a dash [default: the open tasks of the task list]
    #[arg(value_name = "PROMPT")]
    pub prompt: Option<String>,

    #[command(flatten)]
    pub settings: RunnerSettings,

    /// Arguments for the agent program itself, such as --mcp-config FILE
    #[arg(last = true, value_name = "AGENT_ARGS")]
    pub rest: Vec<Set<AgentArgument>>,

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

// One line a paragraph: clap breaks them at the width of the terminal. What is laid out in columns fits 80.
const SHORT_EXAMPLES: &str = "\
Examples:
  spool ralph --harness demo                         watch one, without an agent
  spool ralph \"Build it\" --change 002-01_add-login   until every box is ticked
  spool ralph \"Build it\" --change login --dry-run    what would happen
`spool ralph --help` has more of them, the files and the exit codes.";

const EXAMPLES: &str = "\
Examples:
  spool ralph --harness demo                         watch one, without an agent
  spool ralph \"Build it\" --change 002-01_add-login   until every box is ticked
  spool ralph \"Build it\" --change 2-1 --dry-run      what would happen
  spool ralph \"Build it\" --change login --allow-all  no tool asks: for a sandbox
  spool ralph --change login --status                its state, from elsewhere
  spool ralph --change login --add-context \"Leave the database alone\"
  spool ralph \"Build it\" --change login --harness codex --model gpt-5-codex
  spool ralph \"Build it\" --change login --harness \"acp:opencode acp\"
  spool ralph \"Build it\" --change login --harness-command \"agent {prompt_file}\"
Until the tests pass:
  spool ralph \"Fix it\" --change login --done check --check \"cargo test\"
Overnight, a commit after each iteration:
  spool ralph --prompt-file night.md --change login --max-runtime 8h --commit --max-limit-wait 6h

Times:
  90s, 30m and 1h30m; a plain number is minutes where it does not say seconds.
  No limit counts the time in which the machine sleeps or Ctrl-Z has stopped the loop, and its agent with it.

Changes:
  .spool/changes/ID/ and openspec/changes/ID/ with a proposal.md, or a spec-kit feature. In a project with features alone, the current one is offered. A short form counts when only one change answers to it. An archived change is never chosen. On a terminal you may leave --change out and choose from a list.

Files with settings:
  ~/.config/ralph-speckit/ralph.toml (or below $XDG_CONFIG_HOME), for all your projects
  .spool/ralph.toml in a project of any kind
  What you type is stronger than the project's file, and that is stronger than yours. Each long flag above, from --change to --json, is a key, but for --trust-project and --ignore-checklists:
    max-iterations = 20
    iteration-timeout = \"1h30m\"
    check = [\"cargo test\", \"cargo clippy\"]
  A project's file comes with the repository: allow-all, permission-mode, allow, deny, agent-args, prices, no-stay-awake and harness-command are refused there. harness, fallback-harness, check, review and its settings, commit, done, completion-promise and promise-match need your trust there: run `spool trust`, use --trust-project, or name the project in your own file:
    trusted-projects = [\"/path/to/the/project\"]
  Without it a limit, grace, retry-pause, disk-wait, proof or strict of that file counts only where it is stricter than yours or the default; a higher limit is named and does not count, and 0 is refused.

Exit codes:
  0 done · 1 failure · 2 wrong usage
  3 iterations used up · 4 no commits · 5 nothing changes
  6 a person is needed · 7 time is up · 8 tokens or money used up
  9 the agent program failed
  10 the task list stayed unreadable
  11 done, but --strict finds something to look at
  12 another runner has the change or the work tree
  13 at a usage limit (see --max-limit-wait)
  129, 130, 131, 143 ended by a closed terminal, by Ctrl-C or `spool stop`, by Ctrl-\\, by SIGTERM";
