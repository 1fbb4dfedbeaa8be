//! What a loop has agreed to: when its work is done, and the guardrails that end it otherwise.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::fields::{is_default, read_fields};
use super::output::{plain_lines, shows, tests_shown};

/// The agreement a loop is armed with; `decide` holds every iteration against it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Contract {
    /// The words that claim completion, or `None` when objective evidence alone decides.
    pub token: Option<String>,
    /// How many tool calls since arming a claim needs after it (spec 002, 0 or more).
    pub min_tool_calls: u64,
    /// What becomes of a claim with less work than that (spec 002).
    pub without_work: WithoutWork,
    /// The iteration before which a claim is refused (spec 004, 0 for none).
    pub min_iterations: u32,
    /// Commands that must pass before a claim is believed (spec 000).
    pub checks: Vec<Check>,
    /// Whether they do not run where the loop ends short of completion.
    #[serde(skip_serializing_if = "is_default")]
    pub no_final_check: bool,
    /// The command with which the agent compares code and specification when all else but a review says done, as it is
    /// typed without the slash; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub converge: String,
    /// The limits that end the loop short of completion.
    pub guardrails: Guardrails,
}

read_fields!(Contract {
    token,
    min_tool_calls,
    without_work,
    min_iterations,
    checks,
    no_final_check,
    converge,
    guardrails
});

/// What happens to a completion claim that has too little work after it (spec 002).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WithoutWork {
    /// The claim is refused and the reason says so.
    #[default]
    Reject,
    /// The claim is accepted with a warning.
    Warn,
    /// The claim is accepted.
    Accept,
}

/// One command that is objective evidence (spec 000), or the review of another agent program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The command line as the user wrote it in their own settings; of a review the words of its command without the
    /// feature and the limit, none of them with a blank in it.
    pub run: String,
    /// Seconds after which its process group is ended and the check has failed.
    pub limit_seconds: u64,
    /// What one line of its output has to show, in which `*` stands for any text; empty for nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub expect: String,
    /// How many tests have to pass in it at least, 0 where nobody counts them.
    #[serde(skip_serializing_if = "is_default")]
    pub min_tests: u64,
}

read_fields!(Check { run, limit_seconds, expect, min_tests });

/// The words that make a check a review; no command of a person begins with them.
pub const REVIEW: &str = "spool review";

/// What stands before the word for when it is made.
const WHEN: &str = " --when ";

/// When a review is made; always also when all else says that the work is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReviewWhen {
    /// At no other time.
    #[default]
    End,
    /// When the tasks of a phase of the list are all ticked.
    Phases,
    /// When a task with the mark `[VERIFY]` is ticked.
    Verify,
}

impl ReviewWhen {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::End, Self::Phases, Self::Verify];

    /// Returns the one that people write this word for.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|when| when.word() == word)
    }

    /// Returns the word that people write for it.
    pub fn word(self) -> &'static str {
        ["end", "phases", "verify"][self as usize]
    }
}

impl Check {
    /// Seconds that a review has where nothing else is said.
    pub const REVIEW_LIMIT: u64 = 900;

    /// Returns the review by this agent program; an empty model is its own choice, 0 tokens are those of `spool review`.
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

    /// Returns the same review, made at these times.
    #[must_use]
    pub fn made(mut self, when: ReviewWhen) -> Self {
        self.run.truncate(self.review_words().len());
        if when != ReviewWhen::End {
            self.run += &[WHEN, when.word()].concat();
        }
        self
    }

    /// Returns the agent program that makes a review; empty for a command.
    pub fn reader(&self) -> &str {
        let mut words = self.review_words().split(' ').skip_while(|word| *word != "--harness");
        words.nth(1).filter(|_| self.is_review()).unwrap_or_default()
    }

    /// Returns when a review is made.
    pub fn when(&self) -> ReviewWhen {
        let word = self.run[self.review_words().len()..].strip_prefix(WHEN);
        word.filter(|_| self.is_review()).and_then(ReviewWhen::of).unwrap_or_default()
    }

    /// Returns the words of a review without those that say when it is made.
    pub fn review_words(&self) -> &str {
        self.run.split(WHEN).next().unwrap_or_default()
    }

    /// Returns whether it is a review: another agent program reads the work. It runs last, without a shell, and only when
    /// all else says that the work is done.
    pub fn is_review(&self) -> bool {
        self.run.starts_with(REVIEW)
    }

    /// Returns whether a text can be the name of a model in the words of a review: visible, without a blank, and no option.
    pub fn is_model(name: &str) -> bool {
        let is_plain = |letter: u8| letter.is_ascii_graphic();
        !name.is_empty()
            && name.len() <= 200
            && !name.starts_with('-')
            && name.bytes().all(is_plain)
    }

    /// Returns whether a command runs nothing and would always pass: it is empty, or has only comments.
    pub fn runs_nothing(run: &str) -> bool {
        run.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#'))
    }

    /// Returns what it has to meet, for a person: `within 60 s`, with what its output has to show where that is asked.
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

    /// Returns whether its exit code alone does not decide.
    pub fn looks_at_output(&self) -> bool {
        self.min_tests > 0 || !self.expect.is_empty()
    }

    /// Returns what the end of its output does not show although it has to, in words; `None` when nothing is missing.
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

/// The limits of a loop; each one has its own terminal reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Guardrails {
    /// The last iteration that may run, or `None` for no limit (`max_iters`).
    pub max_iterations: Option<u32>,
    /// Stops in a row without a tool call that end the loop (`no_progress`).
    ///
    /// Claude Code ends a turn by itself after eight, without telling the hook.
    pub max_idle_stops: u32,
    /// Iterations in a row with the same fingerprint of the work that end the loop (`no_progress`).
    pub max_unchanged: u32,
    /// Seconds since arming after which the loop ends, or `None` for no limit (`timed_out`).
    pub max_seconds: Option<u64>,
    /// Tokens after which the loop ends, or `None` for no limit (`budget`).
    pub max_tokens: Option<u64>,
    /// Millionths of a dollar after which the loop ends, or `None` for no limit (`budget`).
    pub max_cost: Option<u64>,
    /// Seconds that a usage limit is waited for at most, 0 for not at all, or `None` for no limit (`usage_limit`).
    pub max_limit_wait: Option<u64>,
    /// Iterations in a row without a commit that end the loop, or `None` for no limit
    /// (`no_progress`; the `stall_threshold` of spec 001).
    pub max_commitless: Option<u32>,
    /// Iterations in a row in which the agent was denied what it tried and nothing changed that end the loop, or `None` for
    /// no such limit (`blocked`).
    pub max_denied: Option<u32>,
    /// Failed runs of the agent program in a row that end the loop, or `None` for no limit
    /// (`harness_failed`).
    pub max_failures: Option<u32>,
    /// Failed runs from the first one on, without one answer of the service, that end the loop, or `None` for no
    /// such limit (`harness_failed`).
    pub max_unanswered: Option<u32>,
}

read_fields!(Guardrails {
    max_iterations,
    max_idle_stops,
    max_unchanged,
    max_seconds,
    max_tokens,
    max_cost,
    max_limit_wait,
    max_commitless,
    max_denied,
    max_failures,
    max_unanswered
});

impl Contract {
    /// Adds checks that it does not have yet; a review stays the last one.
    pub fn add_commands(&mut self, more: impl IntoIterator<Item = Check>) {
        for check in more {
            let is_known = self.checks.iter().any(|known| known.run == check.run);
            if !is_known && !check.is_review() {
                let place = Self::commands_and_review(&self.checks).0.len();
                self.checks.insert(place, check);
            }
        }
    }

    /// Returns the checks that are commands, and the review that follows them.
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
