//! The summary of a run whose runner was killed, before the next run has recorded it.

use std::path::Path;
use std::time::Duration;

use crate::feature::project::printable;
use crate::forms::events::{RunnerEnd, RunnerEvent};
use crate::forms::proofs::ProofsForm;
use crate::forms::summary::RunSummary;
use crate::runner::messages;
use crate::runner::report::form::CONTINUES;
use crate::runner::report::{RunnerReport, form, since};
use crate::runner::state::{LoopState, of_run};
use crate::session::report::session_loop::LoopFormState;

/// The word for a killed run, in place of status and reason.
const KILLED: &str = "killed";
/// A shell's exit code for a killed program.
const CODE: u8 = 128 + 9;

/// The run as an event and in words; `None` if its runner was not killed.
pub fn killed(report: &RunnerReport, worktree: &Path) -> Option<(RunnerEvent, String)> {
    if report.is != LoopFormState::Dead {
        return None;
    }
    // Nobody has counted the use of the killed runner's iteration yet.
    let cut_off = report.running_iteration.as_ref();
    let state = LoopState {
        tokens_unknown: report.state.tokens_unknown || cut_off.is_some(),
        cost_unknown: report.state.cost_unknown || cut_off.is_some(),
        ..report.state.clone()
    };
    let own = of_run(Path::new(&report.folder), &state.started_at);
    let came = RunSummary::of(&own, worktree, None, true);
    let seconds = Duration::try_from_secs_f64(state.ran_seconds).unwrap_or_default();
    let at = cut_off.map(|iteration| format!(" in iteration {}", iteration.n)).unwrap_or_default();
    let mut words = format!(
        "ralph: {KILLED}: process {} was killed{at}, or the machine went down; last sign of life {}\n       {}",
        state.pid,
        since(&state.updated_at),
        messages::figures_of_run(&state, seconds, [came.commits, came.files.len()]).join(", "),
    );
    let mut lines = vec![printable(&report.proofs.line())];
    lines.extend(cut_off.map(|iteration| {
        let left = "the next run counts it from its log, judges its ticks and names its files";
        format!("Not in it: what iteration {} used and left; {left}", iteration.n)
    }));
    lines.push(CONTINUES.to_owned());
    lines.extend(came.text(None));
    lines.push(format!("spool ralph --status --change {}", printable(&report.change_id)));
    for line in lines.iter().filter(|line| !line.is_empty()) {
        words = format!("{words}\n       {line}");
    }
    let end = RunnerEnd {
        status: KILLED.to_owned(),
        reason: KILLED,
        exit_code: CODE,
        seconds: seconds.as_secs().into(),
        commits: (came.commits as u64).into(),
        files_changed: (came.files.len() as u64).into(),
        proofs: ProofsForm::of(&report.proofs),
        next: Some(CONTINUES.to_owned()),
        summary: came,
        ..form::end(&state)
    };
    Some((RunnerEvent::End(Box::new(end)), words))
}
