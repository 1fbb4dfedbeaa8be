//! The feature that an entry is about: its list, its task log, and what comes next.

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

/// The feature that a command is about.
pub struct TaskJob<'a> {
    pub project: &'a Project,
    pub feature: &'a Feature,
    pub session: Option<&'a str>,
    /// Whether a person or a program reads the answer.
    pub form: Form,
}

impl TaskJob<'_> {
    /// Returns the list as it is, for reading; others may write it meanwhile.
    pub fn list(&self) -> Result<(TaskList, Vec<u8>)> {
        Ok(read_list(self.feature)?)
    }

    /// Returns the part of the list that the loop is about, with the bytes of the whole.
    pub fn part(&self) -> Result<(TaskList, Vec<u8>)> {
        let (list, text) = self.list()?;
        Ok((self.asked().part_of(list), text))
    }

    /// Returns what the loop is about, besides the feature.
    pub fn asked(&self) -> Asked {
        part::asked(self.project, self.feature).unwrap_or_default()
    }

    /// Returns whether and how the Verify command of a task may be run that had this id when the loop was armed.
    pub fn armed_verify(&self, task: &Task, armed_id: Option<&str>, text: &[u8]) -> ArmedVerify {
        armed_verify(self.project, self.feature, (task, armed_id), text)
    }

    /// Returns the task log, locked; an error when it is not free within 20 s.
    pub fn open(&self) -> Result<Books<'_>> {
        Ok(Books::open(self.project, self.feature, self.session)?)
    }

    /// Returns one short paragraph: the next task, or the end.
    pub fn what_next(&self) -> Result<String> {
        Ok(self.what_next_in(self.list()?.0))
    }

    /// Returns the same by a list that was read just now.
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

    /// Returns what was noted, in words, with nothing else yet.
    pub fn noted(&self, words: String) -> NotedForm {
        NotedForm {
            feature: self.feature.name.clone(),
            reason: over(self.project, self.feature),
            words,
            ..NotedForm::default()
        }
    }

    /// Returns what to do when no box is open: a list without tasks is not done, and neither is a box that nobody has judged.
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

    /// Returns the first ids of tasks that were ticked by hand and that nobody has judged yet, empty for none.
    pub fn not_proved(&self, list: &TaskList) -> String {
        let judge = standing(self.project, self.feature);
        let by_hand = judge.map(|judge| judge.not_proved(list)).unwrap_or_default();
        let ids: Vec<_> = by_hand.iter().map(String::as_str).collect();
        printable(&shortened(&ids))
    }

    /// Prints what was noted, and returns success.
    pub fn answer(&self, noted: &NotedForm) -> Result<ExitCode> {
        match self.form {
            Form::Words => outln!("{}", noted.words),
            Form::Json => dataln!("{}", forms::line(noted)?),
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Returns what came of each task that was named.
    pub fn proved(&self, tasks: Vec<ProvedTask>) -> ProvedForm {
        ProvedForm { feature: self.feature.name.clone(), tasks }
    }

    /// Returns who does the next tasks, and how to report.
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

/// Returns the name of the agent that a task is for.
pub fn agent(task: &Task) -> &'static str {
    if task.verify { "qa-engineer" } else { "spec-executor" }
}

/// Returns words that only an agent needs, empty where a person types at a terminal.
pub fn for_agent(words: &str) -> &str {
    if can_be_asked() { "" } else { words }
}

/// The first ids of a group, so that the line stays a line.
fn shortened(ids: &[&str]) -> String {
    let shown = ids.iter().take(8).copied().collect::<Vec<_>>().join(" ");
    if ids.len() > 8 { format!("{shown} …") } else { shown }
}
