//! The Verify command of a task: permission, run, and words about the result.

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
use crate::forms;
use crate::forms::task::{ProvedTask, VerifyState};
use crate::runner::options::Form;
use crate::session::pinned;
use crate::session::task_log::{ArmedVerify, no_task};
use crate::text;

enum Verified {
    /// The task has no command.
    Without,
    /// The command is none of those that were armed, or nobody armed it and no person at the terminal allowed it: the reason.
    NotRun(String),
    /// The command may not run: the reason.
    Refused(String),
    Ran(CheckResult),
    /// The command ended with code 0 and ran no test, which is no pass.
    RanNothing(CheckResult),
}

/// Runs the command if it may run. `not` ends a sentence: the task is not …
fn carry_out(
    task: &Task,
    verify: ArmedVerify,
    root: &Path,
    limit: Duration,
    not: &str,
) -> Result<Verified> {
    let command = match verify {
        ArmedVerify::None => return Ok(Verified::Without),
        ArmedVerify::New(command) => return Ok(Verified::NotRun(later(task, &command))),
        ArmedVerify::Changed(known) => return Ok(Verified::Refused(changed(task, &known))),
        ArmedVerify::Unreadable(command, why) => {
            return Ok(Verified::Refused(unreadable(task, not, command.as_deref(), &why)));
        }
        ArmedVerify::Unarmed(command, why) if !person_agrees(task, &command)? => {
            return Ok(Verified::NotRun(unarmed(task, &command, &why)));
        }
        ArmedVerify::Run(command) | ArmedVerify::Unarmed(command, _) => command,
    };
    let (result, no_test) = checks::run_verify(&command, root, limit);
    Ok(if no_test { Verified::RanNothing(result) } else { Verified::Ran(result) })
}

/// Ticks nothing; succeeds if the command passes.
pub fn verify(job: &TaskJob<'_>, id: &str, limit: Duration) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    let task = list.find(id).ok_or_else(|| no_task(job.feature, &list, id))?;
    let about = printable(&task.id);
    let armed = job.armed_verify(task, job.matched(&list).lasting_id(task), &text);
    let verified = carry_out(task, armed, &job.project.root, limit, "proved")?;
    let words = match &verified {
        Verified::Without => {
            format!("{} has no Verify command in backticks: check it by reading.", task.id)
        }
        Verified::Ran(result) if result.passed => {
            format!("{about} passes: `{}`", text::line(&result.run))
        }
        Verified::NotRun(words) | Verified::Refused(words) => words.clone(),
        Verified::RanNothing(result) | Verified::Ran(result) => failure(result),
    };
    match job.form {
        Form::Words => outln!("{words}"),
        Form::Json => {
            let proved = verified.proved(task, task.done, Some(words));
            dataln!("{}", forms::line(&job.proved(vec![proved]))?);
        }
    }
    let is_fine = matches!(verified.state(), VerifyState::None | VerifyState::Passed);
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Verified {
    fn state(&self) -> VerifyState {
        match self {
            Self::Without => VerifyState::None,
            Self::NotRun(_) => VerifyState::NotRun,
            Self::Refused(_) => VerifyState::Refused,
            Self::Ran(result) if result.passed => VerifyState::Passed,
            Self::Ran(_) => VerifyState::Failed,
            Self::RanNothing(_) => VerifyState::NoTest,
        }
    }

    fn proved(&self, task: &Task, done: bool, words: Option<String>) -> ProvedTask {
        let check = match self {
            Self::Ran(result) | Self::RanNothing(result) => Some(result.clone()),
            _ => None,
        };
        let (id, verify) = (task.id.clone(), self.state());
        ProvedTask { id, done, verify, check, proof: None, unproved: None, words }
    }
}

/// Runs the proof of a task: it may be ticked, with a remark on a command that did not run, or not, with the reason.
pub fn prove(task: &Task, verify: ArmedVerify, root: &Path, limit: Duration) -> Result<ProvedTask> {
    let verified = carry_out(task, verify, root, limit, "ticked")?;
    let (done, words) = match &verified {
        Verified::Without => (true, None),
        Verified::Ran(result) if result.passed => (true, None),
        Verified::NotRun(words) => (true, Some(words.clone())),
        Verified::Refused(words) => (false, Some(words.clone())),
        Verified::RanNothing(result) | Verified::Ran(result) => {
            (false, Some(refusal(task, result)))
        }
    };
    Ok(verified.proved(task, done, words))
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

fn refusal(task: &Task, result: &CheckResult) -> String {
    let (id, why) = (&task.id, failure(result));
    format!(
        "{id} is not ticked: {why}\nFix it and call done again, or: spool task fail {id} \"why\""
    )
}

fn failure(result: &CheckResult) -> String {
    let tail = if result.tail.is_empty() { "(it printed nothing)" } else { &result.tail };
    format!("`{}` failed: {}\n{}", text::line(&result.run), result.outcome, text::block(tail))
}
