//! What a hook said, and what a test asks of it.

use crate::hook::support::Bench;
use serde_json::Value;
use std::fmt;

/// What the hook said; its exit code was 0.
#[derive(Debug)]
pub struct Outcome {
    /// The one JSON object on standard output, or nothing.
    pub answer: Option<Value>,
    /// The lines on standard error.
    pub log: Vec<String>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.answer {
            None => writeln!(out, "(nothing on standard output)")?,
            Some(answer) => writeln!(out, "{answer:#}")?,
        }
        self.log.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

impl Outcome {
    fn text(&self, field: &str) -> &str {
        let answer = self.answer.as_ref().and_then(|answer| answer.get(field));
        answer.and_then(Value::as_str).unwrap_or_default()
    }

    /// What was said and logged, as one line without the project's path.
    pub fn headline(&self, bench: &Bench) -> String {
        let said = match &self.answer {
            None => "silent".to_owned(),
            Some(_) if self.is_block() => format!("block: {}", self.text("reason")),
            Some(_) => format!("told: {}", self.message()),
        };
        let mut lines = said.lines();
        let first = lines.next().unwrap_or_default();
        let problem = lines.find(|line| line.starts_with("Problem:"));
        // Not what is logged at every block anyway.
        let more = self.log.iter().filter_map(|line| line.strip_prefix("[ralph-speckit] "));
        let more = more.filter(|line| !line.starts_with("Session stopped") && !said.contains(line));
        let lines: Vec<_> = std::iter::once(first).chain(problem).chain(more).collect();
        let line = lines.join(" | ").replace(&bench.root.display().to_string(), "PROJECT");
        let line = if cfg!(windows) { line.replace('\\', "/") } else { line };
        // musl has other words for it than glibc and macOS.
        let line = line.replace("Symbolic link loop", "Too many levels of symbolic links");
        // The system's words are the same on Linux and macOS, its numbers are not.
        let mut parts = line.split(" (os error ");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest))
    }

    /// Whether the agent was sent back.
    pub fn is_block(&self) -> bool {
        self.text("decision") == "block"
    }

    /// The text for the model; the test fails unless the agent was sent back.
    #[track_caller]
    pub fn reason(&self) -> &str {
        assert!(self.is_block(), "not sent back:\n{self}");
        self.text("reason")
    }

    /// The line that a person sees.
    pub fn message(&self) -> &str {
        self.text("systemMessage")
    }

    /// The line that says why the loop ended; the test fails when the agent was sent back or nothing was said.
    #[track_caller]
    pub fn told(&self) -> &str {
        let answer = self.answer.as_ref().unwrap_or_else(|| panic!("nothing was said:\n{self}"));
        let keys = answer.as_object().unwrap().keys();
        let keys: Vec<_> = keys.filter(|key| *key != "terminalSequence").collect();
        assert_eq!(keys, ["systemMessage"], "more than a line for the person:\n{self}");
        self.message()
    }

    /// The context for the model behind a command that was let through.
    #[track_caller]
    pub fn context(&self) -> &str {
        let output = self.answer.as_ref().and_then(|answer| answer.get("hookSpecificOutput"));
        let output = output.unwrap_or_else(|| panic!("no context:\n{self}"));
        assert_eq!(output["hookEventName"], "UserPromptExpansion");
        output["additionalContext"].as_str().unwrap()
    }

    /// Fails unless standard output is empty.
    #[track_caller]
    pub fn silent(&self) -> &Self {
        assert!(self.answer.is_none(), "not silent:\n{self}");
        self
    }

    /// Fails unless a line of the log has these words.
    #[track_caller]
    pub fn logged(&self, words: &str) -> &Self {
        assert!(self.log.iter().any(|line| line.contains(words)), "`{words}` not in:\n{self}");
        self
    }
}
