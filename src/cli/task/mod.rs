//! `spool task`: the program keeps the task log; the agent asks, works and reports.
//!
//! Every answer is short: a model reads it hundreds of times.

mod access;
mod done;
mod job;
mod report;
mod show;
mod verify;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Subcommand;

use super::context::{Where, own_session, whole};
use super::names::feature_named;
use crate::refusal::Refusal;
use crate::runner::options::Form;
use done::DoneArgs;
use job::TaskJob;

/// Take the next task, tick it, or say that it failed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct TaskArgs {
    #[command(subcommand)]
    action: Action,
    /// The feature, such as 001-login, 1 or login; without it, the one this session drives, or the current one
    #[arg(short, long, value_name = "NAME", global = true)]
    feature: Option<String>,
    /// Print JSON for programs
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    place: Where,
}

const EXAMPLES: &str = include_str!("examples.txt").trim_ascii_end();

#[derive(Subcommand)]
enum Action {
    /// Show the task to do now, or the parallel group
    Next,
    /// Show one task with everything that belongs to it
    Show {
        /// The task's id
        id: String,
    },
    /// List the tasks: of a long list the open ones
    List {
        /// Show every task of a long list
        #[arg(long)]
        all: bool,
    },
    /// Run the Verify command of each task, look for its work, then tick its box
    Done(DoneArgs),
    /// Count a failed attempt
    Fail {
        /// The task's id
        id: String,
        /// What went wrong and what was tried, in one line
        why: String,
    },
    /// Drop a task that is not to be done, also one that has left the list: the person is told why
    Drop {
        /// The task's id
        id: String,
        /// Why it is not to be done, in two words or more
        why: String,
    },
    /// End the loop because a person is needed
    Block {
        /// What the person must do, in one line
        need: String,
    },
    /// Add a new task after another one
    Add {
        /// The id of the task before it
        #[arg(long, value_name = "ID")]
        after: String,
        /// What is to be done, in one line
        what: String,
    },
    /// Note that an extension hook of spec-kit was carried out
    Hook {
        /// The name of its command
        name: String,
    },
    /// Run the Verify command of a task and tick nothing
    Verify {
        /// The task's id
        id: String,
        /// Time limit for the command, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 110, value_parser = whole::<u64, 1, 7_200>)]
        limit: u64,
    },
}

/// Runs one command and prints what to do next.
pub fn run(args: &TaskArgs) -> Result<ExitCode> {
    let session = own_session();
    let here = access::project_here(session.as_deref());
    let is_here = here.clone().filter(|_| args.place.project.is_none());
    let project = is_here.map_or_else(|| args.place.project(), Ok)?;
    let feature = match &args.feature {
        Some(name) => feature_named(&project, name)?,
        None => project.feature_meant(None, session.as_deref()).map_err(Refusal::from)?.context(
            "no feature is selected in this project\nname it with --feature 001-name, or select one with spec-kit",
        )?,
    };
    access::only_its_own((&project, &feature), here.as_ref(), session.as_deref())?;
    let form = if args.json { Form::Json } else { Form::Words };
    let (project, feature, session) = (&project, &feature, session.as_deref());
    let job = TaskJob { project, feature, session, form };
    match &args.action {
        Action::Next => show::next(&job),
        Action::Show { id } => show::show(&job, id),
        Action::List { all, .. } => show::list(&job, if *all { usize::MAX } else { show::LINES }),
        Action::Done(request) => done::done(&job, request),
        Action::Drop { id, why } => done::drop_task(&job, id, why),
        Action::Fail { id, why } => report::fail(&job, id, why),
        Action::Block { need } => report::block(&job, need),
        Action::Add { after, what } => report::add(&job, after, what),
        Action::Hook { name } => report::hook(&job, name),
        Action::Verify { id, limit } => verify::verify(&job, id, Duration::from_secs(*limit)),
    }
}
