//! `spool ralph --dry-run`: the plan of a run, with its first prompt.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::engine::edit::untick_all;
use crate::engine::{Dollars, Ledger, aside};
use crate::evidence::task_list::TaskFile;
use crate::feature::project::Project;
use crate::feature::settings::SETTINGS;
use crate::forms;
use crate::forms::plain::words;
use crate::forms::plan::{
    PlanForm, PlannedAgent, PlannedChange, PlannedCommand, PlannedLimits, PlannedSetting,
};
use crate::forms::runner::DoneWhen;
use crate::forms::spent::{in_dollars, micros};
use crate::runner::harness::{AgentOrder, Approval, Harness, Input, Launch, harness};
use crate::runner::options::{AgentChoice, Form, HarnessChoice, Layers, Options, time_in_words};
use crate::runner::prompt::{self, Material, prompt};
use crate::runner::state::state_folder;
use crate::runner::target::Change;
use crate::session::messages::shortfall::hooks_in_words;
use crate::session::view::FeatureView;
use crate::settings::Made;
use crate::text;

/// Starts and writes nothing.
pub fn print(change: Option<&Change>, options: &Options, layers: &Layers) -> Result<ExitCode> {
    let plan = plan(change, options, layers)?;
    match options.form {
        Form::Words => dataln!("{}", text::block(&in_words(&plan)).trim_end()),
        Form::Json => dataln!("{}", forms::document(&plan)?),
    }
    Ok(ExitCode::SUCCESS)
}

fn plan(change: Option<&Change>, options: &Options, layers: &Layers) -> Result<PlanForm> {
    let prompt = change.map(|change| first_prompt(change, options)).transpose()?;
    let contract = options.contract(options.done.unwrap_or_default());
    Ok(PlanForm {
        change: change.map(|change| about(change, options)),
        agent: agent(options, &options.agents()[0], prompt.as_deref())?,
        fallbacks: options.agents()[1..]
            .iter()
            .map(|other| agent(options, other, prompt.as_deref()))
            .collect::<Result<_>>()?,
        done_when: options.done,
        promise: contract.token,
        min_iterations: options.settings.min_iterations(),
        checks: options.checks.iter().map(Into::into).collect(),
        notify: words(&options.settings.notify()),
        converge: options.spec_kit.converge.as_ref().map(|command| command.file.clone()),
        hooks: words(&hooks_in_words(&options.spec_kit.hooks)),
        open_checklists: options.spec_kit.open_checklists.clone(),
        limits: limits(options),
        checks_of_every_loop: (layers.of_every_loop.checks.len() as u64).into(),
        settings: layers.merged().0.iter().map(setting).collect(),
        left_out: layers.left_out.iter().map(setting).collect(),
        prompt,
    })
}

fn about(change: &Change, options: &Options) -> PlannedChange {
    let path = change.tasks();
    let list = change.task_list().unwrap_or_default().list;
    PlannedChange {
        name: change.id.clone(),
        module: change.module.clone(),
        work_tree: change.worktree.display().to_string(),
        folder: state_folder(&change.root, &change.id).display().to_string(),
        files: prompt::files(change, path.as_deref()),
        asides: list.with_optional(options.settings.include_optional()).asides(),
        task_list: path.map(|path| path.display().to_string()),
    }
}

fn first_prompt(change: &Change, options: &Options) -> Result<String> {
    let done = options.done.unwrap_or_default();
    let contract = options.contract(done);
    let (project, feature) = (Project { root: change.root.clone() }, change.feature());
    // The run opens these boxes before its first prompt.
    let refused = || FeatureView::of(&project, &feature).refused();
    let list = change.task_list().map(|file| TaskFile::of(untick_all(&file.bytes, &refused())));
    prompt(&Material {
        change,
        task: &options.task,
        context: &crate::runner::state::Context::of(&state_folder(&change.root, &change.id))
            .read()?,
        contract: &contract,
        done,
        iteration: 1,
        missing: &[],
        remarks: &[],
        near_limit: options.near_limit(&contract, &Ledger::default(), 0, None),
        tasks: change.tasks().as_deref(),
        list: list.as_ref(),
        proof: options.settings.proof(),
        converge: None,
        resumed: false,
        spec_kit: &options.spec_kit,
    })
}

fn agent(options: &Options, choice: &AgentChoice, prompt: Option<&str>) -> Result<PlannedAgent> {
    let AgentChoice { harness: chosen, model } = choice;
    let harness = harness(chosen)?;
    let prompt = prompt.filter(|_| *chosen != HarnessChoice::Demo);
    let launch = prompt
        .map(|prompt| command_line(harness.as_ref(), options, model.as_deref(), prompt))
        .transpose()?;
    let problem = launch.as_ref().and_then(|launch| launch.as_ref().err().cloned());
    Ok(PlannedAgent {
        harness: harness.name().to_owned(),
        model: model.clone(),
        allow_all: options.allow_all == Approval::All,
        continue_session: options.settings.continue_session(),
        commit: options.settings.commit(),
        command_line: launch.and_then(Result::ok),
        problem,
    })
}

/// The agent program's command line, or why there is none.
fn command_line(
    harness: &dyn Harness,
    options: &Options,
    model: Option<&str>,
    prompt: &str,
) -> Result<Result<PlannedCommand, String>> {
    // An adapter may write into its scratch folder, so the folder is temporary.
    let scratch = tempfile::tempdir().context("a temporary folder cannot be made")?;
    let version = harness.version().unwrap_or_default();
    let order = AgentOrder {
        prompt,
        model,
        version: &version,
        approval: options.allow_all,
        permissions: &options.permissions,
        resume: None,
        // A loop has this folder only once it begins; no command line contains it.
        folder: Path::new(""),
        scratch: scratch.path(),
    };
    let launch = harness.launch(&order).map_err(|error| format!("{error:#}"));
    Ok(launch.map(|launch| described(&launch, prompt, scratch.path())))
}

fn described(launch: &Launch, prompt: &str, scratch: &Path) -> PlannedCommand {
    let scratch = scratch.display().to_string();
    let shown = |word: &str| word.replace(prompt, "THE_PROMPT").replace(&scratch, "SCRATCH");
    let mut words = vec![launch.program.display().to_string()];
    words.extend(launch.arguments.iter().map(|word| shown(&word.to_string_lossy())));
    let set = launch.set.iter();
    PlannedCommand {
        words,
        variables: set
            .map(|(name, value)| format!("{name}={}", shown(&value.to_string_lossy())))
            .collect(),
        input_bytes: match &launch.input {
            Input::Text(input) | Input::Dialog(input) => Some((input.len() as u64).into()),
            Input::Nothing => None,
        },
    }
}

fn limits(options: &Options) -> PlannedLimits {
    let settings = &options.settings;
    let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs_f64());
    PlannedLimits {
        max_iterations: settings.max_iterations(),
        stall_threshold: settings.stall_threshold(),
        no_progress: settings.no_progress(),
        max_failures: Some(settings.max_failures()),
        iteration_seconds: seconds(settings.iteration_timeout()),
        idle_seconds: seconds(settings.idle_timeout()),
        runtime_seconds: seconds(options.max_runtime),
        tokens: settings.token_budget().map(Into::into),
        cost_usd: settings.max_usd().map(in_dollars),
        limit_wait_seconds: seconds(options.limit_wait),
        asks_at_usage_limit: options.asks_at_limit,
        grace_seconds: settings.grace().as_secs_f64(),
        retry_seconds: settings.retry_pause().as_secs_f64(),
    }
}

fn setting(made: &Made) -> PlannedSetting {
    PlannedSetting {
        name: made.setting.name.to_owned(),
        values: made.values.clone(),
        from: made.origin.to_string(),
    }
}

fn in_words(plan: &PlanForm) -> String {
    let mut parts = vec![
        vec!["Nothing is started (--dry-run).".to_owned()],
        about_change(plan.change.as_ref()),
        about_agent(plan),
    ];
    let fallback = "Continues at a usage limit or an overload";
    parts.extend(plan.fallbacks.iter().map(|other| about_program(fallback, other, Vec::new())));
    parts.extend([about_end(plan), about_limits(&plan.limits), about_settings(plan)]);
    if let Some(prompt) = &plan.prompt {
        let first = format!("The first prompt, {} bytes:", prompt.len());
        parts.extend([vec![first], vec![prompt.clone()]]);
    }
    parts.iter().map(|lines| lines.join("\n")).collect::<Vec<_>>().join("\n\n")
}

fn about_change(change: Option<&PlannedChange>) -> Vec<String> {
    let Some(change) = change else {
        return vec!["Change: the demo's own, on a throw-away project".to_owned()];
    };
    let module = change.module.as_deref().unwrap_or("none");
    let mut lines = vec![
        format!("Change: {} (module: {module})", change.name),
        format!("Work tree: {}", change.work_tree),
        format!("State: {}", change.folder),
        "Files that are read:".to_owned(),
    ];
    lines.extend(change.files.iter().map(|line| format!("  {line}")));
    let asides = aside::in_words(&change.asides);
    lines.extend(asides.iter().map(|aside| format!("List: {}", text::line(aside))));
    lines
}

fn about_agent(plan: &PlanForm) -> Vec<String> {
    let agent = &plan.agent;
    let names = ["permission-mode", "allow", "deny"];
    let is_permission = |setting: &PlannedSetting| names.contains(&setting.name.as_str());
    let consent = match (agent.allow_all, plan.settings.iter().any(is_permission)) {
        (true, false) => "every tool runs without asking",
        (true, true) => "every tool runs without asking, but for what the settings below deny",
        (false, false) => "what the agent program allows by itself",
        (false, true) => "what the agent program allows by itself, and as the settings below say",
    };
    let sessions = if agent.continue_session {
        "one for all iterations"
    } else {
        "a fresh one in each iteration"
    };
    let mut terms = vec![format!("Tools: {consent}"), format!("Sessions: {sessions}")];
    if agent.commit {
        terms.push("Commits: after each iteration, only the files that it changed".to_owned());
    }
    about_program("Agent", agent, terms)
}

fn about_program(what: &str, agent: &PlannedAgent, terms: Vec<String>) -> Vec<String> {
    let model = agent.model.as_deref().unwrap_or("its own choice");
    let mut lines = vec![format!("{what}: {}", program_of(agent)), format!("Model: {model}")];
    lines.extend(terms);
    lines.extend(agent.problem.iter().map(|problem| format!("Command line: {problem}")));
    let Some(command) = &agent.command_line else { return lines };
    lines.push(format!("Command line: {}", shell_words::join(&command.words)));
    lines.extend(command.variables.iter().map(|variable| format!("  with {variable}")));
    let input = command.input_bytes;
    lines.extend(input.map(|bytes| format!("  {bytes} bytes on its standard input")));
    lines
}

/// As `--harness` takes it.
fn program_of(agent: &PlannedAgent) -> String {
    match &agent.command_line {
        Some(command) if agent.harness == "acp" => {
            format!("acp:{}", shell_words::join(&command.words))
        }
        _ => agent.harness.clone(),
    }
}

fn about_end(plan: &PlanForm) -> Vec<String> {
    let list = plan.change.as_ref().and_then(|change| change.task_list.as_deref());
    let done = match (plan.done_when, list, &plan.promise) {
        (Some(DoneWhen::Tasks), Some(list), _) => format!("when every box of {list} is ticked"),
        (Some(DoneWhen::Check), _, _) => "when every check passes".to_owned(),
        (Some(DoneWhen::Manual), _, Some(promise)) => {
            format!("when the agent writes <promise>{promise}</promise>")
        }
        _ => "when every box of the tasks.md is ticked".to_owned(),
    };
    let mut lines = vec![format!("Done: {done}")];
    lines.extend(plan.checks.iter().map(|check| format!("Check: {} ({})", check.run, check.terms)));
    let first = Some(plan.min_iterations).filter(|first| *first > 0);
    let checklists = Some(plan.open_checklists.join(", ")).filter(|names| !names.is_empty());
    let rest = [
        plan.notify.as_ref().map(|notify| format!("Notice: {notify}")),
        first.map(|first| format!("Not before: iteration {first}")),
        plan.converge.as_ref().map(|file| format!("Converge: {file}, before it counts as done")),
        plan.hooks.as_ref().map(|hooks| format!("Extension hooks: {hooks}")),
        checklists.map(|names| format!("Open checklists, as you wish: {names}")),
    ];
    lines.extend(rest.into_iter().flatten());
    lines
}

fn about_limits(limits: &PlannedLimits) -> Vec<String> {
    let none = || "none".to_owned();
    let number = |limit: Option<u32>| limit.map_or_else(none, |limit| limit.to_string());
    let in_words =
        |seconds: f64| Duration::try_from_secs_f64(seconds).map_or_else(|_| none(), time_in_words);
    let time = |limit: Option<f64>| limit.map_or_else(none, in_words);
    let rows = [
        ("iterations", number(limits.max_iterations)),
        ("iterations without a commit", number(limits.stall_threshold)),
        ("iterations that change nothing", number(limits.no_progress)),
        ("failed runs in a row", number(limits.max_failures)),
        ("an iteration", time(limits.iteration_seconds)),
        ("silence", time(limits.idle_seconds)),
        ("the whole loop", time(limits.runtime_seconds)),
        ("tokens", limits.tokens.map_or_else(none, |limit| limit.to_string())),
        ("dollars", limits.cost_usd.map_or_else(none, |limit| Dollars(micros(limit)).to_string())),
        (
            "the wait for a usage limit",
            match (limits.asks_at_usage_limit, limits.limit_wait_seconds) {
                (true, _) => "until you confirm it".to_owned(),
                (false, Some(0.0)) => "it ends the loop".to_owned(),
                (false, limit) => time(limit),
            },
        ),
        ("between asking and killing", in_words(limits.grace_seconds)),
        ("the pause after a failed run", in_words(limits.retry_seconds)),
    ];
    let rows = rows.iter().map(|(what, limit)| format!("  {what}: {limit}"));
    std::iter::once("Limits:".to_owned()).chain(rows).collect()
}

fn about_settings(plan: &PlanForm) -> Vec<String> {
    let mut lines = vec!["Settings:".to_owned()];
    let of_every_loop = plan.checks_of_every_loop.get();
    if of_every_loop > 0 {
        let checks = text::counted(of_every_loop, "check");
        lines.push(format!("  {checks} of every loop here ({SETTINGS})"));
    } else if plan.settings.is_empty() {
        lines.push("  none: all as it is by default".to_owned());
    }
    let line =
        |set: &PlannedSetting| format!("{} = {} ({})", set.name, set.values.join(", "), set.from);
    lines.extend(plan.settings.iter().map(|set| format!("  {}", line(set))));
    lines.extend(plan.left_out.iter().map(|set| format!("  does not count: {}", line(set))));
    lines
}
