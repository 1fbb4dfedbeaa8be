//! `spool task … --json`.

use serde::{Serialize, Serializer};

use super::loops::CheckOutcome;
use super::plain::JsonNumber;
use super::receipt::ReceiptForm;
use crate::engine::CheckResult;
use crate::engine::aside::Aside;
use crate::engine::proof::{Proof, Unproved};
use crate::store::names::EndName;

/// What `spool task next --json` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NextForm {
    /// The feature.
    pub feature: String,
    /// What there is to do.
    pub status: NextStatus,
    /// The name of the end of the loop; null while it lives.
    pub reason: Option<EndName>,
    /// The tasks to do now; several are a group to be done side by side.
    pub tasks: Vec<TaskForm>,
    /// Finished tasks.
    pub done: JsonNumber,
    /// All tasks.
    pub total: JsonNumber,
}

/// What there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NextStatus {
    /// One task.
    Task,
    /// A group of tasks, side by side.
    Group,
    /// No task is open.
    Done,
    /// No task is open, and the list is empty, or open tasks have left the list: it is not done.
    Missing,
    /// The loop has ended.
    Over,
}

/// What `spool task list --json` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskListForm {
    /// The feature.
    pub feature: String,
    /// Finished tasks of those that the loop is about.
    pub done: JsonNumber,
    /// The tasks that the loop is about.
    pub total: JsonNumber,
    /// All tasks, in the order of the list.
    pub tasks: Vec<TaskForm>,
    /// Its lines with a box that do not count, or have an odd mark.
    pub asides: Vec<Aside>,
}

/// What `spool task show --json` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskShowForm {
    /// The feature.
    pub feature: String,
    /// The task.
    pub task: TaskForm,
    /// What was seen each time that its box was ticked, the oldest first.
    pub receipts: Vec<ReceiptForm>,
}

/// A task of a list.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskForm {
    /// Its id.
    pub id: String,
    /// Its first line.
    pub title: String,
    /// Whether it counts as done: its box is ticked, and in a live loop its work was seen.
    pub done: bool,
    /// Whether it may be done side by side with its neighbors.
    pub parallel: bool,
    /// The helper agent that it is for.
    pub agent: &'static str,
    /// The id of the task that it repairs; null for none.
    pub fixes: Option<String>,
    /// The heading that it stands under; null for none.
    pub phase: Option<String>,
    /// Its line in the file, from 1.
    pub line: JsonNumber,
    /// Attempts that failed.
    pub failures: u32,
    /// Its Verify command; null for none.
    pub verify: Option<String>,
    /// All of its text.
    pub block: String,
}

/// What `spool task done --json` and `spool task verify --json` print.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProvedForm {
    /// The feature.
    pub feature: String,
    /// What came of each task that was named.
    pub tasks: Vec<ProvedTask>,
}

/// What came of a task.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProvedTask {
    /// Its id.
    pub id: String,
    /// Whether it counts as done now.
    pub done: bool,
    /// What became of its Verify command.
    pub verify: VerifyState,
    /// How the command ended; null where it did not run.
    #[serde(serialize_with = "outcome")]
    #[cfg_attr(test, schemars(with = "Option<CheckOutcome>"))]
    pub check: Option<CheckResult>,
    /// How well it is proved; null where it is not ticked now, or was judged before.
    pub proof: Option<Proof>,
    /// Why its work does not count, so that it was not ticked; null where it does.
    pub unproved: Option<Unproved>,
    /// The same in words; null where there is nothing to say.
    pub words: Option<String>,
}

#[expect(clippy::ref_option, reason = "the form of a serializer is given")]
fn outcome<S: Serializer>(check: &Option<CheckResult>, writer: S) -> Result<S::Ok, S::Error> {
    check.as_ref().map(CheckOutcome::from).serialize(writer)
}

/// What became of a Verify command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VerifyState {
    /// The task has none, or was done before.
    None,
    /// It passed.
    Passed,
    /// It ended with code 0 and ran no test, which is no pass.
    NoTest,
    /// It failed.
    Failed,
    /// It is not run here, and speaks against nothing.
    NotRun,
    /// It is not the one that was armed, or that cannot be known: the task is not ticked.
    Refused,
}

/// What `spool task fail --json`, `add`, `block` and `hook` print: what was noted.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NotedForm {
    /// The feature.
    pub feature: String,
    /// The id of the task that failed or was added; null for others.
    pub task: Option<String>,
    /// Whether it had been noted before.
    pub already: bool,
    /// Failed attempts of the task; null for others, and where they are not counted because no loop is armed.
    pub used: Option<u32>,
    /// Attempts that the task has; null in the same way.
    pub limit: Option<u32>,
    /// The id of the repair task that is to be done first; null for none.
    pub repair: Option<String>,
    /// The name of the end of the loop; null while it lives.
    pub reason: Option<EndName>,
    /// The same in words, with what to do next.
    pub words: String,
}
