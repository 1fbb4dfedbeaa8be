//! Texts for a person about both kinds of loops: always in the same order, on as few lines as will do.

use crate::engine::{Dollars, Ledger, TerminalReason};
use crate::feature::project::printable;
use crate::store::loops::Record;
use crate::store::names::EndName;
use crate::text::{self, OURS, counted, grouped};

/// One line of these parts behind our name, without empty ones.
pub fn line(head: &str, parts: &[&str]) -> String {
    let mut line = [OURS, head].concat();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !line.ends_with(' ') {
            line.push_str(" · ");
        }
        line.push_str(part);
    }
    line
}

/// How far a loop came at its last judgement: `7 iterations · 12 min · 48,000 tokens`, and the use of reviews. Unknown
/// figures, and less than a minute, are left out.
pub fn sums(record: &Record) -> String {
    let mut parts = vec![counted(record.ledger.iterations.into(), "iteration")];
    let time = record.seen_at.since(record.armed_at);
    let is_long = record.armed_at.is_known() && time.as_secs() >= 60;
    parts.extend(is_long.then(|| text::age(time)));
    let tokens = record.ledger.tokens;
    parts.extend((tokens > 0).then(|| grouped(tokens) + " tokens"));
    let reviews = reviews(&record.ledger);
    parts.extend((!reviews.is_empty()).then(|| ["reviews ", &reviews].concat()));
    parts.join(" · ")
}

/// The use of reviews in a loop: `48,210 tokens, $0.1200`, with `~` for an estimate; empty if unknown.
pub fn reviews(ledger: &Ledger) -> String {
    reviews_of(ledger.review_tokens, ledger.review_cost, ledger.review_cost_estimated)
}

pub fn reviews_of(tokens: u64, cost: u64, estimated: bool) -> String {
    let tokens = (tokens > 0).then(|| counted(tokens, "token"));
    let about = if estimated { "~" } else { "" };
    let cost = (cost > 0).then(|| about.to_owned() + &Dollars(cost).to_string());
    tokens.into_iter().chain(cost).collect::<Vec<_>>().join(", ")
}

/// The message of an end: `head` is its name, `parts` are why and how far, `next` is what to do now.
pub fn ended(record: &Record, head: &str, parts: [&str; 2], next: &str) -> String {
    let head = [head, ": "].concat();
    let mut text = line(&head, &[&printable(&record.about), parts[0], parts[1], &sums(record)]);
    if !next.is_empty() {
        text.push_str("\nNext: ");
        text.push_str(&behind_next(next));
    }
    text
}

/// Words of an end that say more than its name; empty otherwise.
pub fn more_than(name: &EndName, words: &str) -> String {
    let says_no_more = words == TerminalReason::Cancelled.to_string();
    let is_said = *name == EndName::Cancelled && says_no_more;
    let more = words.strip_prefix("done ").filter(|_| *name == EndName::Completed);
    if is_said { String::new() } else { text::line(more.unwrap_or(words)).into_owned() }
}

/// Makes the first letter small, because the text stands behind "Next: ".
pub fn behind_next(sentences: &str) -> String {
    let mut letters = sentences.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}
