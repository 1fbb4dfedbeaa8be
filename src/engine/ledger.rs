//! A loop's memory between iterations.

use serde::Serialize;

use super::converge::Converging;
use super::fields::{is_default, read_fields};
use super::fingerprint::Fingerprint;
use super::verdict::TerminalReason;

/// Only `decide` changes the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// The last judged iteration.
    pub iterations: u32,
    /// How often the agent was sent back to work.
    pub continued: u32,
    /// Stops in a row without a tool call and without a change of the work.
    pub idle_stops: u32,
    /// Iterations in a row with the same fingerprint.
    pub unchanged: u32,
    /// List and place stayed unchanged in the last iteration: the next ones compare their files.
    pub settled: bool,
    /// Seen tool calls since arming.
    pub tool_calls: u64,
    /// The part of `tool_calls` that was denied or failed.
    pub failed_calls: u64,
    /// Seen commits since arming.
    pub commits: u64,
    /// Iterations in a row without a commit.
    pub commitless: u32,
    /// Known tokens since arming.
    pub tokens: u64,
    /// Known cost of the agent since arming, in millionths of a dollar.
    #[serde(skip_serializing_if = "is_default")]
    pub cost: u64,
    /// Failed runs of the agent program in a row.
    pub failures: u32,
    /// Iterations in a row in which the agent was denied something and nothing changed.
    pub denied: u32,
    /// The service has answered at least once.
    pub answered: bool,
    /// There may have been unseen tool calls.
    pub more_calls: bool,
    /// The part of `tokens` that the model wrote.
    pub written_tokens: u64,
    /// Refused claims of completion.
    pub refused_claims: u32,
    /// The doubts about the claim that ended the loop.
    #[serde(skip_serializing_if = "is_default")]
    pub against: String,
    /// Checks decided that end, not the agent's word alone.
    #[serde(skip_serializing_if = "is_default")]
    pub checked: bool,
    /// Claims refused because no work could be seen.
    pub unseen_claims: u32,
    /// Iterations in a row in which the same checks failed in the same way.
    pub same_failure: u32,
    /// Reviews in a row that came to no verdict.
    #[serde(skip_serializing_if = "is_default")]
    pub unjudged: u32,
    /// Hash of the failed checks of the last iteration; `None` without a failure.
    pub failure: Option<u64>,
    /// Tokens of reviews since arming; not part of `tokens`.
    pub review_tokens: u64,
    /// Known cost of reviews since arming, in millionths of a dollar; not part of `cost`.
    #[serde(skip_serializing_if = "is_default")]
    pub review_cost: u64,
    /// A part of `review_cost` is an estimate by a person's prices.
    #[serde(skip_serializing_if = "is_default")]
    pub review_cost_estimated: bool,
    /// Parts reviewed and found good before the end: a mark for each phase or check of the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reviewed: Vec<String>,
    /// Only tasks that have left the list were missing in the last iteration.
    #[serde(skip_serializing_if = "is_default")]
    pub left_list: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub converging: Converging,
    /// The work at the last iteration.
    pub fingerprint: Option<Fingerprint>,
    /// The unreadable state that was already reported.
    pub unreadable: Option<u64>,
    /// `None` while the loop lives.
    pub ended: Option<TerminalReason>,
}

read_fields! { Ledger {
    iterations, continued, idle_stops, unchanged, settled, tool_calls, failed_calls, commits,
    commitless, tokens, cost, failures, denied, answered, more_calls, written_tokens,
    refused_claims, against, checked, unseen_claims, same_failure, unjudged, failure, review_tokens,
    review_cost, review_cost_estimated, reviewed, left_list, converging, fingerprint, unreadable,
    ended,
} }

impl Ledger {
    pub fn is_live(&self) -> bool {
        self.ended.is_none()
    }

    /// The start of a continued loop: totals stay, counts in a row begin again.
    pub fn going_on(&self) -> Self {
        let Self { iterations, continued, tool_calls, failed_calls, commits, more_calls, .. } =
            *self;
        let Self { tokens, cost, written_tokens, review_tokens, review_cost, .. } = *self;
        let Self { refused_claims, review_cost_estimated, .. } = *self;
        Self {
            iterations,
            continued,
            tool_calls,
            failed_calls,
            commits,
            tokens,
            cost,
            more_calls,
            written_tokens,
            refused_claims,
            review_tokens,
            review_cost,
            review_cost_estimated,
            converging: Converging { rounds: self.converging.rounds, ..Converging::default() },
            ..Self::default()
        }
    }

    /// Tokens that count against the limit: of the agent and of reviews.
    pub fn all_tokens(&self) -> u64 {
        self.tokens.saturating_add(self.review_tokens)
    }

    /// Millionths of a dollar that count against the limit: of the agent and of reviews.
    pub fn all_cost(&self) -> u64 {
        self.cost.saturating_add(self.review_cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continued_loop_keeps_converge_rounds() {
        let converging = Converging { rounds: 2, asked: Some(1), passed: true };
        let before = Ledger {
            review_cost: 7,
            review_cost_estimated: true,
            converging,
            failures: 2,
            ..Ledger::default()
        };
        let after = before.going_on();
        assert_eq!((after.review_cost, after.review_cost_estimated), (7, true));
        assert_eq!(after.converging, Converging { rounds: 2, ..Converging::default() });
        assert_eq!(after.failures, 0);
    }
}
