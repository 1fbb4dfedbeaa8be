//! `spool ralph --dry-run`: what a run would do, with its first prompt.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};

use super::output;
use crate::feature::settings::SETTINGS;
use crate::runner::harness::{AgentOrder, Approval, Input, Launch, harness};
use crate::runner::options::{
    Commits, DoneCriteria, HarnessChoice, Layers, Options, Sessions, Setting, time_in_words,
};
use crate::runner::prompt::{self, Material, prompt};
use crate::runner::state::state_folder;
use crate::runner::target::Change;
use crate::text;

/// Prints what would happen; nothing is started and nothing is written.
pub fn print(change: Option<&Change>, options: &Options, layers: &Layers) -> Result<ExitCode> {
    let mut text = String::from("Nothing is started (--dry-run).\n");
    let first = change.map(|change| first_prompt(change, options)).transpose()?;
    match change {
        Some(change) => about(&mut text, change),
        None => text.push_str("\nChange: the demo's own, on a throw-away project\n"),
    }
    agent(&mut text, change, options, first.as_deref())?;
    criteria(&mut text, change, options);
    around(&mut text, options);
    limits(&mut text, options);
    sources(&mut text, layers);
    if let Some(prompt) = first {
        let _ = write!(text, "\nThe first prompt, {} bytes:\n\n{prompt}", prompt.len());
    }
    output::print(&text::block(&text))?;
    Ok(ExitCode::SUCCESS)
}

fn about(text: &mut String, change: &Change) {
    let module = change.module.as_deref().unwrap_or("none");
    let _ = writeln!(text, "\nChange: {} (module: {module})", change.id);
    let _ = writeln!(text, "Work tree: {}", change.worktree.display());
    let _ = writeln!(text, "State: {}", state_folder(&change.root, &change.id).display());
    text.push_str("Files that are read:\n");
    for line in prompt::files(change, change.tasks().as_deref()) {
        let _ = writeln!(text, "  {line}");
    }
}

/// The prompt that the first iteration would get.
fn first_prompt(change: &Change, options: &Options) -> Result<String> {
    let done = options.done.unwrap_or_default();
    let contract = options.contract(done);
    prompt(&Material {
        change,
        task: &options.task,
        context: "",
        contract: &contract,
        done,
        promise_match: options.promise_match,
        iteration: 1,
        missing: &[],
        remarks: &[],
        tasks: change.tasks().as_deref(),
        resumed: false,
        spec_kit: &options.spec_kit,
    })
}

fn agent(
    text: &mut String,
    change: Option<&Change>,
    options: &Options,
    prompt: Option<&str>,
) -> Result<()> {
    let harness = harness(&options.harness)?;
    let consent = match options.allow_all {
        Approval::All => "every tool runs without asking",
        Approval::Own => "what the agent program allows by itself",
    };
    let _ = writeln!(text, "\nAgent: {}", harness.name());
    let _ = writeln!(text, "Model: {}", options.model.as_deref().unwrap_or("its own choice"));
    let _ = writeln!(text, "Tools: {consent}");
    let sessions = match options.sessions {
        Sessions::Fresh => "a fresh one in each iteration",
        Sessions::Continued => "one for all iterations",
    };
    let _ = writeln!(text, "Sessions: {sessions}");
    if options.commits == Commits::EachIteration {
        text.push_str("Commits: after each iteration, only the files that it changed\n");
    }
    let (Some(_), Some(prompt)) = (change, prompt) else {
        return Ok(());
    };
    if options.harness == HarnessChoice::Demo {
        return Ok(());
    }
    // An adapter may put files into its scratch folder: this one goes away again.
    let scratch = tempfile::tempdir().context("a temporary folder cannot be made")?;
    let order = AgentOrder {
        prompt,
        model: options.model.as_deref(),
        approval: options.allow_all,
        resume: None,
        scratch: scratch.path(),
    };
    match harness.launch(&order) {
        Ok(launch) => command_line(text, &launch, prompt, scratch.path()),
        Err(error) => {
            let _ = writeln!(text, "Command line: {error:#}");
        }
    }
    Ok(())
}

fn command_line(text: &mut String, launch: &Launch, prompt: &str, scratch: &Path) {
    let scratch = scratch.display().to_string();
    let shown = |word: &str| word.replace(prompt, "THE_PROMPT").replace(&scratch, "SCRATCH");
    let mut words = vec![launch.program.display().to_string()];
    words.extend(launch.arguments.iter().map(|it| shown(&it.to_string_lossy())));
    let _ = writeln!(text, "Command line: {}", shell_words::join(&words));
    for (name, value) in &launch.set {
        let _ = writeln!(text, "  with {name}={}", shown(&value.to_string_lossy()));
    }
    if let Input::Text(input) = &launch.input {
        let _ = writeln!(text, "  {} bytes on its standard input", input.len());
    }
}

fn criteria(text: &mut String, change: Option<&Change>, options: &Options) {
    let promise = format!("<promise>{}</promise>", options.promise);
    let list = change.and_then(Change::tasks);
    let _ = match (options.done, list) {
        (Some(DoneCriteria::Tasks), Some(list)) => {
            writeln!(text, "\nDone: when every box of {} is ticked", list.display())
        }
        (Some(DoneCriteria::Check), _) => writeln!(text, "\nDone: when every check passes"),
        (Some(DoneCriteria::Manual), _) => {
            writeln!(text, "\nDone: when the agent writes {promise}")
        }
        _ => writeln!(text, "\nDone: when every box of the tasks.md is ticked"),
    };
    for check in &options.checks {
        let _ = writeln!(text, "Check: {} (within {} s)", check.run, check.limit_seconds);
    }
    if !options.notify.is_empty() {
        let _ = writeln!(text, "Notice: {}", options.notify);
    }
    if options.min_iterations > 0 {
        let _ = writeln!(text, "Not before: iteration {}", options.min_iterations);
    }
}

/// What spec-kit asks for around the work.
fn around(text: &mut String, options: &Options) {
    let hooks = options.spec_kit.hooks_in_words();
    if !hooks.is_empty() {
        let _ = writeln!(text, "Extension hooks: {hooks}");
    }
    let open = &options.spec_kit.open_checklists;
    if !open.is_empty() {
        let _ = writeln!(text, "Open checklists, as you wish: {}", open.join(", "));
    }
}

fn limits(text: &mut String, options: &Options) {
    let number = |limit: u64| if limit == 0 { "none".to_owned() } else { limit.to_string() };
    let time = |limit: Option<Duration>| limit.map_or_else(|| "none".to_owned(), time_in_words);
    let rows = [
        ("iterations", number(options.max_iterations.unwrap_or(0).into())),
        ("iterations without a commit", number(options.stall_threshold.into())),
        ("iterations that change nothing", number(options.no_progress.into())),
        ("failed runs in a row", number(options.max_failures.into())),
        ("an iteration", time(options.iteration_timeout)),
        ("silence", time(options.idle_timeout)),
        ("the whole loop", time(options.max_runtime)),
        ("tokens", number(options.token_budget.unwrap_or(0))),
        ("between asking and killing", time_in_words(options.grace)),
        ("the pause after a failed run", time_in_words(options.retry_pause)),
    ];
    text.push_str("\nLimits:\n");
    for (what, limit) in rows {
        let _ = writeln!(text, "  {what}: {limit}");
    }
}

fn sources(text: &mut String, layers: &Layers) {
    text.push_str("\nSettings:\n");
    let made = layers.merged().made();
    let of_every_loop = layers.of_every_loop.checks.len();
    if of_every_loop > 0 {
        let checks = text::counted(of_every_loop as u64, "check");
        let _ = writeln!(text, "  {checks} of every loop here ({SETTINGS})");
    } else if made.is_empty() {
        text.push_str("  none: all as it is by default\n");
    }
    let line = |setting: &Setting| {
        format!("{} = {} ({})\n", setting.name, setting.values.join(", "), setting.origin)
    };
    for setting in &made {
        let _ = write!(text, "  {}", line(setting));
    }
    for setting in &layers.left_out {
        let _ = write!(text, "  does not count: {}", line(setting));
    }
}
