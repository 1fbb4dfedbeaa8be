//! Turns settings into options: checks each one, and fills in defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::checks::BESIDE_READER;
use crate::engine::fields::named;
use crate::engine::{Check, Contract, Guardrails, Ledger, NearLimit, near_limit};
use crate::exec::find::find;
use crate::feature::settings::{Settings, with_more};
use crate::runner::harness::permissions::Permissions;
use crate::runner::harness::{Approval, HarnessChoice, command, harness};
use crate::runner::prices::{Price, PriceTable};
use crate::runner::target::SpecKitRules;
use crate::runner::tokens::USAGE;
use crate::settings::{Chosen, Made, Origin, READERS, Setting, table};

pub use crate::forms::runner::DoneWhen;

/// Iterations in a row that change nothing because tools are denied. One more would cost the same, and be denied the
/// same.
const MAX_DENIED: u32 = 2;
/// Failed runs from the start on, without any answer: something is set up wrongly.
const MAX_UNANSWERED: u32 = 3;

#[derive(Clone, Debug)]
pub struct Options {
    /// The settings that count; the other fields follow from them.
    pub settings: Chosen,
    /// The person's prompt.
    pub task: String,
    pub harness: HarnessChoice,
    /// The agent program that continues where the first cannot.
    pub fallback_harness: Option<HarnessChoice>,
    /// `None` means: by the task list if there is one, else by the promise.
    pub done: Option<DoneWhen>,
    /// Spec-kit's rules for the change, once that is known.
    pub spec_kit: SpecKitRules,
    pub checks: Vec<Check>,
    /// The place of the checks, in words.
    pub checks_from: &'static str,
    /// Patterns of files that the loop may change only if a task names them.
    pub protect: Vec<String>,
    pub max_runtime: Option<Duration>,
    /// How long to wait for the end of a usage limit: 0 if nobody asked for a wait, `None` without a bound.
    pub limit_wait: Option<Duration>,
    /// A person at the terminal decides on that wait.
    pub asks_at_limit: bool,
    pub prices: PriceTable,
    pub allow_all: Approval,
    /// A person's rules for tools, and extra arguments for the program.
    pub permissions: Permissions,
    pub shown: Shown,
    pub form: Form,
    /// The folder where the runner started.
    pub start: PathBuf,
    pub counting: Counting,
}

/// Whether a run adds to the count of an earlier run that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    Continued,
    FromZero,
}

/// How much of the agent's output is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// Only the runner's own lines.
    Quiet,
    /// The agent's words and tools.
    #[default]
    Normal,
    Verbose,
}

/// The form of the screen's lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Words,
    /// One JSON object a line (`--json`).
    Json,
}

/// The settings of all places.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The strongest place: the command line.
    pub typed: Chosen,
    /// The project's file.
    pub project: Chosen,
    /// The person's file.
    pub person: Chosen,
    /// Ignored settings of the project's file: they are looser than the settings without them, and the person does not
    /// trust them.
    pub left_out: Vec<Made>,
    /// The project's rules for every loop, in `.claude/ralph-speckit.local.md`.
    pub of_every_loop: Settings,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentChoice {
    pub harness: HarnessChoice,
    /// `None` leaves the choice to the program.
    pub model: Option<String>,
}

impl Options {
    /// The contract of every iteration. Checks alone need no promise.
    ///
    /// Without a limit for iterations that change nothing, iterations without tool calls have none either.
    pub fn contract(&self, done: DoneWhen) -> Contract {
        let settings = &self.settings;
        let unchanged = settings.no_progress();
        // Where tool calls cannot be seen, a promise alone is enough (spec 004).
        let min_tool_calls = u64::from(!matches!(self.harness, HarnessChoice::Command(_)));
        Contract {
            min_tool_calls,
            token: (done != DoneWhen::Check).then(|| settings.completion_promise()),
            min_iterations: settings.min_iterations(),
            checks: self.checks.clone(),
            no_final_check: settings.no_final_check(),
            converge: self.spec_kit.converge.as_ref().map_or("", |command| command.name).to_owned(),
            guardrails: Guardrails {
                max_iterations: settings.max_iterations(),
                max_idle_stops: unchanged.unwrap_or(u32::MAX),
                max_unchanged: unchanged.unwrap_or(u32::MAX),
                max_seconds: self.max_runtime.map(|time| time.as_secs()),
                max_tokens: settings.token_budget(),
                max_cost: settings.max_usd(),
                max_limit_wait: self.most_wait().map(|time| time.as_secs()),
                max_commitless: settings.stall_threshold(),
                max_denied: unchanged.map(|_| MAX_DENIED),
                max_failures: Some(settings.max_failures()),
                max_unanswered: Some(max_unanswered(settings)),
            },
            ..Contract::default()
        }
    }

    /// The longest wait without a person's word; `None` without a bound, or where a person is asked.
    pub fn most_wait(&self) -> Option<Duration> {
        self.limit_wait.filter(|_| !self.asks_at_limit)
    }

    /// The limit that the next iteration may reach, if the agent should write a handoff. `warned` is the agent
    /// program's own warning.
    pub fn near_limit(
        &self,
        contract: &Contract,
        ledger: &Ledger,
        elapsed_seconds: u64,
        warned: Option<NearLimit>,
    ) -> Option<NearLimit> {
        let near = near_limit(&contract.guardrails, ledger, elapsed_seconds).or(warned);
        near.filter(|_| !self.settings.no_landing())
    }

    /// In the order of work: the first choice, the same program with another model, another program.
    pub fn agents(&self) -> Vec<AgentChoice> {
        let agent =
            |harness: &HarnessChoice, model| AgentChoice { harness: harness.clone(), model };
        let mut agents = vec![agent(&self.harness, self.settings.model())];
        agents
            .extend(self.settings.fallback_model().map(|model| agent(&self.harness, Some(model))));
        agents.extend(self.fallback_harness.iter().map(|harness| agent(harness, None)));
        agents
    }
}

/// An error names the wrong setting and its place.
pub fn resolve(layers: &Layers, task: String, start: &Path) -> Result<Options> {
    let settings = layers.merged();
    let every = &layers.of_every_loop;
    let mut checks = checks(&settings, &every.checks);
    let checks_from = checks_from(&settings, &every.checks);
    let harness = choice(&settings)?;
    let review = review(&settings, every.review.as_ref(), &harness)?;
    let (least, most) = (settings.min_iterations(), settings.max_iterations());
    if let Some(most) = most.filter(|most| least > *most) {
        bail!("`min-iterations` ({least}) is more than `max-iterations` ({most})");
    }
    let done = settings.done().and_then(|word| named(&word));
    if done == Some(DoneWhen::Check) && checks.is_empty() {
        bail!(
            "`done` is `check`, but there is no check\nname a command that has to pass with --check"
        );
    }
    let max_runtime = settings.max_runtime().map(whole_seconds);
    if review.is_some() && max_runtime.is_some_and(|time| time.as_secs() <= BESIDE_READER) {
        bail!(
            "`max-runtime` is too short for the review: no reader starts with {BESIDE_READER} s or less left\nallow more time, or run it without the review (--review=false)"
        );
    }
    checks.extend(review);
    let shown = match (settings.verbose(), settings.quiet()) {
        (true, true) => bail!("`verbose` and `quiet` are both set"),
        (true, false) => Shown::Verbose,
        (false, true) => Shown::Quiet,
        (false, false) => Shown::Normal,
    };
    Ok(Options {
        task,
        harness,
        fallback_harness: settings.made(&table::fallback_harness).map(fallback).transpose()?,
        done,
        spec_kit: SpecKitRules::default(),
        checks,
        checks_from,
        protect: protect(layers),
        max_runtime,
        limit_wait: match settings.made(&table::max_limit_wait) {
            None => Some(Duration::ZERO),
            Some(_) => settings.max_limit_wait(),
        },
        asks_at_limit: false,
        prices: PriceTable(settings.prices().iter().filter_map(|price| Price::of(price)).collect()),
        allow_all: if settings.allow_all() { Approval::All } else { Approval::Own },
        permissions: Permissions {
            mode: settings.permission_mode(),
            allow: settings.allow(),
            deny: settings.deny(),
            arguments: settings.agent_args(),
        },
        shown,
        form: if settings.json() { Form::Json } else { Form::Words },
        start: start.to_owned(),
        counting: Counting::Continued,
        settings,
    })
}

/// Whole seconds, as the engine counts: otherwise an iteration could begin for which no time is left.
fn whole_seconds(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs() + u64::from(time.subsec_nanos() > 0))
}

/// The agent program, by its name or its command line.
fn choice(settings: &Chosen) -> Result<HarnessChoice> {
    let line = settings.made(&table::harness_command);
    let Some(name) = settings.made(&table::harness) else {
        return line.map_or(Ok(HarnessChoice::Claude), command_line);
    };
    // In the same place, both may stand only if they mean the same.
    let beside = line.filter(|line| line.origin.is_beside(&name.origin));
    match (known(name)?, line, beside) {
        (HarnessChoice::Command(_), Some(line), _) => command_line(line),
        (HarnessChoice::Command(_), None, _) => bail!(
            "{} is `command`, but no command is given\nname it with --harness-command \"PROGRAM …\"",
            name.named()
        ),
        (_, _, Some(beside)) => {
            bail!("{} means `harness` `command`, not `{}`", beside.named(), name.values.concat())
        }
        (HarnessChoice::Demo, ..) if name.origin != Origin::CommandLine => {
            bail!("{} is not for every day: `demo` is given on the command line only", name.named())
        }
        (other, ..) => Ok(other),
    }
}

fn command_line(line: &Made) -> Result<HarnessChoice> {
    let text = line.values.concat();
    let words = command::split(&text)
        .with_context(|| format!("{} has a quote that is never closed", line.named()))?;
    if words.first().is_none_or(String::is_empty) {
        bail!("{} names no program", line.named());
    }
    Ok(HarnessChoice::Command(text))
}

/// The agent program of this name. A project's file can give no command.
fn known(name: &Made) -> Result<HarnessChoice> {
    let harness = HarnessChoice::of(&name.values.concat());
    if matches!((&harness, &name.origin), (HarnessChoice::Acp(_), Origin::Project(..))) {
        bail!(
            "{} is a command, which a project's file cannot give\nput it into your own file, or on the command line",
            name.named()
        );
    }
    Ok(harness)
}

/// An agent program that needs no other setting.
fn fallback(name: &Made) -> Result<HarnessChoice> {
    match known(name)? {
        HarnessChoice::Command(_) | HarnessChoice::Demo => bail!(
            "{} is an agent program that is known, or `acp:COMMAND`, not `{}`",
            name.named(),
            name.values.concat()
        ),
        other => Ok(other),
    }
}

/// How many failed runs in a row without any answer end the loop.
fn max_unanswered(settings: &Chosen) -> u32 {
    let most = settings.max_failures();
    // A person's number holds for the first runs, too. A project's file cannot raise it.
    match settings.made(&table::max_failures).map(|made| &made.origin) {
        Some(Origin::CommandLine | Origin::Person(..)) => most,
        _ => most.min(MAX_UNANSWERED),
    }
}

/// The patterns of all places: no place can remove another place's.
fn protect(layers: &Layers) -> Vec<String> {
    let every = &layers.of_every_loop.chosen;
    let all = [every, &layers.person, &layers.project, &layers.typed];
    all.into_iter().flat_map(Chosen::protect).collect()
}

fn checks(settings: &Chosen, of_every_loop: &[Check]) -> Vec<Check> {
    let limit_seconds = settings.check_timeout().as_secs();
    let check = |run| Check { run, limit_seconds, ..Check::default() };
    with_more(of_every_loop.to_vec(), settings.check().into_iter().map(check))
}

/// The place of the checks, in words.
fn checks_from(settings: &Chosen, of_every_loop: &[Check]) -> &'static str {
    let origin = settings.made(&table::check).map(|made| &made.origin);
    let typed = origin == Some(&Origin::CommandLine);
    let written = !of_every_loop.is_empty() || (origin.is_some() && !typed);
    match (written, typed) {
        (false, _) => "the command line",
        (true, false) => "the settings",
        (true, true) => "the settings and the command line",
    }
}

impl Layers {
    /// The strongest value of each setting.
    pub fn merged(&self) -> Chosen {
        let mut every = self.of_every_loop.chosen.clone();
        every.0.retain(|made| [&table::converge, &table::include_optional].contains(&made.setting));
        self.typed.clone().over(self.project.clone()).over(self.person.clone()).over(every)
    }

    /// Ignores a setting of the project's file.
    pub fn leave_out(&mut self, setting: &'static Setting) {
        self.left_out.extend(self.project.made(setting).cloned());
        self.project.remove(setting);
    }
}

/// Refuses a setting that one of the agents cannot follow, and a fallback that is the same agent.
pub fn refuse_what_the_agents_cannot_do(options: &Options) -> Result<()> {
    let settings = &options.settings;
    refuse_what_the_agent_cannot_do(options, &options.harness)?;
    if settings.fallback_model().is_some_and(|model| settings.model() == Some(model)) {
        bail!(
            "{} is the model that works already\nname another one, or another agent program with --fallback-harness",
            settings.place_of(&table::fallback_model)
        );
    }
    let Some(harness) = &options.fallback_harness else { return Ok(()) };
    let named = settings.place_of(&table::fallback_harness);
    if *harness == options.harness {
        bail!(
            "{named} is the agent program that works already\nname another one, or another model with --fallback-model"
        );
    }
    if !options.permissions.arguments.is_empty() {
        bail!(
            "{named} cannot be used with arguments for the agent program: they are those of the first one\nput them into its own settings, or leave {named} out"
        );
    }
    refuse_what_the_agent_cannot_do(options, harness).map_err(|error| anyhow!("{named}: {error:#}"))
}

/// Refuses the first setting that the agent program cannot follow.
fn refuse_what_the_agent_cannot_do(options: &Options, choice: &HarnessChoice) -> Result<()> {
    let settings = &options.settings;
    let agent = harness(choice)?;
    if options.allow_all == Approval::All && !options.permissions.permits_nothing() {
        bail!(
            "--allow-all permits everything: leave out --permission-mode and --allow, or --allow-all"
        );
    }
    if let Some(accepts) = agent.accepts() {
        accepts.refuse(&options.permissions)?;
    }
    let (name, continues) = (agent.name(), settings.continue_session());
    let (when, tells_cost) = match (agent.reports_cost(), continues) {
        (true, true) => (" with --continue-session", false),
        (is_told, _) => ("", is_told),
    };
    let is_own = matches!(choice, HarnessChoice::Command(_) | HarnessChoice::Acp(_));
    let line = match choice {
        HarnessChoice::Command(line) => Some(line),
        _ => None,
    };
    let lacks = |place| line.is_some_and(|line| !line.contains(place));
    let place = |place| {
        format!(
            "does nothing for this command: it has no {place}\nput {place} into the command, or leave the setting out"
        )
    };
    let flag = || {
        "does nothing for a command of your own: `spool` does not know the flag for it\nput the program's own flag into the command".to_owned()
    };
    let cost = format!(
        "does nothing for `{name}`: nothing tells what it costs\nlimit it with --max-iterations or --max-runtime"
    );
    let prices = format!(
        "needs the prices of the model: `{name}` does not report what a run costs{when}\nsay them, in dollars for a million tokens: --prices MODEL=INPUT/OUTPUT/CACHE-READ/CACHE-WRITE"
    );
    let tokens = format!(
        "may do nothing here: a command of your own does not report its tokens, nor does ACP ask for that\nlimit it with --max-iterations or --max-runtime, or install `{USAGE}`, which counts them"
    );
    let (money, counts) = (settings.max_usd().is_some(), find(USAGE).is_some());
    let cannot = [
        (&table::permission_mode, line.is_some(), flag()),
        (&table::allow, line.is_some(), flag()),
        (&table::deny, line.is_some(), flag()),
        (&table::agent_args, line.is_some(), flag()),
        (&table::max_usd, money && is_own, cost),
        (&table::max_usd, money && !tells_cost && options.prices.0.is_empty(), prices),
        (&table::token_budget, settings.token_budget().is_some() && is_own && !counts, tokens),
        (&table::allow_all, settings.allow_all() && line.is_some(), flag()),
        (&table::model, lacks("{model}"), place("{model}")),
        (&table::continue_session, continues && lacks("{session}"), place("{session}")),
        (&table::fallback_model, lacks("{model}"), place("{model}")),
    ];
    for (setting, cannot, why) in cannot {
        if let Some(made) = settings.made(setting).filter(|_| cannot) {
            bail!("{} {why}", made.named());
        }
    }
    let models = [&table::model, &table::fallback_model].into_iter().filter(|_| line.is_some());
    for made in models.filter_map(|setting| settings.made(setting)) {
        command::plain_model(&made.values[0]).with_context(|| made.named())?;
    }
    Ok(())
}

/// The review behind the checks; an error tells what is wrong with it. Without a `review-*` setting it is the project's
/// own review, and without that one by the working agent program.
pub fn review(
    settings: &Chosen,
    of_every_loop: Option<&Check>,
    harness: &HarnessChoice,
) -> Result<Option<Check>> {
    let mut how = settings.0.iter().filter(|made| made.setting.name.starts_with("review-"));
    if !settings.review().unwrap_or(of_every_loop.is_some()) {
        // A file may say how a review is made, if one is asked for.
        if let Some(how) = how.find(|made| made.origin == Origin::CommandLine) {
            bail!("{} does nothing without a review\nadd --review", how.named());
        }
        return Ok(None);
    }
    let says_when_alone = how.all(|made| made.setting == &table::review_when);
    let review = match of_every_loop {
        Some(review) if says_when_alone => review.clone(),
        _ => Check::review(
            reader(settings, harness)?,
            &settings.review_model().unwrap_or_default(),
            settings.review_token_budget(),
            settings.review_timeout().as_secs(),
        ),
    };
    let when = settings.review_when().unwrap_or_else(|| review.when());
    Ok(Some(review.made(when)))
}

/// The agent program has to be able to only read.
fn reader(settings: &Chosen, works: &HarnessChoice) -> Result<&'static str> {
    let named = settings.review_harness().map(|name| HarnessChoice::of(&name));
    let reader = harness(named.as_ref().unwrap_or(works)).ok();
    let reader = reader.filter(|program| program.can_only_read());
    reader.map(|program| program.name()).with_context(|| {
        format!(
            "the agent program of this loop cannot be held to reading, so it reviews nothing\nname another one with --review-harness: {}",
            READERS.join(", ")
        )
    })
}
