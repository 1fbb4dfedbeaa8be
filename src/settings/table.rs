//! The table of settings, a line each. The doc comment above a line is its help.
//!
//! `field "name": type in the code, kind, default, what a project may say, places, heading "the flag's placeholder";`

#![expect(non_upper_case_globals, reason = "each setting has the name of what reads it")]

use std::time::Duration;

use super::chosen::Chosen;
use super::from_text::{ContinueWith, FromText};
use super::kind::SettingKind::{
    Command, Dollars, Expect, Harness, Name, Number, OneWord, Pattern, Price, Switch, Text, Time,
    Token, Words,
};
use super::kind::{ANY, MILLION, READERS, YEAR};
use super::setting::Rule::{AtLeast, AtMost, Free, Limit, Never, Program, Word};
use super::setting::{CHECK, IMPLEMENT, LOOP, REVIEW, RUNNER, Setting, YAML};
use crate::engine::proof::LeastProof;
use crate::engine::{PromiseMatch, ReviewWhen, WithoutWork};

macro_rules! settings {
    ($($(#[doc = $help:literal])* $field:ident $name:literal: $type:ty, $kind:expr, $default:literal, $rule:expr, $places:expr, $heading:ident $value:literal;)*) => {
        $($(#[doc = $help])*
        pub static $field: Setting = Setting {
            name: $name,
            kind: $kind,
            default: $default,
            is_list: <$type as FromText>::IS_LIST,
            rule: $rule,
            places: $places,
            value_name: $value,
            heading: heading::$heading,
            help: concat!($($help),*),
        };)*

        /// In the order of the help.
        pub static ALL: &[&Setting] = &[$(&$field),*];

        impl Chosen {
            $($(#[doc = $help])*
            pub fn $field(&self) -> $type {
                self.get(&$field)
            })*
        }
    };
}

mod heading {
    pub use super::super::setting::{CHANGE, LIMITS};
    pub const AGENT: &str = "The agent";
    pub const DONE: &str = "When it is done";
    pub const SCREEN: &str = "On the screen";
    pub const NONE: &str = "";
}

settings! {
    /// The change: its id, or a short form of it such as 2-1, or a word of its name
    change "change": Option<String>, Text, "", Free, RUNNER, CHANGE "ID";
    /// Only changes of this module: 002 of 002-01_add-login
    module "module": Option<String>, Text, "", Free, RUNNER, CHANGE "NUMBER";
    /// Read the prompt from this file
    prompt_file "prompt-file": Option<String>, Text, "", Free, RUNNER | LOOP, CHANGE "PATH";
    /// Never ask; without --change that is an error
    no_interactive "no-interactive": bool, Switch, "", Free, RUNNER, CHANGE "BOOL";
    /// Projects whose files the person trusts; on the command line, `--trust-project` stands for it
    trusted_projects "trusted-projects": Vec<String>, Text, "", Never, RUNNER, NONE "";
    /// The agent program: claude, opencode, codex, gemini, copilot, "acp:COMMAND" for any that speaks the Agent Client
    /// Protocol, command, or demo, which plays on a throw-away project and needs nothing [default: claude]
    harness "harness": Option<String>, Harness, "", Program, RUNNER, AGENT "NAME";
    /// Any other program, by its command line; it gets the prompt on its standard input, or in place
    /// of {prompt} or {prompt_file}, the model in place of {model}, and an id of its session in place
    /// of {session}. No shell is involved
    harness_command "harness-command": Option<String>, Text, "", Never, RUNNER, AGENT "COMMAND";
    /// The model, in the agent program's own words [default: its own choice]
    model "model": Option<String>, Name("opus"), "", Free, RUNNER, AGENT "MODEL";
    /// The model used while the first one is at its usage limit, and for 15 minutes after 3 overloads in a row
    fallback_model "fallback-model": Option<String>, Name("opus"), "", Free, RUNNER, AGENT "MODEL";
    /// The agent program that continues like that, after the fallback model where both are given
    fallback_harness "fallback-harness": Option<String>, Harness, "", Program, RUNNER, AGENT "NAME";
    /// Let the agent use every tool without asking [also: --yolo, --dangerously-allow-all]
    allow_all "allow-all": bool, Switch, "", Never, RUNNER, AGENT "BOOL";
    /// What the agent may do without asking, in the agent program's own words: acceptEdits (claude), workspace-write
    /// (codex), auto_edit (gemini) [default: its own choice]
    permission_mode "permission-mode": Option<String>, Name("acceptEdits"), "", Never, RUNNER, AGENT "MODE";
    /// Let this tool run without asking, in the agent program's own words, such as "Bash(cargo test *)"; may be given more
    /// than once
    allow "allow": Vec<String>, Name("Edit"), "", Never, RUNNER, AGENT "TOOL";
    /// Let this tool never run; may be given more than once
    deny "deny": Vec<String>, Name("WebFetch"), "", Never, RUNNER, AGENT "TOOL";
    /// An argument for the agent program itself; may be given more than once. All at once: after `--` at the end
    agent_args "agent-args": Vec<String>, Text, "", Never, RUNNER, AGENT "ARG";
    /// Continue the session of the last iteration instead of a fresh one
    continue_session "continue-session": bool, Switch, "false", Free, RUNNER, AGENT "BOOL";
    /// Commit after each iteration the files that it changed, and no others
    commit "commit": bool, Switch, "false", Word("false"), RUNNER, AGENT "BOOL";
    /// Leave with code 11 when it is done but something speaks against it, such as tasks that are gone
    strict "strict": bool, Switch, "false", Word("true"), RUNNER, DONE "BOOL";
    /// What counts as done: tasks (every box of tasks.md), manual (the promise), check (the checks
    /// alone) [default: tasks where there is a tasks.md, otherwise manual]
    done "done": Option<String>, Words(&["tasks", "manual", "check"]), "", Word("tasks"), RUNNER, DONE "WHAT";
    /// The token that the agent writes as <promise>TOKEN</promise> when all is done [default: COMPLETE]
    completion_promise "completion-promise": String, Token, "COMPLETE", Word(""), RUNNER | LOOP, DONE "TOKEN";
    /// Which promise in the agent's final text counts: anywhere, one outside of code, quotation marks and denials, or
    /// exact, any [default: anywhere]
    promise_match "promise-match": PromiseMatch, Words(&["anywhere", "exact"]), "anywhere", Word("anywhere"), RUNNER | LOOP, DONE "WHERE";
    /// A command that has to pass before the loop is done; may be given more than once
    check "check": Vec<String>, Command, "", Program, RUNNER | LOOP, DONE "COMMAND";
    /// What a ticked task needs: files (work that can be seen, or a word of the agent why there is none), or word (every
    /// tick counts) [default: files]
    proof "proof": LeastProof, Words(&["files", "word"]), "files", Word("files"), RUNNER | YAML, DONE "WHAT";
    /// Files that the loop may not change unless a task names them, as a line of a .gitignore, such as "tests/**"; may be
    /// given more than once
    protect "protect": Vec<String>, Pattern, "", Free, RUNNER | YAML, DONE "PATTERN";
    /// Do not run the checks once more where the loop ends short of completion
    no_final_check "no-final-check": bool, Switch, "false", Word(""), RUNNER | LOOP, DONE "BOOL";
    /// The longest that each check may take; a plain number is seconds [default: 300]
    check_timeout "check-timeout": Duration, Time(1, 1, 24 * 3_600), "300", AtMost, RUNNER, DONE "SECONDS";
    /// Have another agent program review the work when all else says that it is done: it judges each requirement of spec.md
    review "review": Option<bool>, Switch, "", Program, RUNNER | YAML | IMPLEMENT, DONE "BOOL";
    /// When it is made besides the end: phases (when all tasks of a phase are ticked), verify (when a [VERIFY] task is), or end
    /// [default: end]
    review_when "review-when": Option<ReviewWhen>, Words(&["end", "phases", "verify"]), "", Program, RUNNER | IMPLEMENT, DONE "WHEN";
    /// The agent program that reviews: claude, opencode, codex, gemini or copilot [default: the one that works]
    review_harness "review-harness": Option<String>, Harness, "", Program, RUNNER, DONE "NAME";
    /// The model that reviews, in that program's own words
    review_model "review-model": Option<String>, OneWord, "", Program, RUNNER, DONE "MODEL";
    /// The longest that a review may take [default: 15 minutes]
    review_timeout "review-timeout": Duration, Time(60, 1, 24 * 3_600), "15m", Program, RUNNER, DONE "TIME";
    /// The most tokens that a review may use [default: 5000000]
    review_token_budget "review-token-budget": u64, Number(1, i64::MAX as u64), "", Program, RUNNER, DONE "N";
    /// Have spec-kit's converge command compare code and specification, in an iteration of its own, when every box is ticked and
    /// the checks pass: what it appends to the list is done before the end, at most twice
    converge "converge": bool, Switch, "", Word("true"), RUNNER | YAML | IMPLEMENT, DONE "BOOL";
    /// Have optional tasks of the list count, such as `- [ ]* 1.2` of Kiro
    include_optional "include-optional": bool, Switch, "", Word("true"), RUNNER | YAML | IMPLEMENT, DONE "BOOL";
    /// Believe no promise before this iteration [default: 0]
    min_iterations "min-iterations": u32, Number(0, MILLION), "0", AtLeast, RUNNER | LOOP, DONE "N";
    /// End after this many iterations; 0 for no limit [default: 50]
    max_iterations "max-iterations": Option<u32>, Number(0, MILLION), "50", Limit, RUNNER | LOOP, LIMITS "N";
    /// End after this many iterations in a row without a commit; 0 for never [default: 0]
    stall_threshold "stall-threshold": Option<u32>, Number(0, MILLION), "0", Limit, RUNNER, LIMITS "N";
    /// End after 2 iterations that changed nothing because the agent was denied what it tried, and after this many
    /// iterations in a row that changed nothing; 0 for never [default: 10]
    no_progress "no-progress": Option<u32>, Number(0, MILLION), "10", Limit, RUNNER, LIMITS "N";
    /// End after this many failed runs in a row that changed nothing; unless this is set, the first three end the loop when
    /// none of them gets any answer [default: 12]
    max_failures "max-failures": u32, Number(1, MILLION), "12", AtMost, RUNNER, LIMITS "N";
    /// The longest that an iteration may take; 0 for no limit [default: 60 minutes]
    iteration_timeout "iteration-timeout": Option<Duration>, Time(60, 0, YEAR), "60", Limit, RUNNER, LIMITS "TIME";
    /// The silence allowed to the agent program while a tool runs, and three times as much while its model thinks, if
    /// its output shows which; 0 for no limit [default: 0]
    idle_timeout "idle-timeout": Option<Duration>, Time(60, 0, YEAR), "0", Limit, RUNNER, LIMITS "TIME";
    /// The longest that the whole loop may take, such as 8h; 0 for no limit [default: 0]
    max_runtime "max-runtime": Option<Duration>, Time(60, 0, YEAR), "0", Limit, RUNNER, LIMITS "TIME";
    /// The most tokens, also in the middle of an iteration, that the loop may use; 0 for no limit [default: 0]
    token_budget "token-budget": Option<u64>, Number(0, i64::MAX as u64), "0", Limit, RUNNER, LIMITS "N";
    /// The most dollars that the loop may cost, also in the middle of an iteration where --prices is given or the
    /// agent program (opencode) says it there; 0 for no limit
    /// [default: 0]
    max_usd "max-usd": Option<u64>, Dollars, "0", Limit, RUNNER, LIMITS "DOLLARS";
    /// Wait for a usage limit to be lifted, for this long at most, and then continue; 0 for no limit. Without it the loop ends
    /// there, or asks you on a terminal
    max_limit_wait "max-limit-wait": Option<Duration>, Time(60, 0, YEAR), "", Limit, RUNNER, LIMITS "TIME";
    /// What a model costs, in dollars for a million tokens: MODEL=INPUT/OUTPUT/CACHE-READ/CACHE-WRITE, where the name may be
    /// the beginning of the model's; may be given more than once. For costs that the agent program does not report
    prices "prices": Vec<String>, Price, "", Never, RUNNER, LIMITS "PRICE";
    /// Do not ask the last iteration before a limit to leave a handoff.md for the next loop
    no_landing "no-landing": bool, Switch, "false", Free, RUNNER, LIMITS "BOOL";
    /// Let the machine fall asleep while the loop runs [default: it is kept awake where the system has a way]
    no_stay_awake "no-stay-awake": bool, Switch, "false", Never, RUNNER, LIMITS "BOOL";
    /// Time between asking the agent program to end and killing it; a plain number is seconds [default: 10s]
    grace "grace": Duration, Time(1, 0, 600), "10s", AtMost, RUNNER, LIMITS "TIME";
    /// The pause after a failed run, doubled with each more in a row up to 15 minutes; a plain number
    /// is seconds [default: 5s]
    retry_pause "retry-pause": Duration, Time(1, 0, YEAR), "5s", AtLeast, RUNNER, LIMITS "TIME";
    /// Run this command when the loop has ended, within 5 s: it gets RALPH_ABOUT, RALPH_REASON,
    /// RALPH_WORDS and RALPH_PROJECT, and the words on its standard input
    notify "notify": String, Command, "", Program, RUNNER | YAML, SCREEN "COMMAND";
    /// Show everything that the agent program prints
    verbose "verbose": bool, Switch, "false", Free, RUNNER, SCREEN "BOOL";
    /// Show only the loop's own lines
    quiet "quiet": bool, Switch, "false", Free, RUNNER | YAML, SCREEN "BOOL";
    /// Print JSON for programs, one object a line
    json "json": bool, Switch, "false", Free, RUNNER, SCREEN "BOOL";

    /// Whether the loop may hold a session
    enabled "enabled": bool, Switch, "true", Free, YAML, NONE "";
    /// The commands that must pass before work counts as done
    checks "checks": Vec<String>, Command, "", Program, YAML, NONE "";
    /// How a stop that sends the agent back is answered
    continue_with "continue-with": ContinueWith, Words(&["auto", "block", "context"]), "auto", Free, YAML, NONE "";
    /// Whether the last iteration before a limit is asked to leave a handoff for the next loop
    landing "landing": bool, Switch, "true", Free, YAML, NONE "";
    /// Whether spec-kit's own implement command arms the loop
    spec_kit_command "spec-kit-command": bool, Switch, "true", Free, YAML, NONE "";

    /// The command of a check
    run "run": String, Command, "", Program, CHECK, NONE "";
    /// The longest that a check may take: all of them together have 25 minutes
    limit "limit": Duration, Time(1, 1, 1_500), "300", AtMost, CHECK, NONE "";
    /// What one line of its output has to show
    expect "expect": String, Expect, "", Free, CHECK, NONE "";
    /// How many tests have to pass in it at least
    min_tests "min-tests": u64, Number(1, MILLION), "", Free, CHECK, NONE "";

    /// The agent program that reviews
    reader "harness": String, Words(&READERS), "claude", Program, REVIEW, NONE "";
    /// Its model
    reader_model "model": String, OneWord, "", Program, REVIEW, NONE "";
    /// The longest that a review may take: the end of its reader belongs to the time of all checks, too
    reader_timeout "timeout": Duration, Time(1, 1, 1_400), "900", Program, REVIEW, NONE "";
    /// The most tokens that it may use
    reader_tokens "token-budget": u64, Number(1, ANY), "", Program, REVIEW, NONE "";
    /// When it is made besides the end
    reader_when "when": Option<ReviewWhen>, Words(&["end", "phases", "verify"]), "", Program, REVIEW, NONE "";

    /// End the loop after this many iterations
    feature_iterations "max-iterations": Option<u32>, Number(1, MILLION), "", Free, IMPLEMENT, NONE "N";
    /// End the loop when one task needs more attempts than this
    max_task_iterations "max-task-iterations": Option<u32>, Number(1, MILLION), "", Free, IMPLEMENT, NONE "N";
    /// Put a repair task behind one that failed
    recovery_mode "recovery-mode": bool, Switch, "", Free, IMPLEMENT, NONE "BOOL";
    /// Continue although checklists of the feature are open
    ignore_checklists "ignore-checklists": bool, Switch, "", Free, IMPLEMENT, NONE "BOOL";
    /// Take the loop also from another session that is still there
    force "force": bool, Switch, "", Free, IMPLEMENT | LOOP, NONE "BOOL";

    /// How many tool calls since arming a promise needs
    min_tool_calls "min-tool-calls": u64, Number(0, MILLION), "1", Free, LOOP, NONE "";
    /// What becomes of a promise with less work than that
    on_promise_no_work "on-promise-no-work": WithoutWork, Words(&["reject", "warn", "accept"]), "reject", Free, LOOP, NONE "";
    /// The longest that each check may take: a stop has to be over before Claude Code ends it
    check_limit "check-timeout": Duration, Time(1, 1, 1_500), "300", Free, LOOP, NONE "";
    /// End after this many iterations in a row that changed nothing
    max_unchanged "no-progress": u32, Number(1, MILLION), "10", Free, LOOP, NONE "";
    /// A live loop of the session ends with this
    replace "replace": bool, Switch, "", Free, LOOP, NONE "";
    /// No loop is armed, that of another session is taken over; empty for the only one that was left behind
    adopt "adopt": Option<String>, Text, "", Free, LOOP, NONE "";
}
