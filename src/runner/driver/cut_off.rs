//! The use of an iteration whose runner was killed, and of a review cut off with its runner or by a stop.

use std::fs;
use std::path::{Path, PathBuf};

use crate::engine::Check;
use crate::forms::plain::{JsonNumber, words};
use crate::forms::review::{Review, ReviewOutcome};
use crate::forms::spent::{Amount, Spent, in_dollars, micros};
use crate::runner::harness::{
    AgentOrder, AgentReport, Approval, ExitInfo, Harness, Permissions, TokenUsage, of_history,
};
use crate::runner::prices::PriceTable;
use crate::runner::state::{Iteration, LoopState, is_change_id, time_of};
use crate::runner::story::read_again;
use crate::runner::tokens::{Counter, TokenCount};
use crate::store::read;
use crate::world::WallTime;

/// Bytes of the last review.
const MOST: u64 = 16 << 20;

/// Counts the tokens and the cost of an iteration whose runner was killed, by its log and the agent program's own
/// records. Other use stays unknown.
pub(super) fn count_cut_off(left: &mut Iteration, folder: &Path, prices: &PriceTable) {
    left.tokens_unknown = true;
    let is_log = left.log.strip_prefix("logs/").is_some_and(is_change_id);
    let log = (folder.join(&left.log), left.agent_log_bytes);
    let Some((harness, mut report)) = report_of_log(&left.harness, &log).filter(|_| is_log) else {
        return;
    };
    report.model = report.model.or_else(|| words(&left.model));
    let began = time_of(&left.started).unwrap_or_default();
    let counted = Counter::default().count(None, &report, harness.as_ref(), began);
    left.tokens_used = counted.tokens;
    left.tokens_estimated = counted.estimated;
    left.tokens_unknown = counted.unknown;
    left.session_id = report.session.clone().unwrap_or_default();
    left.tool_calls = report.tool_calls;
    if let Some(cost) = prices.of_run(&report, &counted, None) {
        left.cost_usd = Some(in_dollars(cost.value));
        left.cost_estimated = cost.estimated;
    }
}

/// The use of a review in the iteration's last step; zero without one. The log tells the use of a review that was cut
/// off; an unknown part is marked.
pub(super) fn review_of_cut_off(
    iteration: &Iteration,
    state: &LoopState,
    folder: &Path,
    prices: &PriceTable,
) -> Spent {
    let none = Spent::default();
    let review = state.checks.iter().find(|check| check.is_review());
    let Some(review) = review.filter(|check| state.doing.contains(&format!("`{}`", check.run)))
    else {
        return none;
    };
    let began = time_of(&iteration.started).unwrap_or_default();
    let kept = read::read(&folder.join("review.json"), MOST).ok();
    let kept = kept.and_then(|file| Review::read(&file.bytes).ok());
    if let Some(kept) = kept.filter(|kept| kept.began_at.is_some_and(|at| at.wall() >= began)) {
        let is_cut = kept.outcome == ReviewOutcome::Interrupted;
        let amount = |value: Option<u64>, estimated| Amount {
            value: value.unwrap_or_default(),
            estimated,
            partial: is_cut || value.is_none(),
        };
        return Spent {
            tokens: amount(kept.tokens.map(JsonNumber::get), false),
            cost: amount(kept.cost_usd.map(micros), kept.cost_estimated),
        };
    }
    let log = folder.join("review.log");
    let written = fs::symlink_metadata(&log).and_then(|meta| meta.modified());
    let is_its = written.is_ok_and(|at| WallTime::from(at) >= began);
    let read = is_its.then(|| cut_off_review(review, log, prices)).flatten().unwrap_or_default();
    // The rest of the use is unknown.
    let unknown = Amount { partial: true, ..Amount::default() };
    read.plus(Spent { tokens: unknown, cost: unknown })
}

/// The agent program of this name, and its report from the log of a run that was cut off. Nothing is started.
fn report_of_log(
    harness: &str,
    (log, bytes): &(PathBuf, u64),
) -> Option<(Box<dyn Harness>, AgentReport)> {
    let is_words = harness == "command";
    let (harness, permissions) = (of_history(harness)?, Permissions::default());
    let folder = log.parent()?;
    let mut reader = harness.reader(&AgentOrder {
        prompt: "",
        model: None,
        version: "",
        approval: Approval::Own,
        permissions: &permissions,
        resume: None,
        folder,
        scratch: folder,
    });
    read_again(reader.as_mut(), is_words, (log, *bytes), &mut |_| ()).ok()?;
    Some((harness, reader.report(&ExitInfo { cut: true, ..ExitInfo::default() })))
}

/// The use of a cut off review by its log.
fn cut_off_review(review: &Check, log: PathBuf, prices: &PriceTable) -> Option<Spent> {
    let (_, report) = report_of_log(review.reader(), &(log, 0))?;
    let tokens = report.tokens.map_or(0, TokenUsage::total);
    let counted = TokenCount { tokens, usage: report.tokens, ..TokenCount::default() };
    let cost = prices.of_run(&report, &counted, None);
    let tokens = Amount { value: tokens, ..Amount::default() };
    Some(Spent { tokens, cost: cost.unwrap_or_default() })
}
