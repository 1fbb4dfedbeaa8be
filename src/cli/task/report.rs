//! Reports: a task failed or is blocked, or there is a new one.

use std::process::ExitCode;

use anyhow::Result;

use super::job::{TaskJob, for_agent};
use crate::cli::block::need_in_session;
use crate::feature::STATE;
use crate::feature::project::printable;
use crate::forms::task::NotedForm;
use crate::session::task_log::{Books, Failed};

/// Counts a failed attempt, and prints what to do next.
pub fn fail(job: &TaskJob<'_>, id: &str, why: &str) -> Result<ExitCode> {
    let mut books = job.open()?;
    let Failed { counted, repair, ended } = books.fail(id, why)?;
    let note = left_alone(&books);
    drop(books);
    let now = job.view();
    let text = match (counted, &repair, &now.ended) {
        (Some((_, limit)), ..) if ended.is_some() => format!(
            "Counted: {id} used up its {limit} attempts, the loop has ended (task_failed).{}",
            for_agent(" End your turn now with what was tried and what a person must do.")
        ),
        (_, _, Some(reason)) => {
            format!("Noted. The loop has ended ({reason}).{}", for_agent(" End your turn."))
        }
        (Some((used, limit)), None, None) => format!(
            "Counted: {id} failed {used} of {limit} times. Try it again in another way: spool task show {id}"
        ),
        (Some((used, limit)), Some(repair), None) => format!(
            "Counted: {id} failed {used} of {limit} times. Do its repair {repair} first, then {id} again: spool task next"
        ),
        (None, ..) => format!(
            "Noted, not counted: only the loop of a session with a readable state file counts attempts.{note} Try {id} again in another way, or say what a person must do."
        ),
    };
    let (used, limit) = counted.unzip();
    let noted = NotedForm { task: Some(id.to_owned()), used, limit, repair, ..now.noted(text) };
    job.answer(&noted)
}

/// Ends the loop because a person is needed.
pub fn block(job: &TaskJob<'_>, need: &str) -> Result<ExitCode> {
    let need = need_in_session(need)?;
    job.open()?.block(&need)?;
    let now = job.view();
    let reason = now.ended.clone().unwrap_or_default();
    let next =
        for_agent(" End your turn now: say what the person must do and what is done so far.");
    job.answer(&now.noted(format!("Noted, the loop has ended ({reason}).{next}")))
}

pub fn add(job: &TaskJob<'_>, after: &str, what: &str) -> Result<ExitCode> {
    let (id, already) = job.open()?.add(after, what)?;
    let (id, (now, list, _)) = (printable(&id), job.look()?);
    let added = if already { format!("{id} was added already") } else { format!("Added {id}") };
    let words = format!("{added} after {after}. {}", now.what_next(list));
    job.answer(&NotedForm { task: Some(id), already, ..now.noted(words) })
}

/// Notes that an extension hook of spec-kit was carried out.
pub fn hook(job: &TaskJob<'_>, name: &str) -> Result<ExitCode> {
    let already = job.open()?.hook(name)?;
    let ((now, list, _), before) = (job.look()?, if already { " before" } else { "" });
    let words = format!("Noted{before}. {}", now.what_next(list));
    job.answer(&NotedForm { already, ..now.noted(words) })
}

/// A sentence about an unreadable state file, which is not overwritten; empty for a readable one.
pub fn left_alone(books: &Books<'_>) -> String {
    books.unreadable_state().map_or_else(String::new, |why| {
        format!(" {STATE} cannot be read and is left as it is: {}.", printable(why))
    })
}
