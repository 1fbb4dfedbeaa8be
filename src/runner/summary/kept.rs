//! The summary of a change's last run, kept to be read again, and that of a run whose runner was killed, before the next
//! run has recorded it.

use std::io;
use std::path::Path;
use std::time::Duration;

use anstream::adapter::strip_str;
use serde_json::{Value, json};

use crate::feature::project::printable;
use crate::forms::Versioned;
use crate::forms::events::{EventForm, RunnerEnd, RunnerEvent};
use crate::forms::proofs::ProofsForm;
use crate::forms::summary::RunSummary;
use crate::mask::masked_text;
use crate::runner::messages;
use crate::runner::report::form::{self, CONTINUES};
use crate::runner::report::{RunnerReport, since};
use crate::runner::state::{LoopState, of_run};
use crate::session::report::session_loop::LoopFormState;
use crate::store::read::{self, Problem};
use crate::store::write::{Flush, write_private};
use crate::text;

/// Its file in the state folder.
pub const KEPT: &str = "summary.json";
/// Bytes read of the file.
const MOST: u64 = 4 << 20;
/// Lines that are shown.
const LINES: usize = 24;
/// The word for a killed run, in place of status and reason.
const KILLED: &str = "killed";
/// A shell's exit code for a killed program.
const CODE: u8 = 128 + 9;

#[derive(Clone, Debug)]
pub struct KeptSummary {
    /// The start of the run, as in its state.
    pub run_started_at: String,
    /// The last line of `spool ralph --json` for the run.
    pub event: Value,
}

/// Keeps the end's words about the run that was started at this time.
pub fn keep(folder: &Path, run: &str, event: &RunnerEvent, words: &str) -> io::Result<()> {
    let words = masked_text(&strip_str(words).to_string()).into_owned();
    let event = Versioned::of(EventForm::now(event.clone(), words));
    let kept = json!({ "run_started_at": run, "event": event });
    write_private(&folder.join(KEPT), masked_text(&kept.to_string()).as_bytes(), Flush::ToSystem)
}

impl KeptSummary {
    /// The summary of the last run that ended; `None` for none. An error if it cannot be read.
    pub fn of(folder: &Path) -> Result<Option<Self>, Problem> {
        let bytes = match read::read(&folder.join(KEPT), MOST) {
            Ok(found) => found.bytes,
            Err(Problem::Missing) => return Ok(None),
            Err(problem) => return Err(problem),
        };
        let mut kept: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let run_started_at = kept["run_started_at"].as_str().unwrap_or_default().to_owned();
        let event = kept["event"].take();
        Ok(event.is_object().then_some(Self { run_started_at, event }))
    }

    /// At most 24 lines for a person.
    pub fn text(&self) -> String {
        let words = text::block(self.event["words"].as_str().unwrap_or_default()).into_owned();
        let lines: Vec<&str> = words.lines().collect();
        let mut shown: Vec<String> = lines.iter().copied().take(LINES).map(str::to_owned).collect();
        if lines.len() > LINES {
            shown.truncate(LINES - 1);
            shown.push(format!("       … and {} more lines: add --json", lines.len() + 1 - LINES));
        }
        shown.join("\n") + "\n"
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_summary_fits_24_lines() {
        let folder = tempfile::tempdir().unwrap();
        assert!(KeptSummary::of(folder.path()).unwrap().is_none());
        let words = "\u{1b}[32mralph: done\u{1b}[0m\n       a \u{7}line\n".to_owned();
        let long = format!("{words}{}", "       more\n".repeat(40));
        keep(folder.path(), "now", &RunnerEvent::Paused, &long).unwrap();
        let kept = KeptSummary::of(folder.path()).unwrap().unwrap();
        let text = kept.text();
        assert_eq!((kept.run_started_at.as_str(), text.lines().count()), ("now", 24), "{text}");
        assert!(text.starts_with("ralph: done\n       a line\n"), "{text:?}");
        assert!(text.ends_with("\n       … and 19 more lines: add --json\n"), "{text}");
        std::fs::write(folder.path().join(KEPT), "[torn").unwrap();
        assert!(KeptSummary::of(folder.path()).unwrap().is_none());
    }
}
