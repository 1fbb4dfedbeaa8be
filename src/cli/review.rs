//! `spool review`: an agent program with a fresh context reads the work and judges it.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};

use super::context::Where;
use super::names::feature_named;
use crate::checks::{MARK, PASSED};
use crate::engine::CheckResult;
use crate::feature::project::{Feature, Project};
use crate::forms;
use crate::refusal::Refusal;
use crate::review::{Review, ReviewLimits, ReviewOrder, last, review};
use crate::runner::harness::{Approval, HarnessChoice, harness};
use crate::runner::options::{
    Layers, Options, ProjectTrust, file, only_what_is_trusted, resolve, time_in_words,
};
use crate::runner::signals::Signals;
use crate::settings::{Chosen, parser, table};
use crate::text;
use crate::world;

/// Let another agent judge the work, requirement by requirement
///
/// A fresh agent process gets spec.md, tasks.md, the changes since the loop was armed and the output of the checks, reads
/// the files, and says of each requirement whether it is met, with evidence that is looked up. It can change nothing.
#[derive(clap::Args)]
#[command(after_help = SHORT_EXAMPLES, after_long_help = EXAMPLES)]
pub struct ReviewArgs {
    /// The feature, such as 001-login, 1 or login; without it, the current one
    #[arg(value_name = "FEATURE")]
    feature: Option<String>,
    /// Show what changed since this commit, such as main; without it, since the loop was armed
    #[arg(long, value_name = "REV", conflicts_with = "last")]
    base: Option<String>,
    /// Review only what these finished tasks are about, such as T001,T002; what other tasks build is left for later
    #[arg(long, value_name = "IDS", value_delimiter = ',', conflicts_with = "last")]
    tasks: Vec<String>,
    /// The agent program that reads: claude, opencode, codex, gemini or copilot [default: that of `spool ralph`]
    #[arg(long, value_name = "NAME", conflicts_with = "last", value_parser = parser(&table::harness))]
    harness: Option<String>,
    /// Any other program, by its command line, as for `spool ralph`; it needs --may-write
    #[arg(long, value_name = "COMMAND", conflicts_with = "last", value_parser = parser(&table::harness_command))]
    harness_command: Option<String>,
    /// The model, in the agent program's own words
    #[arg(long, value_name = "MODEL", conflicts_with = "last", value_parser = parser(&table::model))]
    model: Option<String>,
    /// Also take a program that cannot be held to reading; what it changes is still no pass
    #[arg(long, conflicts_with = "last")]
    may_write: bool,
    /// The longest that it may take; 0 for no limit [default: 30 minutes]
    #[arg(long, value_name = "TIME", conflicts_with = "last", value_parser = parser(&table::max_runtime))]
    timeout: Option<String>,
    /// The most tokens that it may use; 0 for no limit [default: 5000000]
    #[arg(long, value_name = "N", conflicts_with = "last", value_parser = parser(&table::token_budget))]
    token_budget: Option<String>,
    /// What a model costs, as for `spool ralph`: MODEL=INPUT/OUTPUT/CACHE-READ/CACHE-WRITE; may be given more than once
    #[arg(long, value_name = "PRICE", conflicts_with = "last", value_parser = parser(&table::prices))]
    prices: Vec<String>,
    /// What is left of the loop's tokens
    #[arg(long, value_name = "N", hide = true)]
    left_tokens: Option<u64>,
    /// What is left of the loop's money, in millionths of a dollar
    #[arg(long, value_name = "N", hide = true)]
    left_cost: Option<u64>,
    /// Show the last review, and start nothing
    #[arg(long)]
    last: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Where,
}

const SHORT_EXAMPLES: &str = include_str!("review/short-examples.txt").trim_ascii_end();

const EXAMPLES: &str = include_str!("review/examples.txt").trim_ascii_end();

/// The default limit of a reader's time.
const TIME: &str = "30m";
/// The default limit of a reader's tokens.
const TOKENS: &str = "5000000";

/// Reviews, or shows the last review; the exit code is that of the review.
pub fn run(args: &ReviewArgs) -> Result<ExitCode> {
    let project = args.place.project()?;
    let feature = feature(&project, args.feature.as_deref())?;
    if args.last {
        let Some(review) = last(&project.root, &feature.name)? else {
            bail!("`{}` was never reviewed\nreview it: spool review {0}", feature.name);
        };
        print(&review, args.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = options(args, &project)?;
    if options.harness == HarnessChoice::Demo {
        bail!("the demo's agent reviews nothing\nname another one with --harness");
    }
    let signals = Signals::listen().context("signals cannot be listened to")?;
    let harness = harness(&options.harness)?;
    if !harness.can_only_read() && !args.may_write {
        bail!(
            "`{}` cannot be held to reading, so it may change what it reviews\nname another agent program with --harness, or add --may-write",
            harness.name()
        );
    }
    let approval = if harness.can_only_read() { Approval::ReadOnly } else { Approval::Own };
    let version = harness.check()?.unwrap_or_default();
    let limits = limits(&options, args);
    let (results, model) = (passed_in_loop(), options.settings.model());
    let is_check = results.is_some();
    let (name, none) = (harness.name().to_owned(), || "no limit of time".to_owned());
    let begins = || {
        let time = limits.time.map_or_else(none, |most| format!("at most {}", time_in_words(most)));
        if !is_check {
            errln!("{name} reads {} ({time}); Ctrl-C ends it", feature.name);
        }
    };
    let order = ReviewOrder {
        project: &project,
        feature: &feature,
        part: &args.tasks,
        harness,
        version,
        model: model.as_deref(),
        approval,
        base: args.base.as_deref(),
        limits,
        prices: &options.prices,
        signals: &signals,
        results,
    };
    let review = review(&order, &begins)?;
    if is_check {
        out!("{}", text::block(&review.for_loop()));
    } else {
        print(&review, args.json)?;
    }
    Ok(ExitCode::from(review.exit_code))
}

/// The commands that passed in the loop for which this review is a check; `None` outside of a loop.
fn passed_in_loop() -> Option<Vec<CheckResult>> {
    let text = world::variable(PASSED)?;
    let words: Vec<&str> = text.split_terminator(MARK).skip(1).collect();
    let result = |pair: &[&str]| CheckResult {
        run: pair[0].to_owned(),
        passed: true,
        outcome: "exit code 0".to_owned(),
        tail: pair[1].to_owned(),
        review: None,
    };
    Some(words.chunks_exact(2).map(result).collect())
}

fn print(review: &Review, as_json: bool) -> Result<()> {
    if as_json {
        dataln!("{}", forms::document(review)?);
    } else {
        out!("{}", text::block(&review.text()));
    }
    Ok(())
}

fn feature(project: &Project, named: Option<&str>) -> Result<Feature> {
    if let Some(name) = named {
        return feature_named(project, name);
    }
    let found = project.feature_meant(None, None).map_err(|error| anyhow!(Refusal::from(error)))?;
    found.context("no feature is worked on here\nname one: spool review 001-login")
}

/// The part of the runner's settings that is about the agent program.
fn options(args: &ReviewArgs, project: &Project) -> Result<Options> {
    let mut typed = Chosen::default();
    let all = [
        (&table::max_runtime, args.timeout.as_deref().or(Some(TIME))),
        (&table::token_budget, args.token_budget.as_deref().or(Some(TOKENS))),
        (&table::harness, args.harness.as_deref()),
        (&table::harness_command, args.harness_command.as_deref()),
        (&table::model, args.model.as_deref()),
    ];
    for (setting, value) in all {
        typed.add(setting, value.map(str::to_owned));
    }
    typed.add(&table::prices, args.prices.iter().cloned());
    // A model belongs to the program that is named with it.
    let names_program = args.harness.is_some() || args.harness_command.is_some();
    let of_file = |mut all: Chosen| {
        all.0.retain(|made| match made.setting.name {
            "grace" | "prices" | "trusted-projects" => true,
            "harness" | "harness-command" | "model" => !names_program,
            _ => false,
        });
        all
    };
    let layers = Layers {
        typed,
        project: of_file(file::of_project(&project.root)?),
        person: of_file(file::of_person()?),
        ..Layers::default()
    };
    let layers = only_what_is_trusted(layers, &project.root, ProjectTrust::Listed)?;
    resolve(&layers, String::new(), &args.place.start()?)
}

fn limits(options: &Options, args: &ReviewArgs) -> ReviewLimits {
    let own = options.settings.token_budget();
    ReviewLimits {
        time: options.settings.max_runtime(),
        tokens: own.into_iter().chain(args.left_tokens).min(),
        cost: args.left_cost,
        grace: options.settings.grace(),
    }
}
