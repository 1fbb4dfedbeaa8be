//! `spool status`: the loops of a project as they stand.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::context::Where;
use crate::runner::report as runners;
use crate::session::report::StatusReport;
use crate::text;

/// Show the loops of this project.
#[derive(clap::Args)]
pub struct StatusArgs {
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Where,
}

/// Prints the report: the loops in sessions, then those of `spool ralph`.
pub fn run(args: &StatusArgs) -> Result<ExitCode> {
    let start = args.place.start()?;
    let runners = runners::root_around(&start).map(runners::all).unwrap_or_default();
    let mut report = match args.place.with_loops() {
        Ok(project) => Some(StatusReport::of(&project)),
        // A project that only runners work on needs no `.specify`.
        Err(_) if !runners.is_empty() => None,
        Err(error) => return Err(error),
    };
    if let Some(report) = &mut report {
        for feature in &mut report.speckit.features {
            let at_work = runners.iter().find(|it| it.is_alive() && it.change_id == feature.name);
            feature.runner = at_work.map(runners::RunnerReport::line).unwrap_or_default();
        }
    }
    if args.json {
        let mut value = report.map_or_else(|| Ok(json!({})), serde_json::to_value)?;
        value["runners"] = serde_json::to_value(&runners)?;
        outln!("{}", text::json(&serde_json::to_string_pretty(&value)?));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(report) = report {
        out!("{}", report.text());
    }
    if !runners.is_empty() {
        outln!("Loops of `spool ralph` (`spool ralph --status --change ID` tells more):");
    }
    for runner in &runners {
        outln!("  {}", runner.line());
    }
    Ok(ExitCode::SUCCESS)
}
