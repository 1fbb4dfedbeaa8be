//! `spool log --summary`: the words of a change's last run at its end.

use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};

use super::story::meant;
use crate::cli::context::Where;
use crate::feature::project::printable;
use crate::forms;
use crate::forms::events::EventForm;
use crate::runner::report::RunnerReport;
use crate::runner::state::{find_state_folder, read_state};
use crate::runner::summary::{KEPT, KeptSummary, killed};
use crate::text;

pub fn show(place: &Where, change: Option<&str>, as_json: bool) -> Result<ExitCode> {
    let (root, change) = meant(place, change)?;
    let Some(folder) = find_state_folder(&root, &change)? else {
        bail!("no loop has run on the change `{}` yet", printable(&change));
    };
    let report = RunnerReport::of(&root, &change)?;
    if let Some((event, words)) = killed(&report, &root) {
        if as_json {
            dataln!("{}", forms::line(&EventForm::now(event, words))?);
        } else {
            outln!("{}", text::block(&words));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let kept = KeptSummary::of(&folder).map_err(|problem| {
        anyhow!(
            "`{}` cannot be read: {problem}\nmove it away; the next end writes it again",
            folder.join(KEPT).display()
        )
    })?;
    let Some(kept) = kept else {
        bail!(
            "no run of `{0}` has come to its end yet\n`spool status --change {0}` shows how far it is",
            printable(&change)
        );
    };
    if as_json {
        dataln!("{}", text::json(&kept.event.to_string()));
        return Ok(ExitCode::SUCCESS);
    }
    let state = read_state(&folder).ok().flatten().map(|(state, _)| state);
    if state.is_some_and(|state| state.started_at != kept.run_started_at) {
        outln!("Of an earlier run: the last one has not come to its end.");
    }
    out!("{}", kept.text());
    Ok(ExitCode::SUCCESS)
}

/// The text below the entries of a change, or of the meant one without a name: the summary of its last run if that has
/// ended or was killed.
pub fn below(place: &Where, change: Option<&str>) -> String {
    let Ok((root, change)) = meant(place, change) else { return String::new() };
    let report = RunnerReport::of(&root, &change).ok();
    if let Some((_, words)) = report.and_then(|report| killed(&report, &root)) {
        return format!("{}\n", text::block(&words));
    }
    let folder = find_state_folder(&root, &change).ok().flatten();
    let both = folder
        .and_then(|folder| Some((KeptSummary::of(&folder).ok()??, read_state(&folder).ok()??.0)));
    let both = both
        .filter(|(kept, state)| kept.run_started_at == state.started_at && state.status.is_over());
    both.map_or_else(String::new, |(kept, _)| kept.text())
}
