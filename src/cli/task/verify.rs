//! The Verify command of a task: permission, run, and words about the result.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use super::job::TaskJob;
use crate::checks;
use crate::cli::person::{can_be_asked, confirm};
use crate::engine::CheckResult;
use crate::engine::tasks::Task;
use crate::feature::project::printable;
use crate::forms;
use crate::forms::task::{ProvedTask, VerifyState};
use crate::runner::options::Form;
use crate::session::pinned;
use crate::session::view::{FeatureView, Unjudged};
use crate::store::pins::{Pins, VerifyCommands};
use crate::text;

/// The reason where no command may run.
const UNARMED: &str = "no loop is live that a person armed";

/// The Verify commands that a person armed, by the id of their task at that time. The agent can write the list, and may
/// call `spool task` without a question: only these run. An error says why none is known, and whether the task may be
/// ticked all the same.
fn armed(view: &FeatureView<'_>) -> Result<VerifyCommands, (VerifyState, String)> {
    let pin = match view.armed() {
        Ok(pin) => pin.ok_or_else(|| (VerifyState::NotRun, UNARMED.to_owned()))?,
        // Without a place outside the project, no command was stored.
        Err(Unjudged::Nowhere(why)) => return Err((VerifyState::NotRun, why)),
        Err(Unjudged::Unreadable(why)) => return Err((VerifyState::Refused, why)),
    };
    let commands = Pins::of(&view.project.root).and_then(|pins| pins.verify(pin.key(), &pin));
    commands.map_err(|why| (VerifyState::Refused, why.to_string()))
}

/// Runs the command of a task, known by its id at arming, if it may run. The words are those about a command that did
/// not. `not` ends a sentence: the task is not …
fn carry_out(
    view: &FeatureView<'_>,
    (task, armed_id): (&Task, &str),
    text: &[u8],
    limit: Duration,
    not: &str,
) -> Result<ProvedTask> {
    let without = |state, words| Ok(without_run(task, state, words));
    let command = match (task.verify_command(text), armed(view)) {
        (None, Err((VerifyState::NotRun, _))) => return without(VerifyState::None, None),
        (Some(command), Err((state @ VerifyState::NotRun, why))) => {
            if !person_agrees(task, &command)? {
                return without(state, Some(unarmed(task, &command, &why)));
            }
            command
        }
        (command, Err((state, why))) => {
            return without(state, Some(unreadable(task, not, command.as_deref(), &why)));
        }
        (command, Ok(commands)) => match (command, commands.get(armed_id)) {
            (None, None) => return without(VerifyState::None, None),
            (Some(command), Some(known)) if command == *known => command,
            (_, Some(known)) => return without(VerifyState::Refused, Some(changed(task, known))),
            (Some(command), None) => {
                return without(VerifyState::NotRun, Some(later(task, &command)));
            }
        },
    };
    let (result, no_test) = checks::run_verify(&command, &view.project.root, limit);
    let state = match result.passed {
        _ if no_test => VerifyState::NoTest,
        true => VerifyState::Passed,
        false => VerifyState::Failed,
    };
    Ok(ProvedTask { check: Some(result), ..without_run(task, state, None) })
}

/// A task whose command did not run.
pub fn without_run(task: &Task, verify: VerifyState, words: Option<String>) -> ProvedTask {
    let (id, done) = (task.id.clone(), task.done);
    ProvedTask { id, done, verify, check: None, proof: None, unproved: None, words }
}

/// Ticks nothing; succeeds if the command passes.
pub fn verify(job: &TaskJob<'_>, id: &str, limit: Duration) -> Result<ExitCode> {
    let (view, list, text) = job.look()?;
    let task = job.feature.task(&list, id)?;
    let armed_id = view.matched(&list).lasting_id(task);
    let mut proved = carry_out(&view, (task, armed_id), &text, limit, "proved")?;
    let is_fine = matches!(proved.verify, VerifyState::None | VerifyState::Passed);
    let words = match (&proved.check, proved.words.take()) {
        (Some(check), _) if is_fine => {
            format!("{} passes: `{}`", printable(&task.id), text::line(&check.run))
        }
        (Some(check), _) => failure(check),
        (None, Some(words)) => words,
        (None, None) => {
            format!("{} has no Verify command in backticks: check it by reading.", task.id)
        }
    };
    match job.form {
        Form::Words => outln!("{words}"),
        Form::Json => {
            let proved = ProvedTask { words: Some(words), ..proved };
            dataln!("{}", forms::line(&job.proved(vec![proved]))?);
        }
    }
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the proof of a task: it may be ticked, with a remark on a command that did not run, or not, with the reason.
pub fn prove(
    view: &FeatureView<'_>,
    (task, armed_id): (&Task, &str),
    text: &[u8],
    limit: Duration,
) -> Result<ProvedTask> {
    let proved = carry_out(view, (task, armed_id), text, limit, "ticked")?;
    let has_failed = matches!(proved.verify, VerifyState::NoTest | VerifyState::Failed);
    let refusal = proved.check.as_ref().filter(|_| has_failed).map(|check| refusal(task, check));
    let done = !has_failed && proved.verify != VerifyState::Refused;
    Ok(ProvedTask { done, words: refusal.or(proved.words.clone()), ..proved })
}

fn later(task: &Task, command: &str) -> String {
    format!(
        "The Verify command of {} is none of those that were armed, and was not run: run it yourself: `{}`",
        printable(&task.id),
        text::line(command)
    )
}

/// A person at the terminal allows a command that nobody armed. No question is asked in an agent's session, or where no
/// person can see and answer it.
fn person_agrees(task: &Task, command: &str) -> Result<bool> {
    if !can_be_asked() {
        return Ok(false);
    }
    errln!("No person armed the Verify command of {}:\n  {}", task.id, pinned::indented(command));
    confirm("Run it in this project?")
}

fn unarmed(task: &Task, command: &str, why: &str) -> String {
    let (id, why, command) = (&task.id, text::line(why), text::line(command));
    format!("The Verify command of {id} is not run here, for {why}: run it yourself: `{command}`")
}

/// Words about a task whose armed Verify command is unknown: the task may have none.
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

/// Says that the task does not count, whatever its box says.
pub fn refused_as(task: &Task) -> &'static str {
    if task.done { "is ticked, and not proved" } else { "is not ticked" }
}

fn refusal(task: &Task, result: &CheckResult) -> String {
    let (id, what, why) = (&task.id, refused_as(task), failure(result));
    format!("{id} {what}: {why}\nFix it and call done again, or: spool task fail {id} \"why\"")
}

fn failure(result: &CheckResult) -> String {
    let tail = if result.tail.is_empty() { "(it printed nothing)" } else { &result.tail };
    format!("`{}` failed: {}\n{}", text::line(&result.run), result.outcome, text::block(tail))
}
