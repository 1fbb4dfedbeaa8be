//! Showing tasks: what to do now, one task, or the list.

use std::mem::ManuallyDrop;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use super::job::{TaskJob, agent, for_agent, nothing_open};
use crate::engine::tasks::{Task, TaskList};
use crate::feature::project::printable;
use crate::feature::state::State;
use crate::session::task_log::{no_task, over};
use crate::text;

/// The longest list that is shown whole, in lines: a model reads it.
pub const LINES: usize = 60;
/// The longest title in a list, in characters.
const TITLE: usize = 100;

/// Prints the task to do now, or the parallel group, with all that belongs to it.
pub fn next(job: &TaskJob<'_>, as_json: bool) -> Result<ExitCode> {
    let (list, text) = job.part()?;
    // The program ends with this answer: thousands of tasks need not be given back one by one.
    let list = ManuallyDrop::new(list);
    let ended = over(job.project, job.feature);
    let next = list.next();
    if as_json {
        let state = State::read_at_once(job.feature).unwrap_or_default();
        let tasks: Vec<_> = next.iter().map(|task| described(task, &list, &state, &text)).collect();
        let status = match (&ended, tasks.len()) {
            (Some(_), _) => "over",
            (None, 0) => "done",
            (None, 1) => "task",
            (None, _) => "group",
        };
        let answer = json!({
            "status": status,
            "reason": ended,
            "tasks": tasks,
            "done": list.done(),
            "total": list.tasks.len(),
        });
        dataln!("{}", text::json(&answer.to_string()));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(reason) = ended {
        let next = for_agent(" End your turn.");
        outln!("The loop of {} has ended ({reason}).{next}", job.feature.name);
        return Ok(ExitCode::SUCCESS);
    }
    if next.is_empty() {
        outln!("{}", nothing_open(&list));
        return Ok(ExitCode::SUCCESS);
    }
    for task in &next {
        if let Some(parent) = list.parent_of(task) {
            outln!("Part of {} {}:", printable(&parent.id), printable(&parent.title));
        }
        outln!("{}\n", text::block(&list.block_text(task, &text)));
    }
    outln!("{}", job.instruction(&next, &list));
    Ok(ExitCode::SUCCESS)
}

/// Prints one task with all that belongs to it.
pub fn show(job: &TaskJob<'_>, id: &str) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    let task = list.find(id).ok_or_else(|| no_task(job.feature, &list, id))?;
    outln!("{}", text::block(&list.block_text(task, &text)));
    Ok(ExitCode::SUCCESS)
}

/// Prints all tasks as one JSON object.
pub fn list_as_json(job: &TaskJob<'_>) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    let state = State::read_at_once(job.feature).unwrap_or_default();
    let all = list.tasks.iter();
    let tasks: Vec<_> = all.map(|task| described(task, &list, &state, &text)).collect();
    let answer = json!({"feature": job.feature.name, "done": list.done(), "tasks": tasks});
    dataln!("{}", text::json(&answer.to_string()));
    Ok(ExitCode::SUCCESS)
}

/// Shows all tasks when they fit into `most` lines, otherwise the first open ones.
pub fn list(job: &TaskJob<'_>, most: usize) -> Result<ExitCode> {
    let (list, _) = job.list()?;
    let whole = list.tasks.len() <= most;
    let shown = list.tasks.iter().filter(|task| whole || !task.done).take(most);
    for task in shown {
        let mark = if task.done { 'x' } else { ' ' };
        outln!("[{mark}] {} {}", printable(&task.id), text::title(&task.title, TITLE));
    }
    let more = if whole { "" } else { "; `spool task list --all` shows every task" };
    outln!("{} of {} done{more}", list.done(), list.tasks.len());
    Ok(ExitCode::SUCCESS)
}

fn described(task: &Task, list: &TaskList, state: &State, text: &[u8]) -> Value {
    json!({
        "id": task.id,
        "title": task.title,
        "done": task.done,
        "parallel": task.parallel,
        "agent": agent(task),
        "fixes": task.fixes,
        "phase": &*task.phase,
        "line": task.line,
        "failures": state.failures(&task.id),
        "verify": task.verify_command(text),
        "block": list.block_text(task, text),
    })
}
