//! `spool completions`: what a shell needs to complete commands, flags and the names that exist here.

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
use crate::session::select;
use crate::settings::HARNESSES;
use crate::store::loops::Loops;
use crate::text;

/// The most of a task's title that stands beside its id, in characters.
const WIDEST: usize = 60;
/// The variable with which a shell asks for completions.
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

/// Prints the lines for the shell's own file.
pub fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell).context("the shell is not known")?;
    let mut lines = Vec::new();
    shell.write_registration(VARIABLE, "spool", "spool", "spool", &mut lines)?;
    dataln!("{}", String::from_utf8(lines)?.trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Answers a shell that asks what could come next in a command line, and ends the program then.
pub fn answer_if_asked(command: fn() -> Command) {
    // Of a name and its visible alias only the first in the alphabet is offered, and that would be the alias.
    let hidden = |alias| move |it: Command| it.alias(Resettable::Reset).alias(alias);
    let all = || {
        let command = command().mut_subcommand("ralph", hidden(ralph::ALIAS));
        with_live_names(command.mut_subcommand("stop", hidden(stop::ALIAS)))
    };
    CompleteEnv::with_factory(all).var(VARIABLE).bin("spool").complete();
}

/// The command with the names that exist here behind every argument that takes one.
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

/// The features of the project around the current folder.
fn features() -> Vec<CompletionCandidate> {
    let project = here().and_then(|here| Project::around(&here));
    let features = project.map(|it| it.features()).unwrap_or_default();
    candidates(features.into_iter().map(|it| it.name))
}

/// The changes that `spool ralph` works on, or could.
fn changes() -> Vec<CompletionCandidate> {
    candidates(here().map(|here| target::ids(&here)).unwrap_or_default())
}

/// The agent programs that `spool ralph` knows.
fn harnesses() -> Vec<CompletionCandidate> {
    candidates(HARNESSES.into_iter().map(str::to_owned))
}

/// The sessions that have or had a loop here.
fn sessions() -> Vec<CompletionCandidate> {
    let project = here().and_then(|here| Project::with_loops(&here, None));
    candidates(project.map(|it| select::sessions(&Loops::of(&it.root))).unwrap_or_default())
}

/// All that a loop here can be called.
fn loops() -> Vec<CompletionCandidate> {
    let changes = here().map(|here| target::ids(&here)).unwrap_or_default();
    let mut all = features();
    all.extend(sessions());
    let is_new = |name: &String| !all.iter().any(|it| it.get_value() == name.as_str());
    let new: Vec<String> = changes.into_iter().filter(is_new).collect();
    all.extend(candidates(new));
    all
}

/// The current folder.
fn here() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// The tasks of the current feature that are wanted, with their titles.
fn tasks(is_wanted: impl Fn(&Task) -> bool) -> Vec<CompletionCandidate> {
    let project = here().and_then(|here| Project::around(&here));
    let feature = project.and_then(|it| it.current_feature().ok().flatten());
    let list = feature.and_then(|feature| task_list::read(&feature.folder).ok());
    let list = list.map(|file| TaskList::parse(&file.bytes)).unwrap_or_default();
    let wanted = list.tasks.iter().filter(|task| is_wanted(task) && is_word(&task.id));
    let candidate = |task: &Task| {
        let title = text::title(&task.title, WIDEST);
        CompletionCandidate::new(&task.id).help(Some(title.into()))
    };
    wanted.map(candidate).collect()
}

/// Those names that a shell can take as they are. It reads what it completes once more, and a folder may bear any name.
fn candidates(names: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    names.into_iter().filter(|name| is_word(name)).map(CompletionCandidate::new).collect()
}

/// Whether no shell sees more than letters in it.
fn is_word(name: &str) -> bool {
    let is_letter = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_letter)
}
