//! The feature of a command: its list, its task log, and the next step.

use std::cell::OnceCell;
use std::process::ExitCode;

use anyhow::Result;

use crate::cli::person::can_be_asked;
use crate::engine::matched::Matched;
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::task_list::TASKS;
use crate::exec::partner::in_run;
use crate::feature::project::{Feature, Project, printable};
use crate::feature::snapshot::{armed_list, limits_of};
use crate::feature::state::State;
use crate::forms;
use crate::forms::task::{NotedForm, ProvedForm, ProvedTask};
use crate::judge::TickJudge;
use crate::runner::options::Form;
use crate::session::counted::{asked, missing, not_proved};
use crate::session::pinned;
use crate::session::proof::{Unjudged, judge_now};
use crate::session::task_log::{ArmedVerify, Books, armed_verify, over, read_list};
use crate::store::loops::{Asked, Loops, Record};

/// The feature of a command.
pub struct TaskJob<'a> {
    pub project: &'a Project,
    pub feature: &'a Feature,
    pub session: Option<&'a str>,
    /// A person or a program reads the answer.
    pub form: Form,
    /// What ticks are judged by now, once somebody has asked.
    pub judge: OnceCell<Result<TickJudge, Unjudged>>,
}

impl TaskJob<'_> {
    /// The current list, for reading; others may write meanwhile.
    pub fn list(&self) -> Result<(TaskList, Vec<u8>)> {
        Ok(read_list(self.feature)?)
    }

    pub fn judge(&self) -> &Result<TickJudge, Unjudged> {
        self.judge.get_or_init(|| judge_now(self.project, self.feature))
    }

    /// Each task of a list with the armed one that it was; with itself where nothing is judged.
    pub fn matched<'b>(&'b self, list: &'b TaskList) -> Matched<'b> {
        let judge = self.judge().as_ref();
        judge.map_or_else(|_| Matched::of(list, list), |judge| judge.matched(list))
    }

    /// What counts of a list, and the ids of its ticked tasks that count as open.
    pub fn counted(&self, list: TaskList) -> (TaskList, Vec<String>) {
        let (record, asked) = self.of_loop();
        let mut list = asked.part_of(list, |at| armed_list(self.feature, at));
        let loop_of = (self.project, self.feature, record.as_ref());
        let open = list.open_again(&not_proved(self.judge().as_ref().ok(), loop_of, &list));
        (list, open)
    }

    /// Open tasks of the loop that have left the whole list.
    pub fn missing(&self, whole: &TaskList) -> Vec<String> {
        let Ok(judge) = self.judge() else { return Vec::new() };
        missing(judge, whole, &[], Some(&self.of_loop().1))
    }

    /// The record of the feature's session, and what was asked of the loop.
    fn of_loop(&self) -> (Option<Record>, Asked) {
        let root = &self.project.root;
        let standing = pinned::standing_of_feature(root, &self.feature.name);
        let record = Loops::of(root).of_feature(&self.feature.name);
        let asked = asked(root, &standing, record.as_ref());
        (record, asked)
    }

    /// `armed_id` is the task's id at arming.
    pub fn armed_verify(&self, task: &Task, armed_id: &str, text: &[u8]) -> ArmedVerify {
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
        let (list, _) = self.counted(list);
        let next = list.next();
        if next.is_empty() {
            let missing = self.list().map(|(whole, _)| self.missing(&whole)).unwrap_or_default();
            return nothing_open(&list, &missing);
        }
        let left = list.tasks.len() - list.done();
        let next = shortened(next.iter().map(|task| task.id.as_str()));
        format!("{left} of {} open, next {next}: spool task next", list.tasks.len())
    }

    pub fn noted(&self, words: String) -> NotedForm {
        NotedForm {
            feature: self.feature.name.clone(),
            reason: over(self.project, self.feature),
            words,
            ..NotedForm::default()
        }
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
pub fn nothing_open(list: &TaskList, missing: &[String]) -> String {
    if !missing.is_empty() && !list.tasks.is_empty() {
        return gone(missing);
    }
    if list.tasks.is_empty() {
        return format!("{TASKS} holds no task. An empty list is not done: restore it.");
    }
    let next = for_agent(
        " Look once more that nothing is left, then end with ALL_TASKS_COMPLETE on a line of its own.",
    );
    format!("All {} tasks are done.{next}", list.tasks.len())
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
