//! What an iteration has used in which its runner was killed.

use std::path::Path;

use crate::runner::harness::{AgentOrder, Approval, ExitInfo, Permissions, of_history};
use crate::runner::prices::{PriceTable, in_dollars};
use crate::runner::state::{Iteration, is_change_id, time_of};
use crate::runner::story::read_again;
use crate::runner::tokens::Counter;

/// Counts the tokens and the costs of an iteration in which its runner was killed, from its log and from what the agent
/// program has written down about the session; what neither says stays unknown.
pub(super) fn count_cut_off(left: &mut Iteration, folder: &Path, prices: &PriceTable) {
    left.tokens_unknown = true;
    let is_log = left.log.strip_prefix("logs/").is_some_and(is_change_id);
    let Some(harness) = of_history(&left.harness).filter(|_| is_log) else { return };
    let permissions = Permissions::default();
    let order = AgentOrder {
        prompt: "",
        model: None,
        version: "",
        approval: Approval::Own,
        permissions: &permissions,
        resume: None,
        folder,
        scratch: folder,
    };
    let mut reader = harness.reader(&order);
    let log = folder.join(&left.log);
    let logged = (log.as_path(), left.agent_log_bytes);
    if read_again(reader.as_mut(), left.harness == "command", logged, &mut |_| ()).is_err() {
        return;
    }
    let mut report = reader.report(&ExitInfo { cut: true, ..ExitInfo::default() });
    report.model = report.model.or_else(|| Some(left.model.clone()).filter(|it| !it.is_empty()));
    let began = time_of(&left.started).unwrap_or_default();
    let counted = Counter::default().count(None, &report, harness.as_ref(), began);
    left.tokens_used = counted.tokens;
    left.tokens_estimated = counted.estimated;
    left.tokens_unknown = counted.unknown;
    left.session_id = report.session.clone().unwrap_or_default();
    left.tool_calls = report.tool_calls;
    if let Some(cost) = prices.of_run(&report, &counted, None) {
        left.cost_usd = Some(in_dollars(cost.cost));
        left.cost_estimated = cost.estimated;
    }
}
