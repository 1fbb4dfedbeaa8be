//! `spool status`: the loops of a project as they stand.

use std::process::ExitCode;

use anyhow::Result;

use super::Where;
use crate::ralph::report::Report;

/// Show the loops of this project.
#[derive(clap::Args)]
pub struct StatusArgs {
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Where,
}

/// Prints the report.
pub fn run(args: &StatusArgs) -> Result<ExitCode> {
    let report = Report::of(&args.place.with_loops()?);
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        anstream::print!("{}", report.text());
    }
    Ok(ExitCode::SUCCESS)
}
