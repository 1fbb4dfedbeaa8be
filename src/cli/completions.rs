//! `spool completions`: commands, flags and the names that exist here, for a shell.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Command;
use clap::builder::Resettable;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use super::{ralph, stop};
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::task_list;
use crate::feature::project::Project;
use crate::runner::target;
use crate::settings::HARNESSES;
use crate::store::loops::Loops;
use crate::text;

/// The longest title beside a task's id, in characters.
const WIDEST: usize = 60;
/// A shell sets this to ask for completions.
const VARIABLE: &str = "SPOOL_COMPLETE";

/// Print what a shell needs to complete commands and names.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

const EXAMPLES: &str = include_str!("completions/examples.txt").trim_ascii_end();

pub fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell).context("the shell is not known")?;
    let mut lines = Vec::new();
    shell.write_registration(VARIABLE, "spool", "spool", "spool", &mut lines)?;
    dataln!("{}", String::from_utf8(lines)?.trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Answers a shell that asks for completions, and exits.
pub fn answer_if_asked(command: fn() -> Command) {
    // clap offers only the first of a name and its visible alias, in the order of the alphabet: that would be the
    // alias.
    let hidden = |alias| move |command: Command| command.alias(Resettable::Reset).alias(alias);
    let all = || {
        let command = command().mut_subcommand("ralph", hidden(ralph::ALIAS));
        with_live_names(command.mut_subcommand("stop", hidden(stop::ALIAS)))
    };
    CompleteEnv::with_factory(all).var(VARIABLE).bin("spool").complete();
}

/// Adds the names that exist here to every argument that takes one.
fn with_live_names(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let names: fn() -> Vec<CompletionCandidate> = match argument.get_id().as_str() {
            "feature" | "words" => features,
            "change" => changes,
            "session" => sessions,
            "loop_name" => loops,
            "harness" => harnesses,
            "ids" => || tasks(|task| !task.done),
            "id" | "after" => || tasks(|_| true),
            _ => return argument,
        };
        argument.add(ArgValueCandidates::new(names))
    });
    command.mut_subcommands(with_live_names)
}

fn features() -> Vec<CompletionCandidate> {
    let project = here().and_then(|here| Project::around(&here));
    let features = project.map(|project| project.features()).unwrap_or_default();
    candidates(features.into_iter().map(|feature| feature.name))
}

/// The changes that `spool ralph` works on, or could.
fn changes() -> Vec<CompletionCandidate> {
    candidates(here().map(|here| target::ids(&here)).unwrap_or_default())
}

fn harnesses() -> Vec<CompletionCandidate> {
    candidates(HARNESSES.into_iter().map(str::to_owned))
}

fn sessions() -> Vec<CompletionCandidate> {
    let project = here().and_then(|here| Project::with_loops(&here, None));
    let sessions = project.map(|project| Loops::of(&project.root).sessions());
    candidates(sessions.unwrap_or_default())
}

/// Every name of a loop here.
fn loops() -> Vec<CompletionCandidate> {
    let changes = here().map(|here| target::ids(&here)).unwrap_or_default();
    let mut all = features();
    all.extend(sessions());
    let is_new = |name: &String| !all.iter().any(|known| known.get_value() == name.as_str());
    let new: Vec<String> = changes.into_iter().filter(is_new).collect();
    all.extend(candidates(new));
    all
}

fn here() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

fn tasks(is_wanted: impl Fn(&Task) -> bool) -> Vec<CompletionCandidate> {
    let project = here().and_then(|here| Project::around(&here));
    let feature = project.and_then(|project| project.current_feature().ok().flatten());
    let list = feature.and_then(|feature| task_list::read(&feature.folder).ok());
    let list = list.map(|file| TaskList::parse(&file.bytes)).unwrap_or_default();
    let wanted = list.tasks.iter().filter(|task| is_wanted(task) && is_word(&task.id));
    let candidate = |task: &Task| {
        let title = text::title(&task.title, WIDEST);
        CompletionCandidate::new(&task.id).help(Some(title.into()))
    };
    wanted.map(candidate).collect()
}

/// Only names that are safe in a shell: a shell expands completions again, and a folder may have any name.
fn candidates(names: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    names.into_iter().filter(|name| is_word(name)).map(CompletionCandidate::new).collect()
}

/// No shell expands this word.
fn is_word(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_letter)
}
