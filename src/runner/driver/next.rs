//! The step after an iteration.

use std::time::Duration;

use super::agents::AgentRun;
use super::parts::Driver;
use super::pauses::doubled;
use crate::engine::{RunSign, TerminalReason, Verdict};
use crate::runner::harness::{RunOutcome, is_overload};

/// The step after an iteration.
pub(super) enum Next {
    /// The next iteration after a pause.
    Iteration(Duration),
    /// Wait until a usage limit is lifted, in seconds since the Unix epoch; `None` if unknown.
    Limit(Option<u64>),
    End(TerminalReason),
}

impl Driver<'_> {
    /// The end of the reader's usage limit that was just met, in seconds since the Unix epoch.
    fn reader_resets_at(&self) -> Option<u64> {
        let result = self.proofs.checked.as_ref()?.results.last()?.review?;
        Some(result.verdicts).filter(|at| result.is_limited() && *at > 1)
    }

    /// The step after a run with this verdict.
    pub(super) fn after(&mut self, verdict: Verdict, ran: &AgentRun) -> Next {
        let sign = match (&verdict, &ran.report.outcome) {
            (Verdict::Wait(_), _) => RunSign::Limited,
            (_, RunOutcome::Failed(_)) if is_overload(ran.report.status) => RunSign::Overloaded,
            _ => RunSign::Answered,
        };
        self.agents.ended(sign);
        match (verdict, &ran.report.outcome) {
            (Verdict::End(reason), _) => Next::End(reason),
            (Verdict::Wait(_), RunOutcome::UsageLimit { resets_at, .. }) => Next::Limit(*resets_at),
            (Verdict::Wait(_), _) => Next::Limit(self.reader_resets_at()),
            // A failed run with progress counts as none in a row, and rests all the same.
            (Verdict::Continue(_), RunOutcome::Failed(_) | RunOutcome::Lasting(_)) => {
                let times = self.files.state.ledger.failures.max(1);
                Next::Iteration(doubled(self.plan.options.settings.retry_pause(), times))
            }
            (Verdict::Continue(_), _) => Next::Iteration(Duration::ZERO),
        }
    }
}
