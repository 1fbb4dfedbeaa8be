//! The review by another agent program, and its part in a loop.
//!
//! A verdict other than a pass sends the agent back like a failed check. A review without a verdict says nothing about
//! the work and is made again at the next attempt. Neither repeats forever: a person is asked. A finished part is
//! reviewed in the same way, and its review alone never ends a loop.

use super::ledger::Ledger;
use super::observation::{CheckResult, Observation};

/// Equal failures in a row after which the agent is asked to try another way, or a review ends the loop.
pub const SAME_FAILURE: u32 = 3;
/// Bytes of a review's findings that an end repeats.
const FOUND: usize = 400;

/// Counts the review among these results. An agent without a verdict did not stand still: it had nothing to do.
pub(super) fn count(before: &Ledger, after: &mut Ledger, results: &[CheckResult]) {
    let Some(review) = results.iter().find_map(|result| result.review) else { return };
    after.review_tokens = after.review_tokens.saturating_add(review.tokens);
    after.review_cost = after.review_cost.saturating_add(review.cost);
    after.review_cost_estimated |= review.estimated && review.cost > 0;
    after.unjudged = if review.judged { 0 } else { before.unjudged.saturating_add(1) };
    if !review.judged {
        after.idle_stops = before.idle_stops;
        after.unchanged = before.unchanged;
        after.commitless = before.commitless;
    }
}

/// The request to a person if a review repeats itself; `None` while the loop continues.
pub(super) fn needs_person(after: &Ledger, seen: &Observation) -> Option<String> {
    let results = seen.checks.as_deref()?;
    let result = results.iter().find(|result| result.review.is_some() && !result.passed)?;
    let judged = result.review?.judged;
    let times = if judged { after.same_failure } else { after.unjudged };
    if times < SAME_FAILURE {
        return None;
    }
    let found = [result.outcome.as_str(), ": ", &one_line(&result.tail)].concat();
    Some(if judged {
        let words = &seen.last_words;
        format!(
            "decide between the review and the agent: {times} reviews in a row came to the same, {found}; the agent's last words: {words}"
        )
    } else {
        format!("see why {times} reviews in a row came to no verdict, the last one: {found}")
    })
}

/// The beginning of a text, on one line.
fn one_line(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(FOUND)];
    text.lines().map(str::trim).collect::<Vec<_>>().join("; ")
}
