//! What a loop remembers between iterations.

use serde::Serialize;

use super::converge::Converging;
use super::fields::{is_default, read_fields};
use super::fingerprint::Fingerprint;
use super::verdict::TerminalReason;

/// The loop's own memory; nobody but `decide` changes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each says something else of the loop")]
pub struct Ledger {
    /// The number of the last judged iteration.
    pub iterations: u32,
    /// How often the agent was sent back to work.
    pub continued: u32,
    /// Stops in a row without a tool call and without a change of the work.
    pub idle_stops: u32,
    /// Iterations in a row with the same fingerprint.
    pub unchanged: u32,
    /// Whether list and place stayed unchanged in the last iteration: the next ones are compared with it.
    pub settled: bool,
    /// Tool calls since arming, as far as they could be seen.
    pub tool_calls: u64,
    /// Those of them that were denied or failed.
    pub failed_calls: u64,
    /// Commits made since arming, as far as they could be seen.
    pub commits: u64,
    /// Iterations in a row without a commit.
    pub commitless: u32,
    /// Tokens used since arming, as far as they are known.
    pub tokens: u64,
    /// What the agent cost since arming, in millionths of a dollar, as far as it is known.
    #[serde(skip_serializing_if = "is_default")]
    pub cost: u64,
    /// Failed runs of the agent program in a row.
    pub failures: u32,
    /// Iterations in a row in which the agent was denied something and nothing changed.
    pub denied: u32,
    /// Whether the service has ever answered.
    pub answered: bool,
    /// Whether there may have been more tool calls than could be seen.
    pub more_calls: bool,
    /// Those of the tokens that the model wrote.
    pub written_tokens: u64,
    /// Claims of completion that were refused.
    pub refused_claims: u32,
    /// What spoke against the claim that ended the loop, in words.
    #[serde(skip_serializing_if = "is_default")]
    pub against: String,
    /// Claims that were refused because nobody could see whether work had been done.
    pub unseen_claims: u32,
    /// Iterations in a row in which the same checks failed in the same way.
    pub same_failure: u32,
    /// Hash of the failed checks of the last iteration, `None` when none failed.
    pub failure: Option<u64>,
    /// Tokens that reviews used since arming, beside `tokens`.
    pub review_tokens: u64,
    /// What reviews cost since arming, beside `cost`, in millionths of a dollar, as far as it is known.
    #[serde(skip_serializing_if = "is_default")]
    pub review_cost: u64,
    /// Whether a part of that is an estimate, by the prices that a person gave.
    #[serde(skip_serializing_if = "is_default")]
    pub review_cost_estimated: bool,
    /// What was reviewed and found good before the end: a mark for each phase or check of the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reviewed: Vec<String>,
    /// Whether nothing was missing in the last iteration but tasks that have left the list.
    #[serde(skip_serializing_if = "is_default")]
    pub left_list: bool,
    /// What came of the converge command of spec-kit.
    #[serde(skip_serializing_if = "is_default")]
    pub converging: Converging,
    /// What the work looked like at the last iteration.
    pub fingerprint: Option<Fingerprint>,
    /// The unreadable state that was already reported.
    pub unreadable: Option<u64>,
    /// Why the loop ended, or `None` while it lives.
    pub ended: Option<TerminalReason>,
}

read_fields!(Ledger {
    iterations,
    continued,
    idle_stops,
    unchanged,
    settled,
    tool_calls,
    failed_calls,
    commits,
    commitless,
    tokens,
    cost,
    failures,
    denied,
    answered,
    more_calls,
    written_tokens,
    refused_claims,
    against,
    unseen_claims,
    same_failure,
    failure,
    review_tokens,
    review_cost,
    review_cost_estimated,
    reviewed,
    left_list,
    converging,
    fingerprint,
    unreadable,
    ended
});

impl Ledger {
    /// Returns whether the loop may still be continued.
    pub fn is_live(&self) -> bool {
        self.ended.is_none()
    }

    /// Returns what a loop that was stopped goes on with: what it has used and done, and nothing of what happened in a row.
    #[must_use]
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

    /// Returns the tokens that count against the limit: those of the agent and of the reviews.
    pub fn all_tokens(&self) -> u64 {
        self.tokens.saturating_add(self.review_tokens)
    }

    /// Returns the millionths of a dollar that count against the limit: those of the agent and of the reviews.
    pub fn all_cost(&self) -> u64 {
        self.cost.saturating_add(self.review_cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_goes_on_keeps_its_rounds_of_converge_and_that_a_cost_is_an_estimate() {
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
