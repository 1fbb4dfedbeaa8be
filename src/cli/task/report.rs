//! Reporting: a task is done, failed or blocked, or there is one more.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use super::job::{TaskJob, for_agent};
use super::verify::prove;
use crate::engine::TerminalReason;
use crate::feature::STATE;
use crate::feature::project::printable;
use crate::forms;
use crate::forms::task::{NotedForm, ProvedTask};
use crate::runner::options::Form;
use crate::session::task_log::{ArmedVerify, Books, Done, Failed, Tick, no_task, over};
use crate::world::Stopwatch;

/// Ticks the tasks whose Verify command passes, and prints what to do next; a failure when one is not ticked.
pub fn done(job: &TaskJob<'_>, ids: &[String], limit: Duration) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    let found = |id: &String| list.find(id).ok_or_else(|| no_task(job.feature, &list, id));
    let tasks = ids.iter().map(found).collect::<Result<Vec<_>, _>>()?;
    let mut answers: Vec<ProvedTask> = Vec::new();
    for task in tasks {
        // The command runs while the task log is not locked: it may take long, and others write meanwhile.
        let verify = if task.done { ArmedVerify::None } else { job.armed_verify(task, &text) };
        let clock = Stopwatch::start();
        let mut proved = prove(task, verify, &job.project.root, limit)?;
        let took = clock.elapsed();
        if proved.done {
            let mut books = job.open()?;
            let attempt = books.attempts(task).0.saturating_add(1);
            let done = books.done(&task.id)?;
            let already = match done {
                Done::Now => "",
                Done::Before => " already",
            };
            let together = answers.iter().filter(|it| it.done).map(|it| it.id.clone()).collect();
            let verify = proved.check.as_ref().map(|check| check.lasted(took));
            let tick = Tick { verify, attempt, together };
            let kept = books.keep_receipt(&task.id, done, &tick);
            let left = left_alone(&books) + &without_receipt(kept);
            let remark = proved.words.map_or_else(String::new, |remark| format!(" {remark}"));
            proved.words = Some(format!("{} is done{already}.{remark}{left}", task.id));
        }
        if job.form == Form::Words {
            outln!("{}", proved.words.as_deref().unwrap_or_default());
        }
        answers.push(proved);
    }
    let refused = answers.iter().any(|answer| !answer.done);
    if job.form == Form::Json {
        dataln!("{}", forms::line(&job.proved(answers))?);
    } else if !refused {
        outln!("{}", job.what_next()?);
    }
    Ok(if refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Counts a failed attempt, and prints what to do next.
pub fn fail(job: &TaskJob<'_>, id: &str, why: &str) -> Result<ExitCode> {
    let mut books = job.open()?;
    let failed = books.fail(id, why)?;
    let note = left_alone(&books);
    drop(books);
    let (used, limit, repair) = match &failed {
        Failed::Again { used, limit } => (Some(*used), Some(*limit), None),
        Failed::Repair { id, used, limit } => (Some(*used), Some(*limit), Some(id.clone())),
        Failed::Ended(TerminalReason::TaskFailed { used, limit, .. }) => {
            (Some(*used), Some(*limit), None)
        }
        Failed::Ended(_) | Failed::NotCounted => (None, None, None),
    };
    let text = match (failed, over(job.project, job.feature)) {
        (Failed::Ended(TerminalReason::TaskFailed { limit, .. }), _) => format!(
            "Counted: {id} used up its {limit} attempts, the loop has ended (task_failed).{}",
            for_agent(" End your turn now with what was tried and what a person must do.")
        ),
        (Failed::Ended(reason), _) => {
            format!("The loop has ended ({}).{}", reason.name(), for_agent(" End your turn."))
        }
        (_, Some(reason)) => {
            format!("Noted. The loop has ended ({reason}).{}", for_agent(" End your turn."))
        }
        (Failed::Again { used, limit }, None) => format!(
            "Counted: {id} failed {used} of {limit} times. Try it again in another way: spool task show {id}"
        ),
        (Failed::Repair { id: repair, used, limit }, None) => format!(
            "Counted: {id} failed {used} of {limit} times. Do its repair {repair} first, then {id} again: spool task next"
        ),
        (Failed::NotCounted, None) => format!(
            "Noted, not counted: there is no state file that can be read, so no loop is armed.{note} Try {id} again in another way, or say what a person must do."
        ),
    };
    let noted = NotedForm { task: Some(id.to_owned()), used, limit, repair, ..job.noted(text) };
    job.answer(&noted)
}

/// Ends the loop because a person is needed.
pub fn block(job: &TaskJob<'_>, need: &str) -> Result<ExitCode> {
    job.open()?.block(need)?;
    let reason = over(job.project, job.feature).unwrap_or_default();
    let next =
        for_agent(" End your turn now: say what the person must do and what is done so far.");
    job.answer(&job.noted(format!("Noted, the loop has ended ({reason}).{next}")))
}

/// Puts a new task after another one, and prints its id.
pub fn add(job: &TaskJob<'_>, after: &str, what: &str) -> Result<ExitCode> {
    let (id, done) = job.open()?.add(after, what)?;
    let id = printable(&id);
    let next = job.what_next()?;
    let words = match done {
        Done::Now => format!("Added {id} after {after}. {next}"),
        Done::Before => format!("{id} was added already after {after}. {next}"),
    };
    let already = done == Done::Before;
    job.answer(&NotedForm { task: Some(id), already, ..job.noted(words) })
}

/// Notes that an extension hook of spec-kit was carried out.
pub fn hook(job: &TaskJob<'_>, name: &str) -> Result<ExitCode> {
    let done = job.open()?.hook(name)?;
    let said = match done {
        Done::Now => "Noted.",
        Done::Before => "Noted before.",
    };
    let words = format!("{said} {}", job.what_next()?);
    job.answer(&NotedForm { already: done == Done::Before, ..job.noted(words) })
}

/// A sentence on a receipt that could not be kept: the task is done all the same.
fn without_receipt(kept: io::Result<()>) -> String {
    kept.err().map_or_else(String::new, |error| {
        format!(" Its receipt could not be kept: {}.", printable(&error.to_string()))
    })
}

/// A sentence on a state file that nobody can read; it is not overwritten.
fn left_alone(books: &Books<'_>) -> String {
    books.unreadable_state().map_or_else(String::new, |why| {
        format!(" {STATE} cannot be read and is left as it is: {}.", printable(why))
    })
}
