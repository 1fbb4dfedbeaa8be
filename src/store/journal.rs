//! The journal: one line of JSON for each event of a loop, only ever appended to.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::names::{EndName, EndStatus, JournalEvent, PromiseState, VerdictName};
use super::write::append_private_line;
use crate::engine::Ledger;
use crate::engine::fields::{is_default, read_fields};
use crate::mask::masked_text;
use crate::world::{self, WallTime};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Entry {
    pub at: WallTime,
    pub event: JournalEvent,
    /// The feature or task of the loop.
    pub about: String,
    /// 0 for none.
    pub iteration: u32,
    /// The place in the list, such as `3/50`; empty for none.
    pub task: String,
    pub verdict: VerdictName,
    /// Why the loop ended.
    pub reason: EndName,
    /// The same end in the words of spec 002.
    #[serde(skip_serializing_if = "is_default")]
    pub status: EndStatus,
    #[serde(skip_serializing_if = "is_default")]
    pub promise: PromiseState,
    /// The check that begins, such as `` `cargo test` (3 of 5) ``; empty elsewhere.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub check: String,
    /// At the end of a loop, its tool calls as far as they were seen; 0 elsewhere.
    #[serde(skip_serializing_if = "is_default")]
    pub tool_calls: u64,
    /// Likewise its tokens.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens: u64,
    /// Likewise its commits.
    #[serde(skip_serializing_if = "is_default")]
    pub commits: u64,
    /// Likewise the tokens of its reviews, which `tokens` does not count.
    #[serde(skip_serializing_if = "is_default")]
    pub review_tokens: u64,
    /// Likewise the cost of its reviews, in millionths of a dollar.
    #[serde(skip_serializing_if = "is_default")]
    pub review_cost: u64,
    /// A part of `review_cost` is an estimate, by a person's prices.
    #[serde(skip_serializing_if = "is_default")]
    pub review_cost_estimated: bool,
    /// Why, in plain words.
    pub words: String,
    /// Output of the checks that failed then.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Entry {
    at, event, about, iteration, task, verdict, reason, status, promise, check, tool_calls, tokens,
    commits, review_tokens, review_cost, review_cost_estimated, words, output,
} kept more);

impl Entry {
    /// An entry for now; iteration 0 for none.
    pub fn now(event: JournalEvent, about: &str, iteration: u32, words: &str) -> Self {
        let (about, words) = (about.to_owned(), words.to_owned());
        Self { at: world::now(), event, about, iteration, words, ..Self::default() }
    }

    /// Adds the sums of a loop that ends.
    pub fn with_sums(self, ledger: &Ledger) -> Self {
        Self {
            tool_calls: ledger.tool_calls,
            tokens: ledger.tokens,
            commits: ledger.commits,
            ..self.with_reviews(ledger)
        }
    }

    /// Adds the use of the reviews of a loop that ends.
    pub fn with_reviews(self, ledger: &Ledger) -> Self {
        Self {
            review_tokens: ledger.review_tokens,
            review_cost: ledger.review_cost,
            review_cost_estimated: ledger.review_cost_estimated,
            ..self
        }
    }
}

/// Appends the entries with keys masked, a line each, in one write: lines of other writers stay whole.
pub fn append(path: &Path, entries: &[Entry]) -> io::Result<()> {
    let mut lines = Vec::new();
    for entry in entries {
        if !lines.is_empty() {
            lines.push(b'\n');
        }
        match (masked_text(&entry.words), masked_text(&entry.check)) {
            (Cow::Borrowed(_), Cow::Borrowed(_)) => serde_json::to_writer(&mut lines, entry)?,
            (words, check) => {
                let (words, check) = (words.into_owned(), check.into_owned());
                serde_json::to_writer(&mut lines, &Entry { check, words, ..entry.clone() })?;
            }
        }
    }
    append_private_line(path, &lines)
}

/// The readable entries in the file's order, and the number of unreadable lines.
pub fn entries(text: &[u8]) -> (Vec<Entry>, usize) {
    let mut entries = Vec::new();
    let mut unread = 0;
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        if let Ok(entry) = serde_json::from_slice(line) {
            entries.push(entry);
            continue;
        }
        unread += 1;
        entries.extend(behind_a_torn_one(line, b"{\"at\":"));
    }
    (entries, unread)
}

/// The whole value at the end of a line that a full disk has torn; `start` is how a whole one begins.
pub fn behind_a_torn_one<T: DeserializeOwned>(line: &[u8], start: &[u8]) -> Option<T> {
    let at = memchr::memmem::rfind(line, start)?;
    serde_json::from_slice(&line[at..]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l1_entry_behind_torn_one() {
        let text = b"{\"at\":1,\"event\":\"armed\"}\n{\"at\":2,\"ev{\"at\":3,\"event\":\"stop\"}\ngarbage\n\0\0{\"at\":4}\n";
        let (entries, unread) = entries(text);
        let times: Vec<_> = entries.iter().map(|entry| entry.at.millis()).collect();
        assert_eq!((times, unread), (vec![1, 3, 4], 3));
    }
}
