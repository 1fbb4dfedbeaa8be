//! Every setting of `spool ralph`: a long flag and a key of its TOML files are one thing, read into one typed value.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use toml::de::DeValue;

use super::choices::DoneWhen;
use super::value::{
    AgentArgument, CheckCommand, CommandLine, Model, Money, Number, PathPattern, SettingValue,
    Time, Token, Word,
};
use crate::engine::ReviewWhen;
use crate::engine::proof::LeastProof;
use crate::engine::{Check, PromiseMatch};
use crate::runner::harness::HarnessChoice;
use crate::runner::prices::Price;

/// The heading of the flags that say which change is meant.
pub const CHANGE: &str = "Which change";
const AGENT: &str = "The agent";
const DONE: &str = "When it is done";
/// The heading of the flags that say what ends a loop otherwise.
pub const LIMITS: &str = "What ends it otherwise";
const SCREEN: &str = "On the screen";

/// The settings of one place, or of all places together.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct RunnerSettings {
    /// The change: its id, or a short form of it such as 2-1, or a word of its name
    #[arg(short, long, value_name = "ID", help_heading = CHANGE)]
    pub change: Option<Set<String>>,
    /// Only changes of this module: 002 of 002-01_add-login
    #[arg(long, value_name = "NUMBER", help_heading = CHANGE)]
    pub module: Option<Set<String>>,
    /// Read the prompt from this file
    #[arg(long, value_name = "PATH", conflicts_with = "prompt", help_heading = CHANGE)]
    pub prompt_file: Option<Set<String>>,
    /// Never ask; without --change that is an error
    #[arg(long, value_name = "BOOL", help_heading = CHANGE, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_interactive: Option<Set<bool>>,
    /// Projects whose files the person trusts; on the command line, `--trust-project` stands for it.
    #[arg(skip)]
    pub trusted_projects: Vec<Set<String>>,

    /// The agent program: claude, opencode, codex, gemini, copilot, "acp:COMMAND" for any that speaks the Agent Client
    /// Protocol, command, or demo, which plays on a throw-away project and needs nothing [default: claude]
    #[arg(long, value_name = "NAME", help_heading = AGENT)]
    pub harness: Option<Set<HarnessChoice>>,
    /// Any other program, by its command line; it gets the prompt on its standard input, or in place
    /// of {prompt} or {prompt_file}, the model in place of {model}, and an id of its session in place
    /// of {session}. No shell is involved
    #[arg(long, value_name = "COMMAND", help_heading = AGENT)]
    pub harness_command: Option<Set<CommandLine>>,
    /// The model, in the agent program's own words [default: its own choice]
    #[arg(long, value_name = "MODEL", help_heading = AGENT)]
    pub model: Option<Set<Model>>,
    /// The model that continues where the first one is at a usage limit, until that is lifted, or was overloaded 3 times in a row,
    /// for 15 minutes
    #[arg(long, value_name = "MODEL", help_heading = AGENT)]
    pub fallback_model: Option<Set<Model>>,
    /// The agent program that continues like that, after the fallback model where both are given
    #[arg(long, value_name = "NAME", help_heading = AGENT)]
    pub fallback_harness: Option<Set<HarnessChoice>>,
    /// Let the agent use every tool without asking [also: --yolo, --dangerously-allow-all]
    #[arg(long, value_name = "BOOL", help_heading = AGENT, aliases = ["yolo", "dangerously-allow-all"], num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub allow_all: Option<Set<bool>>,
    /// What the agent may do without asking, in the agent program's own words: acceptEdits (claude), workspace-write
    /// (codex), auto_edit (gemini) [default: its own choice]
    #[arg(long, value_name = "MODE", help_heading = AGENT)]
    pub permission_mode: Option<Set<Word>>,
    /// Let this tool run without asking, in the agent program's own words, such as "Bash(cargo test *)"; may be given more
    /// than once
    #[arg(long, value_name = "TOOL", help_heading = AGENT)]
    pub allow: Vec<Set<Word>>,
    /// Let this tool never run; may be given more than once
    #[arg(long, value_name = "TOOL", help_heading = AGENT)]
    pub deny: Vec<Set<Word>>,
    /// An argument for the agent program itself; may be given more than once. All at once: after `--` at the end
    #[arg(long, value_name = "ARG", allow_hyphen_values = true, help_heading = AGENT)]
    pub agent_args: Vec<Set<AgentArgument>>,
    /// Continue the session of the last iteration instead of a fresh one
    #[arg(long, value_name = "BOOL", help_heading = AGENT, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub continue_session: Option<Set<bool>>,
    /// Commit after each iteration the files that it changed, and no others
    #[arg(long, value_name = "BOOL", help_heading = AGENT, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub commit: Option<Set<bool>>,
    /// Leave with code 11 when it is done but something speaks against it, such as tasks that are gone
    #[arg(long, value_name = "BOOL", help_heading = DONE, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub strict: Option<Set<bool>>,

    /// What counts as done: tasks (every box of tasks.md), manual (the promise), check (the checks
    /// alone) [default: tasks where there is a tasks.md, otherwise manual]
    #[arg(long, value_name = "WHAT", help_heading = DONE)]
    pub done: Option<Set<DoneWhen>>,
    /// The token that the agent writes as <promise>TOKEN</promise> when all is done [default: COMPLETE]
    #[arg(long, value_name = "TOKEN", help_heading = DONE)]
    pub completion_promise: Option<Set<Token>>,
    /// Where the promise has to be in the agent's final text: own-line, alone on the last line, or
    /// anywhere outside of code, quotation marks and denials [default: own-line]
    #[arg(long, value_name = "WHERE", help_heading = DONE)]
    pub promise_match: Option<Set<PromiseMatch>>,
    /// A command that has to pass before the loop is done; may be given more than once
    #[arg(long, value_name = "COMMAND", help_heading = DONE)]
    pub check: Vec<Set<CheckCommand>>,
    /// What a ticked task needs: files (work that can be seen, or a word of the agent why there is none), or word (every
    /// tick counts) [default: files]
    #[arg(long, value_name = "WHAT", help_heading = DONE)]
    pub proof: Option<Set<LeastProof>>,
    /// Files that the loop may not change unless a task names them, as a line of a .gitignore, such as "tests/**"; may be
    /// given more than once
    #[arg(long, value_name = "PATTERN", help_heading = DONE)]
    pub protect: Vec<Set<PathPattern>>,
    /// The longest that each check may take; a plain number is seconds [default: 300]
    #[arg(long, value_name = "SECONDS", help_heading = DONE)]
    pub check_timeout: Option<Set<Time<1>>>,
    /// Have another agent program review the work when all else says that it is done: it judges each requirement of spec.md
    #[arg(long, value_name = "BOOL", help_heading = DONE, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub review: Option<Set<bool>>,
    /// When it is made besides the end: phases (when all tasks of a phase are ticked), verify (when a [VERIFY] task is), or end
    /// [default: end]
    #[arg(long, value_name = "WHEN", help_heading = DONE)]
    pub review_when: Option<Set<ReviewWhen>>,
    /// The agent program that reviews: claude, opencode, codex, gemini or copilot [default: the one that works]
    #[arg(long, value_name = "NAME", help_heading = DONE)]
    pub review_harness: Option<Set<HarnessChoice>>,
    /// The model that reviews, in that program's own words
    #[arg(long, value_name = "MODEL", help_heading = DONE)]
    pub review_model: Option<Set<Model>>,
    /// The longest that a review may take [default: 15 minutes]
    #[arg(long, value_name = "TIME", help_heading = DONE)]
    pub review_timeout: Option<Set<Time<60>>>,
    /// The most tokens that a review may use [default: 5000000]
    #[arg(long, value_name = "N", help_heading = DONE)]
    pub review_token_budget: Option<Set<Number<1, { i64::MAX as u64 }>>>,
    /// Have spec-kit's converge command compare code and specification, in an iteration of its own, when every box is ticked and
    /// the checks pass: what it appends to the list is done before the end, at most twice
    #[arg(long, value_name = "BOOL", help_heading = DONE, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub converge: Option<Set<bool>>,
    /// Have optional tasks of the list count, such as `- [ ]* 1.2` of Kiro
    #[arg(long, value_name = "BOOL", help_heading = DONE, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub include_optional: Option<Set<bool>>,
    /// Believe no promise before this iteration [default: 0]
    #[arg(long, value_name = "N", help_heading = DONE)]
    pub min_iterations: Option<Set<Number<0>>>,

    /// End after this many iterations; 0 for no limit [default: 50]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    pub max_iterations: Option<Set<Number<0>>>,
    /// End after this many iterations in a row without a commit; 0 for never [default: 0]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    pub stall_threshold: Option<Set<Number<0>>>,
    /// End after 2 iterations that changed nothing because the agent was denied what it tried, and after this many
    /// iterations in a row that changed nothing; 0 for never [default: 10]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    pub no_progress: Option<Set<Number<0>>>,
    /// End after this many failed runs in a row that changed nothing; unless this is set, the first three end the loop when
    /// none of them gets any answer [default: 12]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    pub max_failures: Option<Set<Number<1>>>,
    /// The longest that an iteration may take; 0 for no limit [default: 60 minutes]
    #[arg(long, value_name = "TIME", help_heading = LIMITS)]
    pub iteration_timeout: Option<Set<Time<60>>>,
    /// The longest that the agent program may print nothing while a tool runs, and three times as long while its model
    /// thinks, where its output shows which; 0 for no limit [default: 0]
    #[arg(long, value_name = "TIME", help_heading = LIMITS)]
    pub idle_timeout: Option<Set<Time<60>>>,
    /// The longest that the whole loop may take, such as 8h; 0 for no limit [default: 0]
    #[arg(long, value_name = "TIME", help_heading = LIMITS)]
    pub max_runtime: Option<Set<Time<60>>>,
    /// The most tokens, also in the middle of an iteration, that the loop may use; 0 for no limit [default: 0]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    pub token_budget: Option<Set<Number<0, { i64::MAX as u64 }>>>,
    /// The most dollars that the loop may cost, also in the middle of an iteration where --prices is given or the
    /// agent program (opencode) says it there; 0 for no limit
    /// [default: 0]
    #[arg(long, value_name = "DOLLARS", help_heading = LIMITS)]
    pub max_usd: Option<Set<Money>>,
    /// Wait for a usage limit to be lifted, for this long at most, and then continue; 0 for no limit. Without it the loop ends
    /// there, or asks you on a terminal
    #[arg(long, value_name = "TIME", help_heading = LIMITS)]
    pub max_limit_wait: Option<Set<Time<60>>>,
    /// What a model costs, in dollars for a million tokens: MODEL=INPUT/OUTPUT/CACHE-READ/CACHE-WRITE, where the name may be
    /// the beginning of the model's; may be given more than once. For costs that the agent program does not report
    #[arg(long, value_name = "PRICE", help_heading = LIMITS)]
    pub prices: Vec<Set<Price>>,
    /// Do not ask the last iteration before a limit to leave a handoff.md for the next loop
    #[arg(long, value_name = "BOOL", help_heading = LIMITS, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_landing: Option<Set<bool>>,
    /// Let the machine fall asleep while the loop runs [default: it is kept awake where the system has a way]
    #[arg(long, value_name = "BOOL", help_heading = LIMITS, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_stay_awake: Option<Set<bool>>,
    /// Time between asking the agent program to end and killing it; a plain number is seconds [default: 10s]
    #[arg(long, value_name = "TIME", help_heading = LIMITS)]
    pub grace: Option<Set<Time<1>>>,
    /// The pause after a failed run, doubled with each more in a row up to 15 minutes; a plain number
    /// is seconds [default: 5s]
    #[arg(long, value_name = "TIME", help_heading = LIMITS)]
    pub retry_pause: Option<Set<Time<1>>>,

    /// Run this command when the loop has ended, within 5 s: it gets RALPH_ABOUT, RALPH_REASON,
    /// RALPH_WORDS and RALPH_PROJECT, and the words on its standard input
    #[arg(long, value_name = "COMMAND", help_heading = SCREEN)]
    pub notify: Option<Set<CheckCommand>>,
    /// Show everything that the agent program prints
    #[arg(short, long, conflicts_with = "quiet", help_heading = SCREEN, num_args = 0, default_missing_value = "true")]
    pub verbose: Option<Set<bool>>,
    /// Show only the loop's own lines
    #[arg(short, long, help_heading = SCREEN, num_args = 0, default_missing_value = "true")]
    pub quiet: Option<Set<bool>>,
    /// Print JSON for programs, one object a line
    #[arg(long, value_name = "BOOL", help_heading = SCREEN, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub json: Option<Set<bool>>,
}

/// Whether the project's own file may set something: it comes with a cloned repository, so it is the
/// word of the one who wrote that, not of the person at this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromProject {
    /// Yes: it starts nothing, allows nothing and lifts no limit.
    Free,
    /// Only to tighten what holds without it: a looser one does not count before the person trusts it.
    Limit,
    /// Only what the person trusts: it says which programs run, what they may change, or when the loop is done.
    Trusted,
    /// Never: it is about this machine.
    Never,
}

/// Gives the settings their names and says what a project may set.
macro_rules! settings {
    ($($field:ident $name:literal $rule:ident,)*) => {
        impl RunnerSettings {
            /// The names of all settings, in the order of the help.
            pub const NAMES: &[&str] = &[$($name),*];

            /// Sets a setting to a value of a file; `None` where there is no setting of this name, and an error in
            /// words that follow the name.
            pub(super) fn set(
                &mut self,
                name: &str,
                value: &DeValue<'_>,
                origin: Origin,
            ) -> Option<Result<(), String>> {
                match name {
                    $($name => Some(Field::read(value, origin).map(|it| self.$field = it)),)*
                    _ => None,
                }
            }

            /// Takes a setting away.
            pub fn remove(&mut self, name: &str) {
                match name {
                    $($name => self.$field = Default::default(),)*
                    _ => {}
                }
            }

            /// Returns what is set, the strongest place first.
            pub fn made(&self) -> Vec<Setting> {
                let made = [$(self.$field.made($name, FromProject::$rule)),*];
                let mut made: Vec<Setting> = made.into_iter().flatten().collect();
                made.sort_by(|one, other| one.origin.cmp(&other.origin));
                made
            }

            /// Returns these settings, and what only a weaker place has set. Two pairs are one thing each: the place
            /// that names an agent program or gives a command line decides, and the one that says how much is shown.
            fn over(self, mut weaker: Self) -> Self {
                if self.harness_command.is_some() {
                    weaker.harness = None;
                }
                if self.verbose.is_some() || self.quiet.is_some() {
                    (weaker.verbose, weaker.quiet) = (None, None);
                }
                Self { $($field: self.$field.or_weaker(weaker.$field)),* }
            }
        }
    };
}

settings! {
    change "change" Free,
    module "module" Free,
    prompt_file "prompt-file" Free,
    no_interactive "no-interactive" Free,
    trusted_projects "trusted-projects" Never,
    harness "harness" Trusted,
    harness_command "harness-command" Never,
    model "model" Free,
    fallback_model "fallback-model" Free,
    fallback_harness "fallback-harness" Trusted,
    allow_all "allow-all" Never,
    permission_mode "permission-mode" Never,
    allow "allow" Never,
    deny "deny" Never,
    agent_args "agent-args" Never,
    continue_session "continue-session" Free,
    commit "commit" Trusted,
    strict "strict" Limit,
    done "done" Trusted,
    completion_promise "completion-promise" Trusted,
    promise_match "promise-match" Trusted,
    check "check" Trusted,
    proof "proof" Limit,
    protect "protect" Free,
    check_timeout "check-timeout" Limit,
    review "review" Trusted,
    review_when "review-when" Trusted,
    review_harness "review-harness" Trusted,
    review_model "review-model" Trusted,
    review_timeout "review-timeout" Trusted,
    review_token_budget "review-token-budget" Trusted,
    converge "converge" Limit,
    include_optional "include-optional" Limit,
    min_iterations "min-iterations" Limit,
    max_iterations "max-iterations" Limit,
    stall_threshold "stall-threshold" Limit,
    no_progress "no-progress" Limit,
    max_failures "max-failures" Limit,
    iteration_timeout "iteration-timeout" Limit,
    idle_timeout "idle-timeout" Limit,
    max_runtime "max-runtime" Limit,
    token_budget "token-budget" Limit,
    max_usd "max-usd" Limit,
    max_limit_wait "max-limit-wait" Limit,
    prices "prices" Never,
    no_landing "no-landing" Free,
    no_stay_awake "no-stay-awake" Never,
    grace "grace" Limit,
    retry_pause "retry-pause" Limit,
    notify "notify" Trusted,
    verbose "verbose" Free,
    quiet "quiet" Free,
    json "json" Free,
}

/// A value with the text that it was read from, and where that was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set<T> {
    /// The value.
    pub value: T,
    /// As it was written.
    pub text: String,
    /// Where it was made.
    pub origin: Origin,
}

/// Where a setting was made, the strongest place first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// On the command line.
    CommandLine,
    /// In the project's file, on this line, from 1.
    Project(PathBuf, usize),
    /// In the person's own file, on this line.
    Person(PathBuf, usize),
}

/// A setting as it was made, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The flag without its dashes.
    pub name: &'static str,
    /// Whether a project may set it.
    pub rule: FromProject,
    /// What was written: one value, or those of a list.
    pub values: Vec<String>,
    /// Where.
    pub origin: Origin,
}

/// The settings of all places, and the checks that hold without any of them.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// What was typed: the strongest.
    pub typed: RunnerSettings,
    /// The project's file.
    pub project: RunnerSettings,
    /// The person's file.
    pub person: RunnerSettings,
    /// Settings of the project's file that do not count: looser than what holds without them, and not trusted.
    pub left_out: Vec<Setting>,
    /// The checks that the project asks of every loop, in `.claude/ralph-speckit.local.md`.
    pub of_every_loop: ProjectChecks,
}

/// The checks that a project asks of every loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectChecks {
    /// The checks, in the order of the file.
    pub checks: Vec<Check>,
    /// The review that follows all checks, `None` for none.
    pub review: Option<Check>,
    /// Whether spec-kit's converge command has to run.
    pub converge: bool,
    /// Whether optional tasks count.
    pub include_optional: bool,
    /// Patterns of files that nobody but a person may change.
    pub protect: Vec<String>,
    /// Whether the file comes with the repository, so that nobody here may have read it.
    pub foreign: bool,
}

impl Layers {
    /// Returns the settings that count: of each the strongest.
    pub fn merged(&self) -> RunnerSettings {
        self.typed.clone().over(self.project.clone()).over(self.person.clone())
    }

    /// Takes a setting of the project's file away, and keeps it as one that does not count.
    pub fn leave_out(&mut self, setting: &Setting) {
        self.project.remove(setting.name);
        self.left_out.push(setting.clone());
    }
}

impl Setting {
    /// Returns the setting by its name and its place, to begin a sentence with.
    pub fn named(&self) -> String {
        self.origin.named(self.name)
    }
}

impl Origin {
    /// Returns whether both are one place: the command line, or one file.
    pub fn is_beside(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Returns a setting of this name with its place, to begin a sentence with.
    pub fn named(&self, name: &str) -> String {
        match self {
            Self::CommandLine => format!("`--{name}`"),
            Self::Project(path, line) | Self::Person(path, line) => {
                format!("`{name}` in `{}`, line {line},", path.display())
            }
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => write!(out, "the command line"),
            Self::Project(path, line) | Self::Person(path, line) => {
                write!(out, "{}, line {line}", path.display())
            }
        }
    }
}

impl<T: SettingValue> FromStr for Set<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self { value: T::parse(text)?, text: text.to_owned(), origin: Origin::CommandLine })
    }
}

impl<T: SettingValue> Set<T> {
    fn read(value: &DeValue<'_>, origin: Origin) -> Result<Self, String> {
        let text = T::text_of(value).ok_or(T::NEEDS)?;
        Ok(Self { value: T::parse(&text)?, text, origin })
    }
}

/// A setting of one value, or of several.
trait Field: Default {
    fn read(value: &DeValue<'_>, origin: Origin) -> Result<Self, String>;
    fn made(&self, name: &'static str, rule: FromProject) -> Option<Setting>;
    fn or_weaker(self, weaker: Self) -> Self;
}

impl<T: SettingValue> Field for Option<Set<T>> {
    fn read(value: &DeValue<'_>, origin: Origin) -> Result<Self, String> {
        Set::read(value, origin).map(Some)
    }

    fn made(&self, name: &'static str, rule: FromProject) -> Option<Setting> {
        let Set { text, origin, .. } = self.as_ref()?;
        Some(Setting { name, rule, values: vec![text.clone()], origin: origin.clone() })
    }

    fn or_weaker(self, weaker: Self) -> Self {
        self.or(weaker)
    }
}

impl<T: SettingValue> Field for Vec<Set<T>> {
    fn read(value: &DeValue<'_>, origin: Origin) -> Result<Self, String> {
        let one = |value: &DeValue<'_>| Set::read(value, origin.clone());
        let read = match value.as_array() {
            Some(list) => list.iter().map(|value| one(value.get_ref())).collect(),
            None => one(value).map(|one| vec![one]),
        };
        read.map_err(
            |what| if what == T::NEEDS { format!("{what}, or a list of them") } else { what },
        )
    }

    fn made(&self, name: &'static str, rule: FromProject) -> Option<Setting> {
        let origin = self.first()?.origin.clone();
        Some(Setting {
            name,
            rule,
            values: self.iter().map(|it| it.text.clone()).collect(),
            origin,
        })
    }

    fn or_weaker(self, weaker: Self) -> Self {
        if self.is_empty() { weaker } else { self }
    }
}
