//! Settings become options: each one checked, defaults filled in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::choices::{
    Approve, Commits, Counting, DoneWhen, Doubted, Form, Landing, LimitWait, Sessions, Shown,
    StayAwake,
};
use super::review;
use super::settings::{Layers, Origin, RunnerSettings, Set, Setting};
use super::value::{CheckCommand, Number, Time, Word};
use crate::engine::proof::LeastProof;
use crate::engine::{Check, Contract, Guardrails, Ledger, NearLimit, PromiseMatch, near_limit};
use crate::exec::find::find;
use crate::feature::settings::with_more;
use crate::runner::harness::permissions::Permissions;
use crate::runner::harness::{HarnessChoice, command, harness};
use crate::runner::prices::PriceTable;
use crate::runner::target::SpecKitRules;
use crate::runner::tokens::USAGE;

/// All that a loop was asked for, defaults filled in.
#[derive(Clone, Debug)]
pub struct Options {
    /// The person's prompt.
    pub task: String,
    /// The agent program.
    pub harness: HarnessChoice,
    /// The model, in the agent program's words.
    pub model: Option<String>,
    /// The model that goes on where this one cannot, `None` for none.
    pub fallback_model: Option<String>,
    /// The agent program that goes on where that one cannot, `None` for none.
    pub fallback_harness: Option<HarnessChoice>,
    /// The token of the promise (`COMPLETE`).
    pub promise: String,
    /// Where the promise has to be.
    pub promise_match: PromiseMatch,
    /// Iterations of this run before which no promise is believed, 0 for none.
    pub min_iterations: u32,
    /// The last iteration of this run, `None` for no limit (50).
    pub max_iterations: Option<u32>,
    /// What counts as done, `None` for tasks where there is a list and manual where not.
    pub done: Option<DoneWhen>,
    /// What spec-kit asks for around the change, once that is known.
    pub spec_kit: SpecKitRules,
    /// Commands that must pass.
    pub checks: Vec<Check>,
    /// Where they were named.
    pub checks_from: &'static str,
    /// The longest that each of them may take.
    pub check_timeout: Duration,
    /// How well a task has to be proved for its tick to count.
    pub proof: LeastProof,
    /// Whether spec-kit's converge command has to run before the end.
    pub converge: bool,
    /// Whether optional tasks count.
    pub include_optional: bool,
    /// Patterns of files that the loop may not change, unless a task names them.
    pub protect: Vec<String>,
    /// Iterations in a row without a commit that end the loop, 0 for none.
    pub stall_threshold: u32,
    /// Iterations in a row that change nothing that end the loop, 0 for none.
    pub no_progress: u32,
    /// Failed runs of the agent program in a row that end the loop.
    pub max_failures: u32,
    /// Failed runs without one answer, from the first one on, that end the loop.
    pub max_unanswered: u32,
    /// The longest an iteration may take, `None` for no limit.
    pub iteration_timeout: Option<Duration>,
    /// The longest an agent program may be silent, `None` for no limit.
    pub idle_timeout: Option<Duration>,
    /// The longest the loop may take, `None` for no limit.
    pub max_runtime: Option<Duration>,
    /// The most tokens that the loop may use, `None` for no limit.
    pub token_budget: Option<u64>,
    /// The most that the loop may cost, in millionths of a dollar, `None` for no limit.
    pub max_cost: Option<u64>,
    /// How long a usage limit is waited for.
    pub limit_wait: LimitWait,
    /// What models cost.
    pub prices: PriceTable,
    /// Time between asking an agent program to end and killing it.
    pub grace: Duration,
    /// The pause after a failed run of the agent program, doubled with each more in a row.
    pub retry_pause: Duration,
    /// Whether tools may run without consent.
    pub allow_all: Approve,
    /// What a person permits and forbids beside that, and arguments of the agent program's own.
    pub permissions: Permissions,
    /// Whether each iteration continues with the session of the one before.
    pub sessions: Sessions,
    /// Whether the runner commits what an iteration changed.
    pub commits: Commits,
    /// Whether the last iteration before a limit is asked to leave a handoff.
    pub landing: Landing,
    /// Whether the machine is kept awake.
    pub stay_awake: StayAwake,
    /// What becomes of an end that something speaks against.
    pub doubted: Doubted,
    /// The command that tells the person of the end, empty for none.
    pub notify: String,
    /// How much of the agent's output is shown.
    pub shown: Shown,
    /// Whether the screen gets words or JSON lines.
    pub form: Form,
    /// The folder in which it was started.
    pub start: PathBuf,
    /// Whether a loop that was stopped goes on with what it has used.
    pub counting: Counting,
}

impl Options {
    /// Returns the contract that every iteration is checked against; checks alone ask for no promise.
    ///
    /// Where nothing limits iterations that change nothing, nothing limits those without a tool call.
    pub fn contract(&self, done: DoneWhen) -> Contract {
        let limited = |limit: u32| (limit > 0).then_some(limit);
        let unchanged = limited(self.no_progress);
        // Where tool calls cannot be seen, the promise is believed as it is (spec 004).
        let min_tool_calls = u64::from(!matches!(self.harness, HarnessChoice::Command(_)));
        Contract {
            min_tool_calls,
            token: (done != DoneWhen::Check).then(|| self.promise.clone()),
            min_iterations: self.min_iterations,
            checks: self.checks.clone(),
            converge: self.spec_kit.converge.as_ref().map_or("", |it| it.name).to_owned(),
            guardrails: Guardrails {
                max_iterations: self.max_iterations,
                max_idle_stops: unchanged.unwrap_or(u32::MAX),
                max_unchanged: unchanged.unwrap_or(u32::MAX),
                max_seconds: self.max_runtime.map(|time| time.as_secs()),
                max_tokens: self.token_budget,
                max_cost: self.max_cost,
                max_limit_wait: match self.limit_wait {
                    LimitWait::Never => Some(0),
                    LimitWait::AtMost(time) => Some(time.as_secs()),
                    LimitWait::Confirmed | LimitWait::Always => None,
                },
                max_commitless: limited(self.stall_threshold),
                max_denied: unchanged.map(|_| Defaults::MAX_DENIED),
                max_failures: limited(self.max_failures),
                max_unanswered: limited(self.max_unanswered),
            },
            ..Contract::default()
        }
    }
}

impl Options {
    /// Returns the limit that the next iteration may reach, `None` where none is near or nobody asks for a handoff;
    /// `warned` is what the agent program has said of one of its own.
    pub fn near_limit(
        &self,
        contract: &Contract,
        ledger: &Ledger,
        elapsed_seconds: u64,
        warned: Option<NearLimit>,
    ) -> Option<NearLimit> {
        let near = near_limit(&contract.guardrails, ledger, elapsed_seconds).or(warned);
        near.filter(|_| self.landing == Landing::Asked)
    }
}

/// What holds where nothing is set.
#[derive(Clone, Copy, Debug)]
pub struct Defaults;

impl Defaults {
    /// The token of the promise.
    pub const PROMISE: &str = "COMPLETE";
    /// Where it has to be: nobody watches, and a sentence about the promise is not the promise.
    pub const PROMISE_MATCH: PromiseMatch = PromiseMatch::OwnLine;
    /// The last iteration.
    pub const MAX_ITERATIONS: u32 = 50;
    /// Iterations in a row that change nothing because of what the agent is denied: the next one is paid for, too, and is
    /// denied the same.
    pub const MAX_DENIED: u32 = 2;
    /// How well a task has to be proved.
    pub const PROOF: LeastProof = LeastProof::Files;
    /// The longest that a check may take.
    pub const CHECK_TIMEOUT: Duration = Duration::from_mins(5);
    /// Failed runs of the agent program in a row.
    pub const MAX_FAILURES: u32 = 12;
    /// The same from the first run on, as long as nothing has answered: then something is set up wrongly.
    pub const MAX_UNANSWERED: u32 = 3;
    /// The longest that an iteration may take.
    pub const ITERATION_TIMEOUT: Duration = Duration::from_hours(1);
    /// Time between asking and killing.
    pub const GRACE: Duration = Duration::from_secs(10);
    /// The pause after a failed run.
    pub const RETRY_PAUSE: Duration = Duration::from_secs(5);

    /// Returns how many iterations in a row may change nothing: as many as everywhere.
    pub fn no_progress() -> u32 {
        Guardrails::default().max_unchanged
    }
}

/// The longest that a check may take.
const LONGEST_CHECK: Duration = Duration::from_hours(24);
/// The longest that an agent program may have for its end.
const LONGEST_GRACE: Duration = Duration::from_mins(10);

/// Returns the options that settings come to; an error names the setting that is wrong and its place.
pub fn resolve(layers: &Layers, task: String, start: &Path) -> Result<Options> {
    let settings = layers.merged();
    let mut checks = checks(&settings, &layers.of_every_loop.checks)?;
    let checks_from = checks_from(&settings, &layers.of_every_loop.checks);
    let harness = choice(&settings)?;
    let review = review::review(&settings, layers.of_every_loop.review.as_ref(), &harness)?;
    let fallback_harness = fallback_harness(&settings)?;
    let check_timeout = check_timeout(&settings)?;
    let permissions = permissions(&settings);
    let (max_failures, max_unanswered) = failures(&settings);
    let limit_wait = limit_wait(&settings);
    let shown = shown(&settings)?;
    let number = |set: Option<Set<Number<0>>>, default| set.map_or(default, |it| it.value.0 as u32);
    let max_iterations = number(settings.max_iterations, Defaults::MAX_ITERATIONS);
    let min_iterations = number(settings.min_iterations, 0);
    if max_iterations > 0 && min_iterations > max_iterations {
        bail!(
            "`min-iterations` ({min_iterations}) is more than `max-iterations` ({max_iterations})"
        );
    }
    let done = settings.done.map(|it| it.value);
    if done == Some(DoneWhen::Check) && checks.is_empty() {
        bail!(
            "`done` is `check`, but there is no check\nname a command that has to pass with --check"
        );
    }
    checks.extend(review);
    let limit = |set: Option<Set<Time<60>>>, default: Option<Duration>| {
        set.map(|it| it.value.0).or(default).filter(|time| !time.is_zero())
    };
    let is_on = |set: Option<Set<bool>>| set.is_some_and(|it| it.value);
    Ok(Options {
        spec_kit: SpecKitRules::default(),
        task,
        harness,
        model: settings.model.map(|it| it.value.0),
        fallback_model: settings.fallback_model.map(|it| it.value.0),
        fallback_harness,
        promise: settings.completion_promise.map_or(Defaults::PROMISE.to_owned(), |it| it.value.0),
        promise_match: settings.promise_match.map_or(Defaults::PROMISE_MATCH, |it| it.value),
        min_iterations,
        max_iterations: (max_iterations > 0).then_some(max_iterations),
        done,
        checks,
        checks_from,
        check_timeout,
        converge: switch(settings.converge, layers.of_every_loop.converge),
        include_optional: switch(settings.include_optional, layers.of_every_loop.include_optional),
        proof: settings.proof.map_or(Defaults::PROOF, |it| it.value),
        protect: protect(layers),
        stall_threshold: number(settings.stall_threshold, 0),
        no_progress: number(settings.no_progress, Defaults::no_progress()),
        max_failures,
        max_unanswered,
        iteration_timeout: limit(settings.iteration_timeout, Some(Defaults::ITERATION_TIMEOUT)),
        idle_timeout: limit(settings.idle_timeout, None),
        max_runtime: limit(settings.max_runtime, None).map(whole_seconds),
        token_budget: settings.token_budget.map(|it| it.value.0).filter(|limit| *limit > 0),
        max_cost: settings.max_usd.map(|it| it.value.0).filter(|limit| *limit > 0),
        limit_wait,
        prices: PriceTable(settings.prices.into_iter().map(|it| it.value).collect()),
        grace: grace(settings.grace)?,
        retry_pause: settings.retry_pause.map_or(Defaults::RETRY_PAUSE, |it| it.value.0),
        permissions,
        allow_all: if is_on(settings.allow_all) { Approve::All } else { Approve::Own },
        sessions: if is_on(settings.continue_session) {
            Sessions::Continued
        } else {
            Sessions::Fresh
        },
        doubted: if is_on(settings.strict) { Doubted::Fails } else { Doubted::Told },
        landing: if is_on(settings.no_landing) { Landing::Off } else { Landing::Asked },
        stay_awake: if is_on(settings.no_stay_awake) { StayAwake::Off } else { StayAwake::Held },
        commits: if is_on(settings.commit) { Commits::EachIteration } else { Commits::Never },
        notify: settings.notify.map(|it| it.value.0).unwrap_or_default(),
        shown,
        form: if is_on(settings.json) { Form::Json } else { Form::Words },
        start: start.to_owned(),
        counting: Counting::Continued,
    })
}

/// A time as the engine counts it: what is left for an iteration and what the engine has as used up must come to the same, or
/// iterations begin for which there is no time.
fn whole_seconds(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs() + u64::from(time.subsec_nanos() > 0))
}

fn grace(set: Option<Set<Time<1>>>) -> Result<Duration> {
    let grace = set.map_or(Defaults::GRACE, |it| it.value.0);
    if grace > LONGEST_GRACE {
        bail!("`grace` is ten minutes at most");
    }
    Ok(grace)
}

/// Returns an error where a setting asks the agent program for what it cannot do: nothing would come of it.
pub fn refuse_what_the_agent_cannot_do(settings: &RunnerSettings, options: &Options) -> Result<()> {
    let permissions = &options.permissions;
    if options.allow_all == Approve::All
        && (permissions.mode.is_some() || !permissions.allow.is_empty())
    {
        bail!(
            "--allow-all permits everything: leave out --permission-mode and --allow, or --allow-all"
        );
    }
    match harness(&options.harness)?.accepts() {
        Some(accepts) => accepts.refuse(permissions)?,
        None if permissions.is_empty() => {}
        None => bail!(
            "--permission-mode, --allow, --deny and arguments for the agent program do nothing for a command of your own\nput the program's own flags into the command"
        ),
    }
    refuse_money_that_nobody_counts(settings, options)?;
    refuse_what_a_command_cannot_do(settings, options)
}

/// Returns an error for a limit of money where nothing tells what a run costs.
fn refuse_money_that_nobody_counts(settings: &RunnerSettings, options: &Options) -> Result<()> {
    if options.max_cost.is_none() {
        return Ok(());
    }
    let made = settings.made();
    let named = made.iter().find(|it| it.name == "max-usd").map(Setting::named).unwrap_or_default();
    let harness = harness(&options.harness)?;
    let reports = harness.reports_cost() && options.sessions == Sessions::Fresh;
    if matches!(
        options.harness,
        HarnessChoice::Command(_) | HarnessChoice::Acp(_) | HarnessChoice::Demo
    ) {
        bail!(
            "{named} does nothing for `{}`: nothing tells what it costs\nlimit it with --max-iterations or --max-runtime",
            harness.name()
        );
    }
    if !reports && options.prices.0.is_empty() {
        let when = if harness.reports_cost() { " with --continue-session" } else { "" };
        bail!(
            "{named} needs the prices of the model: `{}` does not report what a run costs{when}\nsay them, in dollars for a million tokens: --prices MODEL=INPUT/OUTPUT/CACHE-READ/CACHE-WRITE",
            harness.name()
        );
    }
    Ok(())
}

/// Returns an error where a setting asks a plain command for what it cannot do: nothing would come of it.
fn refuse_what_a_command_cannot_do(settings: &RunnerSettings, options: &Options) -> Result<()> {
    let made = settings.made();
    let named =
        |name| made.iter().find(|it| it.name == name).map(Setting::named).unwrap_or_default();
    let is_acp = matches!(options.harness, HarnessChoice::Acp(_));
    if is_acp && options.token_budget.is_some() && find(USAGE).is_none() {
        bail!(
            "{} may do nothing for an ACP agent: the protocol does not make it report its tokens\nlimit it with --max-iterations or --max-runtime, or install `{USAGE}`, which counts them",
            named("token-budget")
        );
    }
    let HarnessChoice::Command(line) = &options.harness else {
        return Ok(());
    };
    if options.allow_all == Approve::All {
        bail!(
            "{} does nothing for a command of your own: `spool` does not know the flag for it\nput the program's own flag into the command",
            named("allow-all")
        );
    }
    if options.model.is_some() && !line.contains("{model}") {
        bail!(
            "{} does nothing for this command: it has no {{model}}\nput {{model}} into the command, or leave the model out",
            named("model")
        );
    }
    if let Some(model) = &options.model {
        command::plain_model(model).with_context(|| named("model"))?;
    }
    if options.sessions == Sessions::Continued && !line.contains("{session}") {
        bail!(
            "{} does nothing for this command: it has no {{session}}\nput {{session}} into the command, which takes the same id each time, or leave the flag out",
            named("continue-session")
        );
    }
    if options.token_budget.is_some() && find(USAGE).is_none() {
        bail!(
            "{} does nothing for a command of your own: nothing tells how many tokens it uses\nlimit it with --max-iterations or --max-runtime, or install `{USAGE}`, which counts them",
            named("token-budget")
        );
    }
    Ok(())
}

/// What a person permits and forbids, and arguments of the agent program's own.
fn permissions(settings: &RunnerSettings) -> Permissions {
    let words = |words: &[Set<Word>]| words.iter().map(|it| it.value.0.clone()).collect::<Vec<_>>();
    Permissions {
        mode: settings.permission_mode.as_ref().map(|it| it.value.0.clone()),
        allow: words(&settings.allow),
        deny: words(&settings.deny),
        arguments: settings.agent_args.iter().map(|it| it.value.0.clone()).collect(),
    }
}

/// The agent program: a name, or the command line that stands for one.
fn choice(settings: &RunnerSettings) -> Result<HarnessChoice> {
    let line = settings.harness_command.as_ref();
    let Some(named) = &settings.harness else {
        return Ok(
            line.map_or(HarnessChoice::Claude, |it| HarnessChoice::Command(it.value.0.clone()))
        );
    };
    // In one place both can stand only when they mean the same.
    let beside = line.filter(|it| it.origin.is_beside(&named.origin));
    let name = || named.origin.named("harness");
    Ok(match (&named.value, beside) {
        (HarnessChoice::Command(_), _) => match line {
            Some(line) => HarnessChoice::Command(line.value.0.clone()),
            None => bail!(
                "{} is `command`, but no command is given\nname it with --harness-command \"PROGRAM …\"",
                name()
            ),
        },
        (_, Some(beside)) => bail!(
            "{} means `harness` `command`, not `{}`",
            beside.origin.named("harness-command"),
            named.text
        ),
        (HarnessChoice::Acp(_), _) if matches!(named.origin, Origin::Project(..)) => bail!(
            "{} is a command, which a project's file cannot give\nput it into your own file, or on the command line",
            name()
        ),
        (HarnessChoice::Demo, _) if named.origin != Origin::CommandLine => {
            bail!("{} is not for every day: `demo` is given on the command line only", name())
        }
        (other, None) => other.clone(),
    })
}

/// How long a usage limit is waited for: nobody waits who has not said so.
fn limit_wait(settings: &RunnerSettings) -> LimitWait {
    match settings.max_limit_wait.as_ref().map(|it| it.value.0) {
        None => LimitWait::Never,
        Some(time) if time.is_zero() => LimitWait::Always,
        Some(time) => LimitWait::AtMost(time),
    }
}

/// The failed runs in a row that end the loop, and those of them that nothing has answered.
fn failures(settings: &RunnerSettings) -> (u32, u32) {
    // A person who names a number means it for the first runs, too, but a project's file does not raise it.
    match &settings.max_failures {
        None => (Defaults::MAX_FAILURES, Defaults::MAX_UNANSWERED),
        Some(Set { value: Number(number), origin: Origin::Project(..), .. }) => {
            (*number as u32, Defaults::MAX_UNANSWERED.min(*number as u32))
        }
        Some(Set { value: Number(number), .. }) => (*number as u32, *number as u32),
    }
}

/// The agent program that goes on where the first one cannot: one that needs no other setting.
fn fallback_harness(settings: &RunnerSettings) -> Result<Option<HarnessChoice>> {
    let Some(set) = &settings.fallback_harness else { return Ok(None) };
    let name = || set.origin.named("fallback-harness");
    match &set.value {
        HarnessChoice::Command(_) | HarnessChoice::Demo => bail!(
            "{} is an agent program that is known, or `acp:COMMAND`, not `{}`",
            name(),
            set.text
        ),
        HarnessChoice::Acp(_) if matches!(set.origin, Origin::Project(..)) => bail!(
            "{} is a command, which a project's file cannot give\nput it into your own file, or on the command line",
            name()
        ),
        other => Ok(Some(other.clone())),
    }
}

/// What every place protects: none takes away what another one has said.
fn protect(layers: &Layers) -> Vec<String> {
    let all = [&layers.person, &layers.project, &layers.typed].into_iter();
    let all = all.flat_map(|settings| settings.protect.iter().map(|it| it.value.0.clone()));
    layers.of_every_loop.protect.iter().cloned().chain(all).collect()
}

fn check_timeout(settings: &RunnerSettings) -> Result<Duration> {
    let limit = settings.check_timeout.as_ref().map_or(Defaults::CHECK_TIMEOUT, |it| it.value.0);
    if limit < Duration::from_secs(1) || limit > LONGEST_CHECK {
        bail!("`check-timeout` is from 1 second to 24 hours");
    }
    Ok(limit)
}

fn switch(set: Option<Set<bool>>, of_every_loop: bool) -> bool {
    set.map_or(of_every_loop, |set| set.value)
}

fn checks(settings: &RunnerSettings, of_every_loop: &[Check]) -> Result<Vec<Check>> {
    let limit = check_timeout(settings)?;
    let check = |run: &Set<CheckCommand>| Check {
        run: run.value.0.clone(),
        limit_seconds: limit.as_secs(),
        ..Check::default()
    };
    Ok(with_more(of_every_loop.to_vec(), settings.check.iter().map(check)))
}

/// Where the checks were named.
fn checks_from(settings: &RunnerSettings, of_every_loop: &[Check]) -> &'static str {
    let is_typed = |it: &Set<CheckCommand>| it.origin == Origin::CommandLine;
    let typed = settings.check.iter().any(is_typed);
    let written = !of_every_loop.is_empty() || !settings.check.iter().all(is_typed);
    match (written, typed) {
        (false, _) => "the command line",
        (true, false) => "the settings",
        (true, true) => "the settings and the command line",
    }
}

fn shown(settings: &RunnerSettings) -> Result<Shown> {
    let is_on = |set: &Option<Set<bool>>| set.as_ref().is_some_and(|it| it.value);
    match (is_on(&settings.verbose), is_on(&settings.quiet)) {
        (true, true) => bail!("`verbose` and `quiet` are both set"),
        (true, false) => Ok(Shown::Verbose),
        (false, true) => Ok(Shown::Quiet),
        (false, false) => Ok(Shown::Normal),
    }
}
