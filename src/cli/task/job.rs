//! The feature of a command: its list, its task log, and the next step.

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::person::can_be_asked;
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::task_list::TASKS;
use crate::exec::partner::in_run;
use crate::feature::lists::others_in_words;
use crate::feature::project::{Feature, Project, printable};
use crate::feature::snapshot::limits_of;
use crate::feature::state::State;
use crate::forms;
use crate::forms::task::{NotedForm, ProvedForm, ProvedTask};
use crate::runner::options::Form;
use crate::session::task_log::{Books, read_list};
use crate::session::view::FeatureView;
use crate::store::names::EndName;

/// The feature of a command.
pub struct TaskJob<'a> {
    pub project: &'a Project,
    pub feature: &'a Feature,
    pub session: Option<&'a str>,
    /// A person or a program reads the answer.
    pub form: Form,
}

impl<'a> TaskJob<'a> {
    /// The feature's loop, its list and the text of that, as they are now: others may write meanwhile.
    pub fn look(&self) -> Result<(FeatureView<'a>, TaskList, Vec<u8>)> {
        let (list, text) = read_list(self.feature)?;
        Ok((self.view(), list, text))
    }

    /// The feature's loop as it is now.
    pub fn view(&self) -> FeatureView<'a> {
        FeatureView::of(self.project, self.feature)
    }

    /// Opens and locks the task log; an error after 20 s.
    pub fn open(&self) -> Result<Books<'_>> {
        Ok(Books::open(self.project, self.feature, self.session)?)
    }

    pub fn answer(&self, noted: &NotedForm) -> Result<ExitCode> {
        match self.form {
            Form::Words => outln!("{}", noted.words),
            Form::Json => dataln!("{}", forms::line(noted)?),
        }
        Ok(ExitCode::SUCCESS)
    }

    pub fn proved(&self, tasks: Vec<ProvedTask>) -> ProvedForm {
        ProvedForm { feature: self.feature.name.clone(), tasks }
    }
}

impl FeatureView<'_> {
    /// Why the loop ended, for its agent, which has to stop. A person may continue with the list.
    pub fn over_for_agent(&self) -> Option<&EndName> {
        self.ended.as_ref().filter(|_| !can_be_asked())
    }

    /// One short paragraph about a list that was just read: the next task, or the end.
    pub fn what_next(&self, list: TaskList) -> String {
        if let Some(reason) = self.over_for_agent() {
            return format!("The loop has ended ({reason}). End your turn.");
        }
        let (list, _) = self.counted(list);
        let next = list.next();
        if next.is_empty() {
            return nothing_open(&list, &self.missing_now(), self.feature);
        }
        let left = list.tasks.len() - list.done();
        let next = shortened(next.iter().map(|task| task.id.as_str()));
        format!("{left} of {} open, next {next}: spool task next", list.tasks.len())
    }

    /// Open tasks of the loop that have left the list, which is read again.
    pub fn missing_now(&self) -> Vec<String> {
        read_list(self.feature).map(|(whole, _)| self.missing(&whole)).unwrap_or_default()
    }

    pub fn noted(&self, words: String) -> NotedForm {
        let (feature, reason) = (self.feature.name.clone(), self.ended.clone());
        NotedForm { feature, reason, words, ..NotedForm::default() }
    }

    /// Names who does the next tasks, and how to report.
    pub fn instruction(&self, next: &[&Task], list: &TaskList) -> String {
        let left = list.tasks.len() - list.done();
        let ids: Vec<_> = next.iter().map(|task| task.id.as_str()).collect();
        let state = State::read_at_once(self.feature).unwrap_or_default();
        let attempt = next.first().map_or(1, |task| state.failures(&task.id) + 1);
        let limit = limits_of(&self.standing, &state).max_task_iterations;
        let who = if next.len() > 1 {
            let agents: Vec<_> =
                next.iter().map(|task| format!("{} {}", task.id, agent(task))).collect();
            format!("A parallel group, delegate it in one message: {}. ", agents.join(", "))
        } else {
            format!("Delegate it to {} (attempt {attempt} of {limit}). ", agent(next[0]))
        };
        // The other agent programs of `spool ralph` know no agents of the plugin.
        let who = if in_run() { "" } else { for_agent(&who) };
        format!(
            "{who}{left} of {} open.\nThen: spool task done {}   or: spool task fail ID \"why\"",
            list.tasks.len(),
            ids.join(" "),
        )
    }
}

/// The agent that a task is for.
pub fn agent(task: &Task) -> &'static str {
    if task.verify { "qa-engineer" } else { "spec-executor" }
}

/// Words that only an agent needs; empty where a person types at a terminal.
pub fn for_agent(words: &str) -> &str {
    if can_be_asked() { "" } else { words }
}

/// What to do when nothing is open. A list without tasks is not done, and neither is one that open tasks have left.
pub fn nothing_open(list: &TaskList, missing: &[String], feature: &Feature) -> String {
    if !missing.is_empty() && !list.tasks.is_empty() {
        return gone(missing);
    }
    if list.tasks.is_empty() {
        return format!("{TASKS} holds no task. An empty list is not done: restore it.");
    }
    let others = others_in_words(&feature.folder).map(|words| format!(" But {words}."));
    let others = others.unwrap_or_default();
    let next = for_agent(
        " Look once more that nothing is left, then end with ALL_TASKS_COMPLETE on a line of its own.",
    );
    match list.tasks.len() {
        1 => format!("The only task is done.{others}{next}"),
        all => format!("All {all} tasks are done.{others}{next}"),
    }
}

/// About open tasks that have left the list.
pub fn gone(missing: &[String]) -> String {
    let ids = printable(&shortened(missing.iter().map(String::as_str)));
    format!(
        "Open tasks have left {TASKS}: {ids}. They are still open: put them back, or run `spool task drop ID \"why\"`."
    )
}

/// The first ids, to keep the line short.
pub fn shortened<'a>(mut ids: impl Iterator<Item = &'a str>) -> String {
    let shown = ids.by_ref().take(8).collect::<Vec<_>>().join(" ");
    if ids.next().is_some() { shown + " …" } else { shown }
}
