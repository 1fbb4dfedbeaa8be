//! The Verify command of a task: whether it may run, what it showed, and what is said of that.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use super::job::TaskJob;
use crate::checks;
use crate::cli::person::{can_be_asked, confirm};
use crate::engine::CheckResult;
use crate::engine::tasks::Task;
use crate::feature::project::printable;
use crate::session::pinned;
use crate::session::task_log::{Proof, no_task};
use crate::text;

/// What came of the Verify command of a task.
enum Verified {
    /// The task has none.
    Without,
    /// It was added after arming, and was not run.
    Later(String),
    /// Nobody armed it, and no person at the terminal wanted it to be run: why it was not.
    Unarmed(String),
    /// It may not be run: why.
    Refused(String),
    /// It ran.
    Ran(CheckResult),
}

/// Runs the Verify command of a task where it may run. `not` says what the task is not where it may not.
fn carry_out(
    task: &Task,
    proof: Proof,
    root: &Path,
    limit: Duration,
    not: &str,
) -> Result<Verified> {
    let command = match proof {
        Proof::None => return Ok(Verified::Without),
        Proof::New(command) => return Ok(Verified::Later(command)),
        Proof::Changed(known) => return Ok(Verified::Refused(changed(task, &known))),
        Proof::Unreadable(command, why) => {
            return Ok(Verified::Refused(unreadable(task, not, command.as_deref(), &why)));
        }
        Proof::Unarmed(command, why) if !person_agrees(task, &command)? => {
            return Ok(Verified::Unarmed(unarmed(task, &command, &why)));
        }
        Proof::Run(command) | Proof::Unarmed(command, _) => command,
    };
    Ok(Verified::Ran(checks::run(&command, root, limit)))
}

/// Runs the Verify command of one task, ticks nothing, and returns success when it passes.
pub fn verify(job: &TaskJob<'_>, id: &str, limit: Duration) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    let task = list.find(id).ok_or_else(|| no_task(job.feature, &list, id))?;
    let about = printable(&task.id);
    match carry_out(task, job.proof(task, &text), &job.project.root, limit, "proved")? {
        Verified::Without => {
            outln!("{} has no Verify command in backticks: check it by reading.", task.id);
            return Ok(ExitCode::SUCCESS);
        }
        Verified::Ran(result) if result.passed => {
            outln!("{about} passes: `{}`", text::line(&result.run));
            return Ok(ExitCode::SUCCESS);
        }
        Verified::Later(command) => outln!(
            "The Verify command of {about} was added after arming and is not run here: run it yourself: `{}`",
            text::line(&command)
        ),
        Verified::Unarmed(words) | Verified::Refused(words) => outln!("{words}"),
        Verified::Ran(result) => outln!("{}", failure(&result)),
    }
    Ok(ExitCode::FAILURE)
}

/// What came of the proof of a task.
pub enum Proved {
    /// Nothing speaks against it; a sentence on a command that was not run, or nothing.
    With(String),
    /// Why it is not ticked.
    Not(String),
}

/// Runs what proves a task and returns what came of it.
pub fn prove(task: &Task, proof: Proof, root: &Path, limit: Duration) -> Result<Proved> {
    Ok(match carry_out(task, proof, root, limit, "ticked")? {
        Verified::Without => Proved::With(String::new()),
        Verified::Later(command) => Proved::With(format!(
            " Its Verify command was added after arming and was not run: run it yourself: `{}`.",
            text::line(&command)
        )),
        Verified::Unarmed(words) => {
            outln!("{words}");
            Proved::With(String::new())
        }
        Verified::Refused(words) => Proved::Not(words),
        Verified::Ran(result) if result.passed => Proved::With(String::new()),
        Verified::Ran(result) => Proved::Not(refusal(task, &result)),
    })
}

/// Whether a person at the terminal wants a command to be run that nobody armed. No question is asked in an
/// agent's session, or where no person can see the question and answer it.
fn person_agrees(task: &Task, command: &str) -> Result<bool> {
    if !can_be_asked() {
        return Ok(false);
    }
    errln!("No person armed the Verify command of {}:\n  {}", task.id, pinned::indented(command));
    confirm("Run it in this project?")
}

fn unarmed(task: &Task, command: &str, why: &str) -> String {
    format!(
        "The Verify command of {} is not run here, for {}: run it yourself: `{}`",
        task.id,
        text::line(why),
        text::line(command)
    )
}

/// What is said of a task whose armed Verify command cannot be known: whether it has one at all is not known either.
fn unreadable(task: &Task, what: &str, command: Option<&str>, why: &str) -> String {
    let now = command.map_or_else(String::new, |command| {
        format!("\nThe list has this one now, which is not run: `{}`", text::line(command))
    });
    format!(
        "{} is not {what}: the Verify commands that were armed cannot be read: {}{now}\nA person makes that file readable, or arms the loop again.",
        printable(&task.id),
        text::line(why)
    )
}

fn changed(task: &Task, known: &str) -> String {
    format!(
        "{} is not ticked: its Verify command is not the one that the loop was armed with.\nPut it back: `{}`",
        printable(&task.id),
        text::line(known)
    )
}

fn refusal(task: &Task, result: &CheckResult) -> String {
    format!(
        "{} is not ticked: {}\nFix it and call done again, or: spool task fail {} \"why\"",
        task.id,
        failure(result),
        task.id
    )
}

fn failure(result: &CheckResult) -> String {
    let tail = if result.tail.is_empty() { "(it printed nothing)" } else { &result.tail };
    format!("`{}` failed: {}\n{}", text::line(&result.run), result.outcome, text::block(tail))
}
