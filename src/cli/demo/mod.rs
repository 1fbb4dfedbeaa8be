//! `spool demo`: a loop from start to end on a throw-away project, with the real hook program.

mod agent;
mod client;
mod model;
mod project;
mod script;
mod show;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::engine::TerminalReason;
use crate::feature::project::Project;
use crate::plugin::Programs;
use crate::session::report::feature::{FeatureReport, FeaturesReport};
use show::{Speaker, say};

/// Watch a loop from start to end, on a throw-away project.
///
/// A scripted agent edits real files; the real hook program judges every stop. No account and no
/// network are needed.
#[derive(clap::Args)]
pub struct DemoArgs {
    /// Play it with an installed Claude Code and a scripted model on this machine; PATH names the program
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "claude")]
    claude: Option<PathBuf>,
    /// Make the project in this folder instead of a temporary one; it must be missing or empty
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Plays the demo and returns success only when the loop ended as completed.
pub fn run(args: &DemoArgs) -> Result<ExitCode> {
    let running = std::env::current_exe().context("the running program cannot be found")?;
    let programs = Programs::beside(&running)?;
    let folder = project::create(args.dir.as_deref())?;
    say(
        Speaker::Demo,
        &format!("a project with a list of {} tasks: {}", script::TASKS, folder.display()),
    );
    match &args.claude {
        None => agent::play(&folder, &programs.ralph_hook)?,
        Some(program) => client::play(&folder, program, &programs)?,
    }
    finish(&folder)
}

/// Says how it ended, from the files alone: what the agent claims is not asked.
fn finish(folder: &Path) -> Result<ExitCode> {
    let project = Project::around(folder).context("the demo's project is gone")?;
    let report = FeaturesReport::of(&project);
    let Some(feature) = report.features.first() else {
        bail!("the demo's feature is gone from `{}`", folder.display());
    };
    let Some(record) = &feature.record else {
        bail!(
            "no session has driven the demo's feature\n`spool doctor` tells why a loop does not loop"
        );
    };
    let refused = record.ledger.refused_claims;
    outln!();
    say(
        Speaker::Demo,
        &format!(
            "{} of {} tasks done in {} iterations, {refused} early finish{} refused; the loop {}",
            feature.done,
            feature.total,
            record.ledger.iterations,
            if refused == 1 { "" } else { "es" },
            ending(feature),
        ),
    );
    say(Speaker::Demo, &format!("the files:    {}", folder.display()));
    say(Speaker::Demo, &format!("every verdict: spool log --project {}", folder.display()));
    if record.ledger.ended != Some(TerminalReason::Completed) || refused == 0 {
        bail!("the demo did not play as written: see `spool log --project {}`", folder.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn ending(feature: &FeatureReport) -> String {
    match feature.reason.as_str() {
        "" => "is still live".to_owned(),
        reason => format!("ended: {reason}"),
    }
}
