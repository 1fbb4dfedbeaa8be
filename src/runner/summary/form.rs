//! A summary as programs read it.

use std::path::PathBuf;

use super::{RunSummary, TaskCost};
use crate::forms::story::FileLines;
use crate::forms::summary::{RunSummaryForm, TaskCostForm};
use crate::runner::git::ChangedLines;

/// The most files that are listed.
const FILES: usize = 200;

impl From<&RunSummary> for RunSummaryForm {
    fn from(summary: &RunSummary) -> Self {
        let (added, removed) = summary.lines();
        let file = |(path, lines): (&PathBuf, &Option<ChangedLines>)| {
            let unknown = ChangedLines { path: path.clone(), added: None, removed: None };
            FileLines::from(lines.as_ref().unwrap_or(&unknown))
        };
        let [log, diff] = summary.commands(None);
        Self {
            from_commit: summary.from.clone(),
            to_commit: summary.to.clone(),
            lines_added: added.into(),
            lines_removed: removed.into(),
            files: summary.files.iter().take(FILES).map(file).collect(),
            costs: summary.costs.iter().map(TaskCostForm::from).collect(),
            failed_checks: summary.failed_checks.clone(),
            kept: summary.kept.clone(),
            commands: [log, diff].into_iter().flatten().collect(),
        }
    }
}

impl From<&TaskCost> for TaskCostForm {
    fn from(cost: &TaskCost) -> Self {
        Self {
            tasks: cost.tasks.clone(),
            iterations: cost.iterations,
            seconds: (cost.seconds * 1000.0).round() / 1000.0,
            tokens: (cost.tokens > 0 || !cost.tokens_unknown).then(|| cost.tokens.into()),
            tokens_estimated: cost.tokens_estimated,
            tokens_complete: !cost.tokens_unknown,
            cost_usd: (cost.dollars > 0.0).then_some(cost.dollars),
            cost_estimated: cost.cost_estimated,
            cost_complete: !cost.cost_unknown,
        }
    }
}
