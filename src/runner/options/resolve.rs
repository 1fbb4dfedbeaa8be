//! Settings become options: each one checked, defaults filled in.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};

use super::super::harness::program;
use super::super::tokens::USAGE;
use super::setting::{Origin, Setting, Settings};
use super::{
    Approve, Commits, DoneCriteria, Doubted, Form, HarnessChoice, Options, Sessions, Shown, value,
};
use crate::engine::{Check, Guardrails, PromiseMatch};
use crate::speckit::project::printable;
use crate::speckit::settings::with_more;
use crate::world;

/// What holds where nothing is set.
#[derive(Clone, Copy, Debug)]
pub struct Defaults;

impl Defaults {
    /// The token of the promise.
    pub const PROMISE: &str = "COMPLETE";
    /// Where it has to stand: nobody watches, and a sentence about the promise is not the promise.
    pub const PROMISE_MATCH: PromiseMatch = PromiseMatch::OwnLine;
    /// The last iteration.
    pub const MAX_ITERATIONS: u64 = 50;
    /// Seconds that a check may take.
    pub const CHECK_TIMEOUT: u64 = 300;
    /// Failed runs of the agent program in a row.
    pub const MAX_FAILURES: u64 = 12;
    /// The same from the first run on, as long as nothing has answered: then something is set up wrongly.
    pub const MAX_UNANSWERED: u64 = 3;
    /// The longest that an iteration may take.
    pub const ITERATION_TIMEOUT: Duration = Duration::from_hours(1);
    /// Time between asking and killing.
    pub const GRACE: Duration = Duration::from_secs(10);
    /// The pause after a failed run.
    pub const RETRY_PAUSE: Duration = Duration::from_secs(5);

    /// Returns how many iterations in a row may change nothing: as many as everywhere.
    pub fn no_progress() -> u64 {
        Guardrails::default().max_unchanged.into()
    }
}

/// The longest that a check may take.
const LONGEST_CHECK: Duration = Duration::from_hours(24);
/// The longest that an agent program may have for its end.
const LONGEST_GRACE: Duration = Duration::from_mins(10);
/// Seconds of a plain number in most times.
const MINUTES: u64 = 60;
/// Seconds of a plain number in short times.
const SECONDS: u64 = 1;

/// Returns the options that settings come to; an error names the setting that is wrong and its place.
pub fn resolve(settings: &Settings, task: String, start: &Path) -> Result<Options> {
    let max_iterations = settings.number("max-iterations", 0, Defaults::MAX_ITERATIONS)? as u32;
    let min_iterations = settings.number("min-iterations", 0, 0)? as u32;
    if max_iterations > 0 && min_iterations > max_iterations {
        bail!(
            "`min-iterations` ({min_iterations}) is more than `max-iterations` ({max_iterations})"
        );
    }
    let checks = checks(settings)?;
    let done = settings.text("done", |text| value::one_of(text, &DONE))?;
    if done == Some(DoneCriteria::Check) && checks.is_empty() {
        bail!(
            "`done` is `check`, but there is no check\nname a command that has to pass with --check"
        );
    }
    let limit = |name, default| -> Result<Option<Duration>> {
        let time = settings.time(name, MINUTES)?.or(default);
        Ok(time.filter(|time| !time.is_zero()))
    };
    let grace = settings.time("grace", SECONDS)?.unwrap_or(Defaults::GRACE);
    let retry_pause = settings.time("retry-pause", SECONDS)?.unwrap_or(Defaults::RETRY_PAUSE);
    if grace > LONGEST_GRACE {
        bail!("`grace` is ten minutes at most");
    }
    let promise = settings.text("completion-promise", value::promise)?;
    let promise_match =
        settings.text("promise-match", |text| value::one_of(text, &PROMISE_MATCH))?;
    let token_budget = settings.number_up_to("token-budget", 0, i64::MAX as u64, 0)?;
    Ok(Options {
        task,
        harness: harness(settings)?,
        model: settings.text("model", value::model)?,
        promise: promise.unwrap_or_else(|| Defaults::PROMISE.to_owned()),
        promise_match: promise_match.unwrap_or(Defaults::PROMISE_MATCH),
        min_iterations,
        max_iterations: (max_iterations > 0).then_some(max_iterations),
        done,
        checks,
        stall_threshold: settings.number("stall-threshold", 0, 0)? as u32,
        no_progress: settings.number("no-progress", 0, Defaults::no_progress())? as u32,
        max_failures: settings.number("max-failures", 1, Defaults::MAX_FAILURES)? as u32,
        max_unanswered: max_unanswered(settings)? as u32,
        iteration_timeout: limit("iteration-timeout", Some(Defaults::ITERATION_TIMEOUT))?,
        idle_timeout: limit("idle-timeout", None)?,
        max_runtime: limit("max-runtime", None)?,
        token_budget: (token_budget > 0).then_some(token_budget),
        grace,
        retry_pause,
        allow_all: if settings.is_on("allow-all")? { Approve::All } else { Approve::Own },
        sessions: if settings.is_on("continue-session")? {
            Sessions::Continued
        } else {
            Sessions::Fresh
        },
        doubted: if settings.is_on("strict")? { Doubted::Fails } else { Doubted::Told },
        commits: if settings.is_on("commit")? { Commits::EachIteration } else { Commits::Never },
        shown: shown(settings)?,
        form: if settings.is_on("json")? { Form::Json } else { Form::Words },
        start: start.to_owned(),
    })
}

/// Returns an error where a setting asks a plain command for what it cannot do: nothing would come of it.
pub fn refuse_what_a_command_cannot_do(settings: &Settings, options: &Options) -> Result<()> {
    let HarnessChoice::Command(line) = &options.harness else {
        return Ok(());
    };
    let named = |name| settings.get(name).map(Setting::named).unwrap_or_default();
    if options.allow_all == Approve::All {
        bail!(
            "{} does nothing for a command of your own: `spool` does not know how to tell it\nput the program's own flag into the command",
            named("allow-all")
        );
    }
    if options.model.is_some() && !line.contains("{model}") {
        bail!(
            "{} does nothing for this command: it has no {{model}}\nput {{model}} into the command, or leave the model out",
            named("model")
        );
    }
    if options.sessions == Sessions::Continued && !line.contains("{session}") {
        bail!(
            "{} does nothing for this command: it has no {{session}}\nput {{session}} into the command, which takes the same id each time, or leave the flag out",
            named("continue-session")
        );
    }
    if options.token_budget.is_some() && !counts_tokens() {
        bail!(
            "{} does nothing for a command of your own: nothing tells how many tokens it uses\nlimit it with --max-iterations or --max-runtime, or install `{USAGE}`, which counts them",
            named("token-budget")
        );
    }
    Ok(())
}

/// Whether the program that counts tokens over all sessions is there.
fn counts_tokens() -> bool {
    let path = world::variable("PATH").unwrap_or_default();
    program::find(Path::new(USAGE), &path).is_some()
}

const DONE: [(&str, DoneCriteria); 3] = [
    ("tasks", DoneCriteria::Tasks),
    ("manual", DoneCriteria::Manual),
    ("check", DoneCriteria::Check),
];
const PROMISE_MATCH: [(&str, PromiseMatch); 2] =
    [("anywhere", PromiseMatch::Anywhere), ("own-line", PromiseMatch::OwnLine)];

/// The words of `--harness`.
#[derive(Clone, Copy)]
enum Named {
    Claude,
    Opencode,
    Codex,
    Gemini,
    Copilot,
    Command,
    Demo,
}

const HARNESSES: [(&str, Named); 7] = [
    ("claude", Named::Claude),
    ("opencode", Named::Opencode),
    ("codex", Named::Codex),
    ("gemini", Named::Gemini),
    ("copilot", Named::Copilot),
    ("command", Named::Command),
    ("demo", Named::Demo),
];

/// The failed runs without one answer that end the loop: whoever names a number means it for the first runs, too,
/// but a project's file does not raise it.
fn max_unanswered(settings: &Settings) -> Result<u64> {
    let number = settings.number("max-failures", 1, Defaults::MAX_UNANSWERED)?;
    let of_project =
        settings.get("max-failures").is_some_and(|it| matches!(it.origin, Origin::Project { .. }));
    Ok(if of_project { number.min(Defaults::MAX_UNANSWERED) } else { number })
}

/// The agent program: the strongest place that names one, or gives a command line, decides.
fn harness(settings: &Settings) -> Result<HarnessChoice> {
    let line = || settings.text("harness-command", value::command_line);
    let Some(first) = settings.first_of(&["harness", "harness-command"]) else {
        return Ok(HarnessChoice::Claude);
    };
    if first.key.name == "harness-command" {
        return Ok(HarnessChoice::Command(line()?.unwrap_or_default()));
    }
    let named = settings.text("harness", |text| value::one_of(text, &HARNESSES))?;
    // In one place both can stand only when they mean the same.
    let beside = settings.get("harness-command").filter(|it| it.origin.is_beside(&first.origin));
    if let (Some(beside), false) = (beside, matches!(named, Some(Named::Command))) {
        bail!("{} means `harness` `command`, not `{}`", beside.named(), printable(first.value()));
    }
    Ok(match named {
        None | Some(Named::Claude) => HarnessChoice::Claude,
        Some(Named::Opencode) => HarnessChoice::Opencode,
        Some(Named::Codex) => HarnessChoice::Codex,
        Some(Named::Gemini) => HarnessChoice::Gemini,
        Some(Named::Copilot) => HarnessChoice::Copilot,
        Some(Named::Command) => HarnessChoice::Command(line()?.ok_or_else(|| {
            anyhow!("{} is `command`, but no command is given\nname it with --harness-command \"PROGRAM …\"", first.named())
        })?),
        Some(Named::Demo) if first.origin == Origin::CommandLine => HarnessChoice::Demo,
        Some(Named::Demo) => bail!("{} is not for every day: `demo` is given on the command line only", first.named()),
    })
}

fn checks(settings: &Settings) -> Result<Vec<Check>> {
    let limit = settings.time("check-timeout", SECONDS)?;
    let limit = limit.unwrap_or(Duration::from_secs(Defaults::CHECK_TIMEOUT));
    if limit < Duration::from_secs(1) || limit > LONGEST_CHECK {
        bail!("`check-timeout` is from 1 second to 24 hours");
    }
    let of_every_loop = settings.of_every_loop.checks.clone();
    let Some(setting) = settings.get("check") else {
        return Ok(of_every_loop);
    };
    if setting.values.iter().any(|run| Check::runs_nothing(run) || run.contains('\0')) {
        bail!("{} needs a command: this one runs nothing", setting.named());
    }
    let check = |run: &String| Check { run: run.clone(), limit_seconds: limit.as_secs() };
    Ok(with_more(of_every_loop, setting.values.iter().map(check)))
}

fn shown(settings: &Settings) -> Result<Shown> {
    let Some(first) = settings.first_of(&["verbose", "quiet"]) else {
        return Ok(Shown::Normal);
    };
    let place = &first.origin;
    let on = |name| -> Result<bool> {
        let here = settings.get(name).is_some_and(|it| it.origin.is_beside(place));
        Ok(here && settings.is_on(name)?)
    };
    match (on("verbose")?, on("quiet")?) {
        (true, true) => bail!("`verbose` and `quiet` are both set"),
        (true, false) => Ok(Shown::Verbose),
        (false, true) => Ok(Shown::Quiet),
        (false, false) => Ok(Shown::Normal),
    }
}
