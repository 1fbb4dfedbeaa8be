//! Shows tasks: the next ones, one task, or the list.

use std::iter::successors;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

use super::job::{TaskJob, agent, gone, nothing_open, shortened};
use crate::engine::tasks::{Task, TaskList};
use crate::feature::lists::others_in_words;
use crate::feature::project::printable;
use crate::feature::state::State;
use crate::forms;
use crate::forms::plain::words;
use crate::forms::receipt::ReceiptForm;
use crate::forms::task::{NextForm, NextStatus, TaskForm, TaskListForm, TaskShowForm};
use crate::runner::options::Form;
use crate::session::view::receipts_of;
use crate::text;
use anyhow::Result;

/// Lines of the longest list that is shown whole: a model reads it.
pub const LINES: usize = 60;
/// Characters of a title in a list.
const TITLE: usize = 100;

/// Prints the next task, or the parallel group, with all that belongs to it.
pub fn next(job: &TaskJob<'_>) -> Result<ExitCode> {
    let (view, whole, text) = job.look()?;
    let (list, by_hand) = view.counted(whole);
    // The program ends with this answer: freeing thousands of tasks would only take time.
    let list = ManuallyDrop::new(list);
    let next = list.next();
    let missing = if next.is_empty() { view.missing_now() } else { Vec::new() };
    if view.ended.is_none() {
        view.begin_tasks();
    }
    if job.form == Form::Json {
        let state = State::read_at_once(job.feature).unwrap_or_default();
        let status = match (&view.ended, next.len()) {
            (Some(_), _) => NextStatus::Over,
            (None, 0) if list.tasks.is_empty() || !missing.is_empty() => NextStatus::Missing,
            (None, 0) => NextStatus::Done,
            (None, 1) => NextStatus::Task,
            (None, _) => NextStatus::Group,
        };
        let form = NextForm {
            feature: job.feature.name.clone(),
            status,
            reason: view.ended.clone(),
            tasks: next.iter().map(|task| described(task, &list, &state, &text)).collect(),
            done: (list.done() as u64).into(),
            total: ((list.tasks.len() + missing.len()) as u64).into(),
        };
        dataln!("{}", forms::line(&form)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(reason) = view.over_for_agent() {
        outln!("The loop of {} has ended ({reason}). End your turn.", job.feature.name);
        return Ok(ExitCode::SUCCESS);
    }
    if next.is_empty() {
        outln!("{}", nothing_open(&list, &missing, job.feature));
        return Ok(ExitCode::SUCCESS);
    }
    for task in &next {
        if let Some(parent) = list.parent_of(task) {
            outln!("Part of {} {}:", printable(&parent.id), printable(&parent.title));
        }
        outln!("{}\n", text::block(&list.block_text(task, &text)));
    }
    outln!("{}", view.instruction(&next, &list));
    let by_hand = printable(&shortened(by_hand.iter().map(String::as_str)));
    if !by_hand.is_empty() {
        let judges = "`spool task done ID` judges one now";
        outln!("Ticked by hand and not proved yet: {by_hand}. {judges}.");
    }
    Ok(ExitCode::SUCCESS)
}

pub fn show(job: &TaskJob<'_>, id: &str) -> Result<ExitCode> {
    let (view, list, text) = job.look()?;
    let task = job.feature.task(&list, id)?;
    let log = receipts_of(job.project, job.feature).map(|log| log.all()).unwrap_or_default();
    let matched = view.matched(&list);
    let id = matched.lasting_id(task);
    let receipts: Vec<_> =
        log.iter().filter(|receipt| receipt.task == id).map(ReceiptForm::from).collect();
    if job.form == Form::Json {
        let state = State::read_at_once(job.feature).unwrap_or_default();
        let done = task.done && !view.counted(list.clone()).1.contains(&task.id);
        let task = TaskForm { done, ..described(task, &list, &state, &text) };
        let feature = job.feature.name.clone();
        let form = TaskShowForm { feature, task, receipts };
        dataln!("{}", forms::line(&form)?);
        return Ok(ExitCode::SUCCESS);
    }
    outln!("{}", text::block(&list.block_text(task, &text)));
    for receipt in &receipts {
        outln!("\n{}", text::line(&receipt.words()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows all tasks if they fit into `most` lines, else the first open ones; a program gets all.
pub fn list(job: &TaskJob<'_>, most: usize) -> Result<ExitCode> {
    let (view, mut list, text) = job.look()?;
    let (part, _) = view.counted(list.clone());
    let missing = view.missing(&list);
    let total = part.tasks.len() + missing.len();
    let is_its =
        |task: &Task| part.tasks.binary_search_by_key(&task.mark_at, |its| its.mark_at).is_ok();
    list.tasks.retain(|task| !is_its(task));
    let left = list.tasks.len();
    list.tasks.extend_from_slice(&part.tasks);
    list.tasks.sort_by_key(|task| task.mark_at);
    if job.form == Form::Json {
        let state = State::read_at_once(job.feature).unwrap_or_default();
        let all = list.tasks.iter();
        let form = TaskListForm {
            feature: job.feature.name.clone(),
            done: (part.done() as u64).into(),
            total: (total as u64).into(),
            tasks: all.map(|task| described(task, &list, &state, &text)).collect(),
            asides: part.asides(),
        };
        dataln!("{}", forms::line(&form)?);
        return Ok(ExitCode::SUCCESS);
    }
    let whole = list.tasks.len() <= most;
    let shown = list.tasks.iter().filter(|task| whole || !task.done).take(most);
    for task in shown {
        let mark = if task.done { 'x' } else { task.mark };
        let parents = successors(list.parent_of(task), |parent| list.parent_of(parent));
        outln!(
            "{}[{}] {} {}{}",
            "  ".repeat(parents.count()),
            text::line(&mark.to_string()),
            printable(&task.id),
            text::title(&task.title, TITLE),
            if is_its(task) { "" } else { " (not of this loop)" }
        );
    }
    let others = others_in_words(&job.feature.folder);
    for aside in part.asides_in_words().into_iter().chain(others) {
        outln!("{}", text::line(&aside));
    }
    let more = if whole { "" } else { "; `spool task list --all` shows every task" };
    let left = if left == 0 { String::new() } else { format!("; the loop leaves out {left}") };
    if !missing.is_empty() {
        outln!("{}", gone(&missing));
    }
    outln!("{} of {total} done{left}{more}", part.done());
    Ok(ExitCode::SUCCESS)
}

fn described(task: &Task, list: &TaskList, state: &State, text: &[u8]) -> TaskForm {
    TaskForm {
        id: task.id.clone(),
        title: task.title.to_string(),
        done: task.done,
        parallel: task.parallel,
        agent: agent(task),
        fixes: task.fixes.clone(),
        phase: words(&task.phase),
        line: (task.line as u64).into(),
        failures: state.failures(&task.id),
        verify: task.verify_command(text),
        block: list.block_text(task, text),
    }
}
