//! `spool demo`: a whole loop on a throw-away project, with the real hook program.

mod agent;
mod project;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::engine::TerminalReason;
use crate::feature::project::Project;
use crate::plugin::Programs;
use crate::runner::script::TASKS;
use crate::session::report::StatusReport;
use crate::store::loops::Loops;
use project::Scene;
use show::{Speaker, Stage};

/// Watch a loop from start to end, on a throw-away project.
///
/// A scripted agent edits real files; the real hook program judges every stop. You see what Claude Code
/// shows you. No account and no network are needed, and nothing is left behind.
#[derive(clap::Args)]
pub struct DemoArgs {
    /// Keep the project, for a look at its files and its journal
    #[arg(long)]
    keep: bool,
    /// Make the project in this folder, and keep it; the folder must be missing or empty
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Without the pauses that let a person read along
    #[arg(long)]
    fast: bool,
}

/// Succeeds only when the loop ended as completed.
pub fn run(args: &DemoArgs) -> Result<ExitCode> {
    let running = std::env::current_exe().context("the running program cannot be found")?;
    let programs = Programs::beside(&running)?;
    let stage = Stage::open(args.fast)?;
    let played = play(args, &programs, &stage);
    match stage.cut_short() {
        Some(signal) => Ok(u8::try_from(128 + signal).map_or(ExitCode::FAILURE, ExitCode::from)),
        None => played,
    }
}

fn play(args: &DemoArgs, programs: &Programs, stage: &Stage) -> Result<ExitCode> {
    let scene = Scene::set(args.dir.as_deref(), args.keep)?;
    let words =
        format!("A scripted agent, {TASKS} tasks, and the real hook, as Claude Code shows them:");
    stage.say(Speaker::Demo, &words)?;
    agent::play(&scene, stage, programs)?;
    finish(&scene, stage)
}

/// Reports the end from the files alone: the agent's claims do not count.
fn finish(scene: &Scene, stage: &Stage) -> Result<ExitCode> {
    let folder = &scene.project;
    let project = Project::around(folder).context("the demo's project is gone")?;
    let kept = scene.beside.join("state/ralph-speckit");
    let report = StatusReport::of_loops(&project, &Loops::kept_at(&project.root, Some(&kept)));
    let Some(feature) = report.features.first() else {
        bail!("the demo's feature is gone from `{}`", folder.display());
    };
    let shown = feature.r#loop.as_ref();
    let Some(record) = shown.and_then(|shown| shown.record.as_ref()) else {
        bail!(
            "no session has driven the demo's feature\n`spool doctor` tells why a loop does not loop"
        );
    };
    let refused = record.ledger.refused_claims;
    let end = shown.and_then(|shown| shown.form.end.as_ref());
    let end = end.map_or("is still live".to_owned(), |end| format!("ended: {}", end.name));
    outln!();
    let words = format!(
        "{} of {} tasks, {} iterations, {refused} early finish{} refused; the loop {end}",
        feature.facts.done,
        feature.facts.total,
        record.ledger.iterations,
        if refused == 1 { "" } else { "es" },
    );
    stage.say(Speaker::Demo, &words)?;
    if scene.stays {
        outln!("the files:    {}", folder.display());
        outln!("every verdict: spool log --project {}", folder.display());
    }
    if record.ledger.ended != Some(TerminalReason::Completed) || refused == 0 {
        bail!("the demo did not play as written\nlook at what it left: spool demo --keep");
    }
    if !scene.stays {
        outln!("your turn: `spool setup`, then `/speckit:implement` in a project of yours");
    }
    Ok(ExitCode::SUCCESS)
}
