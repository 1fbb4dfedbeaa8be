//! The feature of a command: its list, its task log, and the next step.

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::person::can_be_asked;
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::task_list::TASKS;
use crate::feature::project::{Feature, Project, printable};
use crate::feature::snapshot::limits_of;
use crate::feature::state::State;
use crate::forms;
use crate::forms::task::{NotedForm, ProvedForm, ProvedTask};
use crate::runner::options::Form;
use crate::session::part;
use crate::session::pinned;
use crate::session::proof::standing;
use crate::session::task_log::{ArmedVerify, Books, armed_verify, over, read_list};
use crate::store::loops::Asked;

/// The feature of a command.
pub struct TaskJob<'a> {
    pub project: &'a Project,
    pub feature: &'a Feature,
    pub session: Option<&'a str>,
    /// A person or a program reads the answer.
    pub form: Form,
}

impl TaskJob<'_> {
    /// The current list, for reading; others may write meanwhile.
    pub fn list(&self) -> Result<(TaskList, Vec<u8>)> {
        Ok(read_list(self.feature)?)
    }

    /// The loop's part of the list, and the bytes of the whole list.
    pub fn part(&self) -> Result<(TaskList, Vec<u8>)> {
        let (list, text) = self.list()?;
        Ok((self.asked().part_of(list), text))
    }

    pub fn asked(&self) -> Asked {
        part::asked(self.project, self.feature).unwrap_or_default()
    }

    /// `armed_id` is the task's id at arming.
    pub fn armed_verify(&self, task: &Task, armed_id: Option<&str>, text: &[u8]) -> ArmedVerify {
        armed_verify(self.project, self.feature, (task, armed_id), text)
    }

    /// Opens and locks the task log; an error after 20 s.
    pub fn open(&self) -> Result<Books<'_>> {
        Ok(Books::open(self.project, self.feature, self.session)?)
    }

    /// One short paragraph: the next task, or the end.
    pub fn what_next(&self) -> Result<String> {
        Ok(self.what_next_in(self.list()?.0))
    }

    /// The same for a list that was just read.
    pub fn what_next_in(&self, list: TaskList) -> String {
        if let Some(reason) = over(self.project, self.feature) {
            return format!("The loop has ended ({reason}).{}", for_agent(" End your turn."));
        }
        let list = self.asked().part_of(list);
        let next = list.next();
        if next.is_empty() {
            return self.nothing_open(&list);
        }
        let ids: Vec<_> = next.iter().map(|task| task.id.as_str()).collect();
        let left = list.tasks.len() - list.done();
        format!("{left} of {} open, next {}: spool task next", list.tasks.len(), shortened(&ids))
    }

    pub fn noted(&self, words: String) -> NotedForm {
        NotedForm {
            feature: self.feature.name.clone(),
            reason: over(self.project, self.feature),
            words,
            ..NotedForm::default()
        }
    }

    /// What to do when no box is open. A list without tasks is not done, and neither is a box that nobody has judged.
    pub fn nothing_open(&self, list: &TaskList) -> String {
        if list.tasks.is_empty() {
            return format!("{TASKS} holds no task. An empty list is not done: restore it.");
        }
        let all = list.tasks.len();
        let by_hand = self.not_proved(list);
        if !by_hand.is_empty() {
            return format!(
                "All {all} boxes are ticked, these by hand and not proved yet: {by_hand}\n\
                 `spool task done ID` judges one now. Without it they are judged when the agent stops."
            );
        }
        let next = for_agent(
            " Look once more that nothing is left, then end with ALL_TASKS_COMPLETE on a line of its own.",
        );
        format!("All {all} tasks are done.{next}")
    }

    /// The first ids of unjudged tasks ticked by hand; empty for none.
    pub fn not_proved(&self, list: &TaskList) -> String {
        let judge = standing(self.project, self.feature);
        let by_hand = judge.map(|judge| judge.not_proved(list)).unwrap_or_default();
        let ids: Vec<_> = by_hand.iter().map(String::as_str).collect();
        printable(&shortened(&ids))
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

    /// Names who does the next tasks, and how to report.
    pub fn instruction(&self, next: &[&Task], list: &TaskList) -> String {
        let left = list.tasks.len() - list.done();
        let ids: Vec<_> = next.iter().map(|task| task.id.as_str()).collect();
        let state = State::read_at_once(self.feature).unwrap_or_default();
        let attempt = next.first().map_or(1, |task| state.failures(&task.id) + 1);
        let standing = pinned::standing_of_feature(&self.project.root, &self.feature.name);
        let limit = limits_of(&standing, &state).max_task_iterations;
        let who = if next.len() > 1 {
            let agents: Vec<_> =
                next.iter().map(|task| format!("{} {}", task.id, agent(task))).collect();
            format!("A parallel group, delegate it in one message: {}. ", agents.join(", "))
        } else {
            format!("Delegate it to {} (attempt {attempt} of {limit}). ", agent(next[0]))
        };
        let who = for_agent(&who);
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

/// The first ids of a group, to keep the line short.
fn shortened(ids: &[&str]) -> String {
    let shown = ids.iter().take(8).copied().collect::<Vec<_>>().join(" ");
    if ids.len() > 8 { format!("{shown} …") } else { shown }
}
