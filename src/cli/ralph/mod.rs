//! `spool ralph`, also `spool loop`: finds out the job, then calls the runner.

mod args;
mod choose;
mod harnesses;
mod plan;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::handle::{LoopHandle, NameKind};
use super::person::in_agents_session;
use super::steered::Answer;
use crate::cli::selection::refuse_agents;
use crate::engine::Check;
use crate::evidence::task_list::{self, TASKS};
use crate::feature::converge::{ConvergeCommand, for_any_agent};
use crate::feature::lists::too_many_lists;
use crate::feature::settings::Settings;
use crate::forms;
use crate::forms::events::{EventForm, RunnerEvent};
use crate::forms::runner::{RunnerForm, RunnerStatusForm};
use crate::print;
use crate::runner::options::{
    self, Counting, DoneWhen, Form, HarnessChoice, Layers, Options, ProjectTrust, file, resolve,
};
use crate::runner::report::{RunnerReport, only_live, select};
use crate::runner::state::{Context as Added, changes_with_state, make_state_folder};
use crate::runner::target::{self, Change, ChangeKind, ChangeQuery, FoundChange, SpecKitRules};
use crate::runner::{driver, exit, script};
use crate::session::arm::{feature as arm, refuse_agent};
use crate::settings::{Chosen, table};
use crate::store::loops::Loops;
use crate::store::read::Problem;
use crate::style::WARN;
use crate::text;

pub use args::RalphArgs;

pub const ALIAS: &str = "loop";
/// The demo's prompt if none is typed.
const DEMO: &str = "Build what the specification asks for, task by task.";
/// The warning of spec 001.
const NO_TASKS: &str = "No tasks.md found, using manual done criteria";

/// A job, read and checked; nothing has happened yet.
enum RalphJob {
    Run(Change, Box<Options>),
    /// The demo on a throw-away project.
    Demo(Box<Options>),
    /// A dry run.
    Plan(Option<Change>, Box<Options>, Box<Layers>),
    Status(PathBuf, String, Box<Options>),
    /// Context for every later iteration; `None` clears it.
    Context(Change, Option<String>, Form),
}

/// The exit code is that of the loop's end, or 2 for a usage error before anything has happened.
pub fn run(args: &RalphArgs) -> Result<ExitCode> {
    if args.list_harnesses {
        let is_json = args.settings.0.json();
        return harnesses::print(if is_json { Form::Json } else { Form::Words });
    }
    let job = match job(args) {
        Ok(job) => job,
        Err(error) if error.is::<choose::GaveUp>() => {
            return Ok(ExitCode::from(choose::GaveUp::CODE));
        }
        Err(error) => {
            print::error(&error);
            return Ok(ExitCode::from(exit::USAGE));
        }
    };
    match job {
        RalphJob::Plan(change, options, layers) => plan::print(change.as_ref(), &options, &layers),
        RalphJob::Run(change, options) => driver::run(&change, &options),
        RalphJob::Demo(options) => play(&options),
        RalphJob::Status(root, change, options) => status(&root, &change, options.form),
        RalphJob::Context(change, added, form) => {
            let id = &change.id;
            let meant = LoopHandle::at(&change.root, NameKind::Change, id);
            refuse_agents(&meant)?;
            let context = Added::of(&make_state_folder(&change.root, id)?);
            let words = if let Some(added) = added {
                context.add(&added)?;
                format!(
                    "Every iteration of `{id}` gets these words from the next one on; nothing was started."
                )
            } else {
                context.clear()?;
                format!("No words are added to the iterations of `{id}` any more.")
            };
            Answer::from(form).say(&words, &meant)
        }
    }
}

fn status(root: &Path, change: &str, form: Form) -> Result<ExitCode> {
    let report = RunnerReport::of(root, change)?;
    match form {
        Form::Words => out!("{}", text::block(&report.text())),
        Form::Json => {
            let runner = RunnerForm::from(&report);
            let status = RunnerStatusForm { runner };
            dataln!("{}", forms::document(&status)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The throw-away project stays for a look.
fn play(options: &Options) -> Result<ExitCode> {
    let folder = tempfile::Builder::new().prefix("spool-demo-").tempdir();
    let folder = folder.context("no temporary folder can be made")?.keep();
    script::project(&folder)?;
    let wanted = ChangeQuery { change: Some(script::NAME), ..ChangeQuery::default() };
    let FoundChange::One(change) = target::find(&folder, &wanted)? else {
        bail!("the demo's project has no change: `{}`", folder.display());
    };
    let place = folder.display().to_string();
    let words = format!("demo: a project with one change: {place}");
    match options.form {
        Form::Words => outln!("{words}"),
        Form::Json => {
            let line = EventForm::now(RunnerEvent::Demo { folder: place }, words);
            dataln!("{}", forms::line(&line)?);
        }
    }
    driver::run(&change, options)
}

/// Arguments behind `--` go to the agent program, except a prompt if there is none in front. A single word with a dash
/// is a flag, not a prompt.
fn typed(args: &RalphArgs) -> Result<(Option<String>, Chosen)> {
    let mut settings = args.settings.0.clone();
    let mut rest = args.rest.iter().peekable();
    let beside = args.status || args.add_context.is_some() || args.clear_context;
    if let (true, Some(stray)) = (beside, args.rest.first()) {
        bail!("no agent program is started, so `{}` means nothing", text::line(stray));
    }
    let prompt = match &args.prompt {
        None if settings.prompt_file().is_none() => {
            let is_flag = |word: &str| word.starts_with('-') && !word.contains(char::is_whitespace);
            rest.next_if(|word| !is_flag(word)).cloned()
        }
        prompt => prompt.clone(),
    };
    settings.add(&table::agent_args, rest.cloned());
    Ok((prompt, settings))
}

/// The only matching change on which a loop has run.
fn only_ran(root: &Path, settings: &Chosen) -> Option<String> {
    let named = settings.change()?;
    let mut ran = target::matching(&named, &changes_with_state(root));
    ran.pop().filter(|_| ran.is_empty())
}

fn job(args: &RalphArgs) -> Result<RalphJob> {
    let start = args.place.start()?;
    let (prompt, typed) = typed(args)?;
    if typed.harness().is_some_and(|name| name == "demo") {
        return demo(args, prompt.as_deref(), typed, &start);
    }
    let root = target::root_around(&start)?;
    let beside = args.status || args.add_context.is_some() || args.clear_context;
    let layers = layers(args, typed, &root, beside)?;
    let settings = layers.merged();
    // Typed paths start at the current folder, also with --project.
    let here = std::env::current_dir().unwrap_or_else(|_| start.clone());
    let task = if beside {
        Some(String::new())
    } else {
        options::task(prompt.as_deref(), &settings, &here, Some(&root))?
    };
    let is_told = task.is_some();
    let mut options = Box::new(resolve(&layers, task.unwrap_or_default(), &start)?);
    if args.status && settings.change().is_none() {
        let Some(change) = select(&root)? else {
            bail!(
                "no loop of `spool ralph` has run in `{}`\nstart one: spool ralph \"Build it\" --change ID",
                root.display()
            );
        };
        return Ok(RalphJob::Status(root, change, options));
    }
    let is_named = settings.change().is_some() || settings.module().is_some();
    let only = (beside && !is_named).then(|| only_live(&root)).transpose()?.flatten();
    let change = match &only {
        Some(id) => choose::named(&start, id),
        None => choose::change(&start, &settings),
    };
    let change = match change {
        // The state of a loop outlives its change, and stays with an archived one.
        Err(error) if args.status => {
            let id = only_ran(&root, &settings).ok_or(error)?;
            return Ok(RalphJob::Status(root, id, options));
        }
        change => change?,
    };
    if args.status {
        return Ok(RalphJob::Status(change.root, change.id, options));
    }
    if let Some(words) = &args.add_context {
        if words.trim().is_empty() {
            bail!("`--add-context` has no words to add");
        }
        return Ok(RalphJob::Context(change, Some(words.clone()), options.form));
    }
    if args.clear_context {
        return Ok(RalphJob::Context(change, None, options.form));
    }
    options::refuse_what_the_agents_cannot_do(&options)?;
    if options.checks.iter().any(Check::is_review) {
        can_be_reviewed(&change)?;
    }
    if !is_told {
        of_the_list(&change, &options)?.clone_into(&mut options.task);
    }
    options.done = Some(done(&change, &options)?);
    options.spec_kit = spec_kit(&change, args)?;
    let asks = !settings.no_interactive() && options.form == Form::Words && choose::is_attended();
    options.asks_at_limit = asks && options.limit_wait == Some(Duration::ZERO);
    if args.restart {
        options.counting = Counting::FromZero;
    }
    if settings.converge() {
        options.spec_kit.converge = Some(converge_command(&change, &options)?);
    }
    if args.dry_run {
        return Ok(RalphJob::Plan(Some(change), options, Box::new(layers)));
    }
    if in_agents_session() && change.kind == ChangeKind::SpecKit {
        refuse_agent(&Loops::of(&change.root), None, &change.id)?;
    }
    Ok(RalphJob::Run(change, options))
}

/// The settings of all places, with a warning for each ignored one. `beside`: a command that only looks at or stops a
/// loop runs no check, and needs no trust.
fn layers(args: &RalphArgs, typed: Chosen, root: &Path, beside: bool) -> Result<Layers> {
    let (project, person) = (file::of_project(root)?, file::of_person()?);
    let mut layers = Layers { typed, project, person, ..Layers::default() };
    if beside {
        return Ok(layers);
    }
    // The project's switch is for the loops of sessions; a person who types `spool ralph` wants this loop.
    layers.of_every_loop = Settings::meant(root)?;
    let trusted = if args.trust_project { ProjectTrust::Now } else { ProjectTrust::Listed };
    let layers = options::only_what_is_trusted(layers, root, trusted)?;
    for setting in &layers.left_out {
        warn(&format!(
            "{} does not count: `{}` is looser than what holds without it, and this project is not trusted\nrun `spool trust`, or use --trust-project, where you want it",
            setting.named(),
            text::line(&setting.values.join(", "))
        ));
    }
    Ok(layers)
}

/// The demo brings its own project, and ignores the files of this place and of the person.
fn demo(args: &RalphArgs, prompt: Option<&str>, typed: Chosen, start: &Path) -> Result<RalphJob> {
    let layers = Layers { typed, ..Layers::default() };
    let foreign = [
        &table::change,
        &table::module,
        &table::harness_command,
        &table::permission_mode,
        &table::allow,
        &table::deny,
        &table::agent_args,
        &table::fallback_model,
        &table::fallback_harness,
    ];
    if let Some(stray) = layers.typed.0.iter().find(|made| foreign.contains(&made.setting)) {
        bail!(
            "{} means nothing to the demo: it plays on a throw-away project, with an agent of its own",
            stray.named()
        );
    }
    if args.status || args.add_context.is_some() || args.clear_context {
        bail!("the demo leaves no loop to ask for\nname the harness only where a loop is started");
    }
    let task = options::task(prompt, &layers.typed, start, None)?;
    let task = task.unwrap_or_else(|| DEMO.to_owned());
    let options = Box::new(resolve(&layers, task, start)?);
    debug_assert_eq!(options.harness, HarnessChoice::Demo);
    Ok(if args.dry_run {
        RalphJob::Plan(None, options, Box::new(layers))
    } else {
        RalphJob::Demo(options)
    })
}

/// A review needs something to judge.
fn can_be_reviewed(change: &Change) -> Result<()> {
    if change.kind != ChangeKind::SpecKit {
        bail!(
            "`{}` has no spec.md, and a review judges the requirements of one\nleave the review out with --review=false",
            change.id
        );
    }
    let shown = change.folder.strip_prefix(&change.root).unwrap_or(&change.folder);
    arm::can_be_reviewed(&change.folder, &shown.display().to_string())?;
    Ok(())
}

/// An error without a converge command, or without a list for new tasks.
fn converge_command(change: &Change, options: &Options) -> Result<ConvergeCommand> {
    let without = "leave it out with --converge=false";
    if change.kind != ChangeKind::SpecKit || options.done != Some(DoneWhen::Tasks) {
        bail!(
            "--converge is for a feature of spec-kit whose task list decides, and `{}` is none in this loop\n{without}",
            change.id
        );
    }
    for_any_agent(&change.worktree).map_err(|why| {
        anyhow!("spec-kit's converge command is asked for, and {why}\nupdate spec-kit in this project, or {without}")
    })
}

/// Refuses open checklists, unless a person has decided to continue.
fn spec_kit(change: &Change, args: &RalphArgs) -> Result<SpecKitRules> {
    let rules = SpecKitRules::of(change);
    let open = &rules.open_checklists;
    let is_person = !in_agents_session();
    let is_waived = args.ignore_checklists && is_person;
    if !open.is_empty() && !is_waived {
        let next = if is_person {
            "tick what you have reviewed, or add --ignore-checklists to continue with them open"
        } else {
            "only a person can continue with them open: `spool ralph` with --ignore-checklists, in a terminal of their own"
        };
        bail!(
            "nothing is started, because feature `{}` has open checklists:\n  {}\n{next}",
            change.id,
            open.join("\n  ")
        );
    }
    for why in &rules.wrong {
        warn(&format!("{why}; the agent is told of no hook that is not named"));
    }
    if !open.is_empty() {
        warn(&format!("open checklists, as you wish: {}", open.join(", ")));
    }
    Ok(rules)
}

fn warn(words: &str) {
    errln!("{WARN}warning{WARN:#}: {words}");
}

/// The prompt for a change with a list, if the person gives none.
fn of_the_list(change: &Change, options: &Options) -> Result<&'static str> {
    let is_by_list = matches!(options.done, None | Some(DoneWhen::Tasks));
    if is_by_list && change.tasks().is_some() {
        return Ok("Do the open tasks of the task list, one after the other, until all are done.");
    }
    done(change, options)?;
    bail!(
        "there is no prompt, and no task list that says what is to be done\nsay it: spool ralph \"Build it\" --change {}, or name a file with --prompt-file",
        change.id
    )
}

/// The definition of done if none is given (spec 001). Warns where only words can tell.
fn done(change: &Change, options: &Options) -> Result<DoneWhen> {
    if let Some(done) = options.done.filter(|done| *done != DoneWhen::Tasks) {
        return Ok(done);
    }
    let folder = change.folder.display();
    match task_list::read(&change.folder) {
        Err(Problem::Missing) if change.folder.join(TASKS).is_symlink() => bail!(
            "`{folder}/{TASKS}` is a link to nothing\nput the list there, or use --done manual"
        ),
        Ok(_) | Err(Problem::Missing) => {}
        Err(problem) => bail!(
            "`{folder}/{TASKS}` cannot be read: {problem}\nput the list there, or use --done manual"
        ),
    }
    if let Some((why, next)) = too_many_lists(&change.folder) {
        bail!("{why}\n{next}, or use --done manual");
    }
    if change.tasks().is_none() {
        if options.done.is_some() {
            bail!(
                "`--done tasks` needs a task list, and there is no tasks.md in `{folder}` or `{}`\nwrite one, or use --done manual",
                change.worktree.display()
            );
        }
        // Spec 001 asks for this warning in any case.
        warn(NO_TASKS);
        return Ok(DoneWhen::Manual);
    }
    if let Some(file) = change.task_list() {
        let list = file.list.with_optional(options.settings.include_optional());
        if list.tasks.is_empty() {
            let beside = text::below(&list.asides_in_words());
            bail!(
                "the task list holds no task: a task is a line such as `- [ ] T001 Do it`{beside}\nwrite its tasks so, or use --done manual"
            );
        }
    }
    Ok(DoneWhen::Tasks)
}
