//! Reporting: a task is done, failed or blocked, or there is one more.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use super::job::{TaskJob, for_agent};
use super::verify::{Proved, prove};
use crate::engine::TerminalReason;
use crate::feature::STATE;
use crate::feature::project::printable;
use crate::session::task_log::{Books, Done, Failed, Proof, no_task, over};

/// Ticks the tasks whose Verify command passes, and prints what to do next; a failure when one is not ticked.
pub fn done(job: &TaskJob<'_>, ids: &[String], limit: Duration) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    let found = |id: &String| list.find(id).ok_or_else(|| no_task(job.feature, &list, id));
    let tasks = ids.iter().map(found).collect::<Result<Vec<_>, _>>()?;
    let mut refused = false;
    for task in tasks {
        // The command runs while the task log is not locked: it may take long, and others write meanwhile.
        let proof = if task.done { Proof::None } else { job.proof(task, &text) };
        let remark = match prove(task, proof, &job.project.root, limit)? {
            Proved::With(remark) => remark,
            Proved::Not(words) => {
                outln!("{words}");
                refused = true;
                continue;
            }
        };
        let mut books = job.open()?;
        let already = match books.done(&task.id)? {
            Done::Now => "",
            Done::Before => " already",
        };
        outln!("{} is done{already}.{remark}{}", task.id, left_alone(&books));
    }
    if refused {
        return Ok(ExitCode::FAILURE);
    }
    outln!("{}", job.what_next()?);
    Ok(ExitCode::SUCCESS)
}

/// Counts a failed attempt, and prints what to do next.
pub fn fail(job: &TaskJob<'_>, id: &str, why: &str) -> Result<ExitCode> {
    let mut books = job.open()?;
    let failed = books.fail(id, why)?;
    let note = left_alone(&books);
    drop(books);
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
    outln!("{text}");
    Ok(ExitCode::SUCCESS)
}

/// Ends the loop because a person is needed.
pub fn block(job: &TaskJob<'_>, need: &str) -> Result<ExitCode> {
    job.open()?.block(need)?;
    let reason = over(job.project, job.feature).unwrap_or_default();
    outln!(
        "Noted, the loop has ended ({reason}).{}",
        for_agent(" End your turn now: say what the person must do and what is done so far.")
    );
    Ok(ExitCode::SUCCESS)
}

/// Puts a new task after another one, and prints its id.
pub fn add(job: &TaskJob<'_>, after: &str, what: &str) -> Result<ExitCode> {
    let (id, done) = job.open()?.add(after, what)?;
    let id = printable(&id);
    match done {
        Done::Now => outln!("Added {id} after {after}. {}", job.what_next()?),
        Done::Before => {
            outln!("{id} was added already after {after}. {}", job.what_next()?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Notes that an extension hook of spec-kit was carried out.
pub fn hook(job: &TaskJob<'_>, name: &str) -> Result<ExitCode> {
    let said = match job.open()?.hook(name)? {
        Done::Now => "Noted.",
        Done::Before => "Noted before.",
    };
    outln!("{said} {}", job.what_next()?);
    Ok(ExitCode::SUCCESS)
}

/// A sentence on a state file that nobody can read; it is not overwritten.
fn left_alone(books: &Books<'_>) -> String {
    books.unreadable_state().map_or_else(String::new, |why| {
        format!(" {STATE} cannot be read and is left as it is: {}.", printable(why))
    })
}
