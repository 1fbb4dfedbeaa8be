//! The agreement of a loop: when its work is done, and the guardrails that end it otherwise.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::fields::{is_default, read_fields};
use super::output::{plain_lines, shows, tests_shown};

/// Armed once; `decide` judges every iteration by this agreement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Contract {
    /// The words of a completion claim; `None` when objective evidence alone decides.
    pub token: Option<String>,
    /// Tool calls since arming that a claim needs (spec 002).
    pub min_tool_calls: u64,
    /// The fate of a claim with fewer calls (spec 002).
    pub without_work: WithoutWork,
    /// An earlier claim is refused (spec 004); 0 for no such rule.
    pub min_iterations: u32,
    /// Commands that must pass before a claim is believed (spec 000).
    pub checks: Vec<Check>,
    /// Skips the checks if the loop ends short of completion.
    #[serde(skip_serializing_if = "is_default")]
    pub no_final_check: bool,
    /// The command, without the slash, with which the agent compares code and specification when only a review is
    /// missing; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub converge: String,
    pub guardrails: Guardrails,
}

read_fields! { Contract {
    token, min_tool_calls, without_work, min_iterations, checks, no_final_check, converge,
    guardrails,
} }

/// The fate of a completion claim with too little work behind it (spec 002).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WithoutWork {
    /// Refuses the claim and tells the reason.
    #[default]
    Reject,
    /// Accepts the claim with a warning.
    Warn,
    Accept,
}

/// One command that is objective evidence (spec 000), or the review of another agent program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The command line as the user wrote it. For a review: the words of its command without feature and limit, none
    /// with a blank in it.
    pub run: String,
    /// Seconds after which the check's process group is ended and the check has failed.
    pub limit_seconds: u64,
    /// Text that one line of the output must show, with `*` for any text; empty for no such rule.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub expect: String,
    /// Tests that have to pass; 0 for no such rule.
    #[serde(skip_serializing_if = "is_default")]
    pub min_tests: u64,
}

read_fields!(Check { run, limit_seconds, expect, min_tests });

/// The words that begin a review; no command of a person begins with them.
pub const REVIEW: &str = "spool review";

/// Stands before the word of a [`ReviewWhen`].
const WHEN: &str = " --when ";

/// The moments of a review; each value includes the end, when all else says that the work is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReviewWhen {
    #[default]
    End,
    /// Also when the tasks of a phase are all ticked.
    Phases,
    /// Also when a task with the mark `[VERIFY]` is ticked.
    Verify,
}

impl ReviewWhen {
    pub const ALL: [Self; 3] = [Self::End, Self::Phases, Self::Verify];

    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|when| when.word() == word)
    }

    pub fn word(self) -> &'static str {
        ["end", "phases", "verify"][self as usize]
    }
}

impl Check {
    /// Seconds, unless a person sets others.
    pub const REVIEW_LIMIT: u64 = 900;

    /// An empty model is the program's own choice; 0 tokens are the default of `spool review`.
    pub fn review(harness: &str, model: &str, tokens: u64, limit_seconds: u64) -> Self {
        let mut run = [REVIEW, " --harness ", harness].concat();
        if !model.is_empty() {
            run += &[" --model ", model].concat();
        }
        if tokens > 0 {
            run += &[" --token-budget ", &tokens.to_string()].concat();
        }
        Self { run, limit_seconds, ..Self::default() }
    }

    /// The same review at other moments.
    pub fn made(mut self, when: ReviewWhen) -> Self {
        self.run.truncate(self.review_words().len());
        if when != ReviewWhen::End {
            self.run += &[WHEN, when.word()].concat();
        }
        self
    }

    /// The agent program of a review; empty for a command.
    pub fn reader(&self) -> &str {
        let mut words = self.review_words().split(' ').skip_while(|word| *word != "--harness");
        words.nth(1).filter(|_| self.is_review()).unwrap_or_default()
    }

    pub fn when(&self) -> ReviewWhen {
        let word = self.run[self.review_words().len()..].strip_prefix(WHEN);
        word.filter(|_| self.is_review()).and_then(ReviewWhen::of).unwrap_or_default()
    }

    /// The words of a review without its moments.
    pub fn review_words(&self) -> &str {
        self.run.split(WHEN).next().unwrap_or_default()
    }

    /// True for a review: another agent program runs it, without a shell, after all commands.
    pub fn is_review(&self) -> bool {
        self.run.starts_with(REVIEW)
    }

    /// A name of a model in the words of a review is visible, without a blank, and no option.
    pub fn is_model(name: &str) -> bool {
        let is_plain = |letter: u8| letter.is_ascii_graphic();
        !name.is_empty()
            && name.len() <= 200
            && !name.starts_with('-')
            && name.bytes().all(is_plain)
    }

    /// An empty command, or one of comments alone, would always pass.
    pub fn runs_nothing(run: &str) -> bool {
        run.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#'))
    }

    /// The demands on a check for a person: `within 60 s`, and what the output has to show.
    pub fn terms(&self) -> String {
        let mut terms = format!("within {} s", self.limit_seconds);
        if self.min_tests > 0 {
            let _ = write!(terms, ", tests passed: {} or more", self.min_tests);
        }
        if !self.expect.is_empty() {
            let _ = write!(terms, ", output has `{}`", self.expect);
        }
        terms
    }

    /// True if the output decides, too, not the exit code alone.
    pub fn looks_at_output(&self) -> bool {
        self.min_tests > 0 || !self.expect.is_empty()
    }

    /// The demand that the end of the output does not meet, in words.
    pub fn lacks(&self, output: &[u8]) -> Option<String> {
        if !self.looks_at_output() {
            return None;
        }
        let lines = plain_lines(output);
        if !self.expect.is_empty() && !lines.iter().any(|line| shows(line, &self.expect)) {
            return Some(format!("no line of its output has `{}`", self.expect));
        }
        match tests_shown(&lines) {
            _ if self.min_tests == 0 => None,
            (_, true) => Some("its output says that tests failed".to_owned()),
            (None, _) => Some("its output has no number of tests that is understood".to_owned()),
            (Some(passed), _) if passed < self.min_tests => {
                Some(format!("tests passed: {passed}, and {} or more have to", self.min_tests))
            }
            (Some(_), _) => None,
        }
    }
}

/// The limits of a loop, with their terminal reasons in parentheses. `None` is no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Guardrails {
    /// The last iteration that may run (`max_iters`).
    pub max_iterations: Option<u32>,
    /// Stops in a row without a tool call (`no_progress`).
    ///
    /// Claude Code ends a turn by itself after eight, without telling the hook.
    pub max_idle_stops: u32,
    /// Iterations in a row with the same fingerprint of the work (`no_progress`).
    pub max_unchanged: u32,
    /// Seconds since arming (`timed_out`).
    pub max_seconds: Option<u64>,
    /// Tokens (`budget`).
    pub max_tokens: Option<u64>,
    /// Millionths of a dollar (`budget`).
    pub max_cost: Option<u64>,
    /// Seconds of waiting for a usage limit to be lifted (`usage_limit`); 0 for no waiting.
    pub max_limit_wait: Option<u64>,
    /// Iterations in a row without a commit (`no_progress`; the `stall_threshold` of spec 001).
    pub max_commitless: Option<u32>,
    /// Iterations in a row in which the agent was denied something and nothing changed (`blocked`).
    pub max_denied: Option<u32>,
    /// Failed runs of the agent program in a row (`harness_failed`).
    pub max_failures: Option<u32>,
    /// Failed runs before the service has ever answered (`harness_failed`).
    pub max_unanswered: Option<u32>,
}

read_fields! { Guardrails {
    max_iterations, max_idle_stops, max_unchanged, max_seconds, max_tokens, max_cost,
    max_limit_wait, max_commitless, max_denied, max_failures, max_unanswered,
} }

impl Contract {
    /// Adds the new ones of these commands; a review stays last.
    pub fn add_commands(&mut self, more: impl IntoIterator<Item = Check>) {
        for check in more {
            let is_known = self.checks.iter().any(|known| known.run == check.run);
            if !is_known && !check.is_review() {
                let place = Self::commands_and_review(&self.checks).0.len();
                self.checks.insert(place, check);
            }
        }
    }

    pub fn commands_and_review(checks: &[Check]) -> (&[Check], Option<&Check>) {
        let commands = checks.iter().take_while(|check| !check.is_review()).count();
        (&checks[..commands], checks.get(commands))
    }
}

impl Default for Guardrails {
    fn default() -> Self {
        Self {
            max_iterations: Some(100),
            max_idle_stops: 3,
            max_unchanged: 10,
            max_seconds: None,
            max_tokens: None,
            max_cost: None,
            max_limit_wait: None,
            max_commitless: None,
            max_denied: None,
            max_failures: None,
            max_unanswered: None,
        }
    }
}
