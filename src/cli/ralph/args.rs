//! The arguments of `spool ralph`, as they are typed.

use crate::cli::Where;
use crate::runner::options::keys;
use crate::runner::options::{Origin, Setting};

/// Run an agent program again and again until a change is done
///
/// Each iteration is a fresh run of the agent program. Between two of them `spool` looks at the task list,
/// the checks, the commits and the agent's last words, and decides whether the loop goes on. It always ends
/// with a reason, a line that says it, and an exit code of its own.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each one is a flag")]
#[command(after_help = SHORT_EXAMPLES, after_long_help = EXAMPLES)]
pub struct RalphArgs {
    /// What is to be done, in quotes; behind `--` when it begins with a dash
    #[arg(value_name = "PROMPT")]
    pub prompt: Option<String>,

    #[command(flatten)]
    pub settings: SettingArgs,

    /// Show where the loop of a change stands, and its last iterations
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

    /// Let the project's `.spool/ralph.toml` name checks and the agent program, commit, and lift limits, this once
    #[arg(long, help_heading = CHANGE)]
    pub trust_project: bool,
    #[command(flatten)]
    pub place: Where,
}

/// The flags that can stand in a file as well; what is typed wins.
#[derive(clap::Args)]
pub struct SettingArgs {
    /// The change: its id, or a short form of it such as 2-1, or a word of its name
    #[arg(long, value_name = "ID", help_heading = CHANGE)]
    change: Option<String>,
    /// Only changes of this module: 002 of 002-01_add-login
    #[arg(long, value_name = "NUMBER", help_heading = CHANGE)]
    module: Option<String>,
    /// Read the prompt from this file
    #[arg(long, value_name = "PATH", conflicts_with = "prompt", help_heading = CHANGE)]
    prompt_file: Option<String>,
    /// Never ask; without --change that is an error
    #[arg(long, value_name = "BOOL", help_heading = CHANGE, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    no_interactive: Option<String>,

    /// The agent program: claude, opencode, codex, gemini, copilot, command, or demo, which plays on
    /// a throw-away project and needs nothing [default: claude]
    #[arg(long, value_name = "NAME", help_heading = AGENT)]
    harness: Option<String>,
    /// Any other program, by its command line; it gets the prompt on its standard input, or in place
    /// of {prompt} or {prompt_file}, the model in place of {model}, and an id of its session in place
    /// of {session}. No shell is involved
    #[arg(long, value_name = "COMMAND", help_heading = AGENT)]
    harness_command: Option<String>,
    /// The model, in the agent program's own words [default: its own choice]
    #[arg(long, value_name = "MODEL", help_heading = AGENT)]
    model: Option<String>,
    /// Let the agent use every tool without asking [also: --yolo, --dangerously-allow-all]
    #[arg(long, value_name = "BOOL", help_heading = AGENT, aliases = ["yolo", "dangerously-allow-all"], num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    allow_all: Option<String>,
    /// Go on with the session of the last iteration instead of a fresh one
    #[arg(long, value_name = "BOOL", help_heading = AGENT, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    continue_session: Option<String>,
    /// Commit after each iteration the files that it changed, and no others
    #[arg(long, value_name = "BOOL", help_heading = AGENT, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    commit: Option<String>,
    /// Leave with code 11 when it is done but something speaks against it, such as tasks that are gone
    #[arg(long, value_name = "BOOL", help_heading = DONE, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    strict: Option<String>,

    /// What counts as done: tasks (every box of tasks.md), manual (the promise), check (the checks
    /// alone) [default: tasks where there is a tasks.md, otherwise manual]
    #[arg(long, value_name = "WHAT", help_heading = DONE)]
    done: Option<String>,
    /// The token that the agent writes as <promise>TOKEN</promise> when all is done [default: COMPLETE]
    #[arg(long, value_name = "TOKEN", help_heading = DONE)]
    completion_promise: Option<String>,
    /// Where the promise has to be in the agent's final text: own-line, alone on the last line, or
    /// anywhere outside of code, quotation marks and denials [default: own-line]
    #[arg(long, value_name = "WHERE", help_heading = DONE)]
    promise_match: Option<String>,
    /// A command that has to pass before the loop is done; may be given more than once
    #[arg(long, value_name = "COMMAND", help_heading = DONE)]
    check: Vec<String>,
    /// The longest that each check may take; a plain number is seconds [default: 300]
    #[arg(long, value_name = "SECONDS", help_heading = DONE)]
    check_timeout: Option<String>,
    /// Believe no promise before this iteration [default: 0]
    #[arg(long, value_name = "N", help_heading = DONE)]
    min_iterations: Option<String>,

    /// End after this many iterations; 0 for no limit [default: 50]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    max_iterations: Option<String>,
    /// End after this many iterations in a row without a commit; 0 for never [default: 0]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    stall_threshold: Option<String>,
    /// End after this many iterations in a row that changed nothing; 0 for never [default: 10]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    no_progress: Option<String>,
    /// Unless this is set, the first three end the loop when none of them gets any answer: otherwise,
    /// end after this many failed runs that changed nothing in a row [default: 12]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    max_failures: Option<String>,
    /// The longest that an iteration may take; 0 for no limit [default: 60 minutes]
    #[arg(long, value_name = "TIME", help_heading = LIMITS)]
    iteration_timeout: Option<String>,
    /// The longest that the agent program may print nothing; 0 for no limit [default: 0]
    #[arg(long, value_name = "TIME", help_heading = LIMITS)]
    idle_timeout: Option<String>,
    /// The longest that the whole loop may take; 0 for no limit [default: 0]
    #[arg(long, value_name = "TIME", help_heading = LIMITS)]
    max_runtime: Option<String>,
    /// The most tokens that the loop may use; 0 for no limit [default: 0]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    token_budget: Option<String>,
    /// Time between asking the agent program to end and killing it; a plain number is seconds [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = LIMITS)]
    grace: Option<String>,
    /// The pause after a failed run, doubled with each more in a row up to 15 minutes; a plain number
    /// is seconds [default: 5s]
    #[arg(long, value_name = "TIME", help_heading = LIMITS)]
    retry_pause: Option<String>,

    /// Show everything that the agent program prints
    #[arg(short, long, conflicts_with = "quiet", help_heading = SCREEN)]
    verbose: bool,
    /// Show only the loop's own lines
    #[arg(short, long, help_heading = SCREEN)]
    quiet: bool,
    /// Print JSON for programs, one object a line
    #[arg(long, value_name = "BOOL", help_heading = SCREEN, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    json: Option<String>,
}

const CHANGE: &str = "Which change";
const AGENT: &str = "The agent";
const DONE: &str = "When it is done";
const LIMITS: &str = "What ends it otherwise";
const SCREEN: &str = "On the screen";
const RUNNING: &str = "Beside a run";

const SHORT_EXAMPLES: &str = "\
Examples:
  spool ralph --harness demo                          watch one; no agent, no account, no network
  spool ralph \"Build it\" --change 002-01_add-login    until every box of its tasks.md is ticked
  spool ralph \"Build it\" --change login --dry-run     what would happen, and the first prompt
`spool ralph --help` has more of them, the files and the exit codes.";

const EXAMPLES: &str = "\
Examples:
  spool ralph --harness demo                          watch one; no agent, no account, no network
  spool ralph \"Build it\" --change 002-01_add-login    until every box of its tasks.md is ticked
  spool ralph \"Build it\" --change 2-1 --dry-run       what would happen, and the first prompt
  spool ralph \"Build it\" --change login --allow-all   no tool asks for consent: for a sandbox
  spool ralph \"Mend it\" --change login --done check --check \"cargo test\"
                                                      until the tests pass
  spool ralph --prompt-file night.md --change login --max-runtime 8h --idle-timeout 20m --commit
                                                      overnight, a commit after each iteration
  spool ralph \"Build it\" --change login --harness codex --model gpt-5-codex
  spool ralph \"Build it\" --change login --harness-command \"my-agent --file {prompt_file}\"
  spool ralph --change login --status                 from another terminal: where it stands
  spool ralph --change login --add-context \"Leave the database alone\"

Times:
  90s, 30m and 1h30m; a plain number is minutes where it does not say seconds.

Changes:
  .spool/changes/ID/ and openspec/changes/ID/ with a proposal.md, or a spec-kit feature. In a
  project with features alone, the current one is offered. A short form counts when only one
  change answers to it. Archived changes are never meant. On a terminal you may leave --change
  out and choose from a list.

Files with settings:
  ~/.config/ralph-speckit/ralph.toml (or below $XDG_CONFIG_HOME), for all your projects
  .spool/ralph.toml in a project of any kind
  What you type is stronger than the project's file, and that is stronger than yours. Each long
  flag above, from --change to --json, is a key, but for --trust-project:
    max-iterations = 20
    iteration-timeout = \"1h30m\"
    check = [\"cargo test\", \"cargo clippy\"]
  A project's file comes with the repository: allow-all and harness-command are refused there.
  harness, check, commit, done, completion-promise and promise-match need your trust there: run
  `spool trust`, use --trust-project, or name the project in your own file:
    trusted-projects = [\"/path/to/the/project\"]
  Without it a limit, grace, retry-pause or strict of that file counts only where it is stricter
  than yours or the default; a higher limit is named and does not count, and 0 is refused.

Exit codes:
  0 done   1 failure   2 wrong usage   3 iterations used up   4 no commits   5 nothing changes
  6 a person is needed   7 time is up   8 tokens used up   9 the agent program failed
  10 the task list stayed unreadable   11 done, but --strict finds something to look at
  129, 130, 131, 143 ended by a closed terminal, by Ctrl-C or `spool stop`, by Ctrl-\\, by SIGTERM";

impl SettingArgs {
    /// Returns what was typed, as settings.
    pub fn typed(&self) -> Vec<Setting> {
        let texts = [
            ("change", &self.change),
            ("module", &self.module),
            ("prompt-file", &self.prompt_file),
            ("no-interactive", &self.no_interactive),
            ("harness", &self.harness),
            ("harness-command", &self.harness_command),
            ("model", &self.model),
            ("allow-all", &self.allow_all),
            ("continue-session", &self.continue_session),
            ("commit", &self.commit),
            ("strict", &self.strict),
            ("done", &self.done),
            ("completion-promise", &self.completion_promise),
            ("promise-match", &self.promise_match),
            ("check-timeout", &self.check_timeout),
            ("min-iterations", &self.min_iterations),
            ("max-iterations", &self.max_iterations),
            ("stall-threshold", &self.stall_threshold),
            ("no-progress", &self.no_progress),
            ("max-failures", &self.max_failures),
            ("iteration-timeout", &self.iteration_timeout),
            ("idle-timeout", &self.idle_timeout),
            ("max-runtime", &self.max_runtime),
            ("token-budget", &self.token_budget),
            ("grace", &self.grace),
            ("retry-pause", &self.retry_pause),
            ("json", &self.json),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(name, value)| value.as_ref().map(|value| (name, vec![value.clone()])));
        let switches = [("verbose", self.verbose), ("quiet", self.quiet)].into_iter();
        let switches =
            switches.filter(|(_, on)| *on).map(|(name, _)| (name, vec!["true".to_owned()]));
        let check = (!self.check.is_empty()).then(|| ("check", self.check.clone()));
        let all = texts.chain(switches).chain(check);
        all.filter_map(|(name, values)| {
            let key = keys::find(name)?;
            Some(Setting { key, values, origin: Origin::CommandLine })
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::options::keys::KEYS;

    #[test]
    fn every_setting_is_a_flag_and_every_flag_a_setting() {
        let command = <SettingArgs as clap::Args>::augment_args(clap::Command::new("ralph"));
        let mut flags: Vec<String> =
            command.get_arguments().filter_map(|it| it.get_long().map(str::to_owned)).collect();
        let mut keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        keys.retain(|name| *name != "trusted-projects");
        flags.sort_unstable();
        keys.sort_unstable();
        assert_eq!(flags, keys);
    }

    #[test]
    fn every_flag_that_is_typed_arrives_under_its_name() {
        use clap::FromArgMatches;
        let command = <SettingArgs as clap::Args>::augment_args(clap::Command::new("ralph"))
            .arg(clap::Arg::new("prompt"));
        for key in KEYS.iter().filter(|key| key.name != "trusted-projects") {
            let flag = match key.name {
                "verbose" | "quiet" => format!("--{}", key.name),
                _ => format!("--{}=true", key.name),
            };
            let matches = command.clone().get_matches_from(["ralph", &flag]);
            let typed = SettingArgs::from_arg_matches(&matches).unwrap().typed();
            assert_eq!(typed.len(), 1, "{flag}: {typed:?}");
            assert_eq!((typed[0].key.name, typed[0].value()), (key.name, "true"));
        }
    }
}
