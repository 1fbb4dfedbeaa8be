//! The pin of a loop: its owner, and the terms that a person armed. A ralph loop's pin is inside its session's record.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::due::ExtensionHooks;
use super::names::ArmedBy;
use crate::engine::fields::{is_default, read_fields};
use crate::engine::proof::LeastProof;
use crate::engine::tasks::TaskList;
use crate::engine::{Check, TerminalReason};
use crate::world::WallTime;

/// The owner of a loop, and the terms that a person armed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pin {
    pub version: u32,
    /// The project's real root.
    pub project: Root,
    /// The feature, the change, or the first words of the task.
    pub about: String,
    /// The session; empty if no session had the loop at arming.
    pub session: String,
    /// The loop's record has the same time.
    pub armed_at: WallTime,
    /// Length of the repository's HEAD log at arming, in bytes; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits_from: Option<u64>,
    /// Hash of that log's last line at arming; 0 for none or unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub commits_line: u64,
    /// How it was armed.
    pub armed_by: ArmedBy,
    /// The runner's process; 0 without a runner.
    pub process: u32,
    /// Commands that must pass, in this order.
    pub checks: Vec<Check>,
    /// The command that tells the person of an end or a need; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub notify: String,
    /// Tasks with a Verify command that may run.
    pub verify: usize,
    /// The task list with the Verify commands, relative to the project.
    pub list: String,
    pub limits: LoopLimits,
    /// The least proof that a tick needs.
    pub proof: LeastProof,
    /// Patterns of files that only a person may change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protect: Vec<String>,
    /// Extension hooks of spec-kit that must run for the feature.
    #[serde(skip_serializing_if = "ExtensionHooks::is_empty")]
    pub hooks: ExtensionHooks,
    /// Spec-kit's converge command without its slash, if it must run before the feature is done; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub converge: String,
    /// `None` if only the feature was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<Asked>>,
    pub settings: SettingsThen,
    /// Why the loop ended, `None` while it lives: no late stop brings it back, only arming does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<PinnedEnd>,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Pin {
    version, project, about, session, armed_at, commits_from, commits_line, armed_by, process, checks, notify,
    verify, list, limits, proof, protect, hooks, converge, asked, settings, ended,
} kept more);

/// The project's real root. It stands in a list: version 1.0.0 wants a text there, and refuses the file by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root(pub String);

impl Serialize for Root {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        [&self.0].serialize(out)
    }
}

impl<'de> Deserialize<'de> for Root {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(reader)?;
        let root = value.get(0).unwrap_or(&value).as_str();
        root.map(|root| Self(root.to_owned()))
            .ok_or_else(|| D::Error::custom("`project` is no path"))
    }
}

/// Why a loop ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedEnd {
    pub reason: TerminalReason,
    /// The reason in plain words.
    #[serde(default)]
    pub words: String,
    /// The person of the session that drives the loop does not know of the end.
    #[serde(default, rename = "untold", skip_serializing_if = "std::ops::Not::not")]
    pub unnotified: bool,
}

/// Limits of a feature's loop. The default holds for a loop that no person armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LoopLimits {
    /// The last iteration.
    pub max_iterations: u32,
    /// Attempts for each task.
    pub max_task_iterations: u32,
    /// A failed task gets a repair task.
    pub recovery: bool,
}

read_fields!(LoopLimits { max_iterations, max_task_iterations, recovery });

impl Default for LoopLimits {
    fn default() -> Self {
        Self { max_iterations: 100, max_task_iterations: 5, recovery: false }
    }
}

/// The project's settings file at arming.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SettingsThen {
    /// Hash of the file; 0 for none.
    pub hash: u64,
    /// Git tracked the file.
    pub tracked: bool,
}

read_fields!(SettingsThen { hash, tracked });

/// The request for a feature's loop, beyond the feature itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// Ids of the tasks; empty for all.
    pub tasks: Vec<String>,
    /// Words for the agent, with keys masked.
    pub words: String,
    /// The agent works by the outline of spec-kit's own command, which armed the loop.
    pub by_outline: bool,
    /// A person decided to continue although checklists were open.
    #[serde(skip_serializing_if = "is_default")]
    pub open_checklists: bool,
    /// Optional tasks count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// The arming whose list has these ids; zero for all tasks.
    #[serde(skip_serializing_if = "is_default")]
    pub armed_at: WallTime,
}

read_fields!(Asked { tasks, words, by_outline, open_checklists, optional, armed_at });

impl Pin {
    /// The folder of the list, relative to the project.
    pub fn feature_folder(&self) -> &str {
        self.list.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Whether the loop lives, and a person armed it.
    pub fn is_armed(&self) -> bool {
        self.ended.is_none() && self.armed_by.is_person()
    }

    /// The owner alone, without the armed terms.
    pub fn bare(self) -> Self {
        let armed_by = if self.armed_by.is_person() { ArmedBy::Lost } else { self.armed_by };
        Self {
            version: self.version,
            project: self.project,
            about: self.about,
            session: self.session,
            armed_at: self.armed_at,
            commits_from: self.commits_from,
            commits_line: self.commits_line,
            armed_by,
            list: self.list,
            ended: self.ended,
            ..Self::default()
        }
    }

    /// The same loop when it has ended; the next arming proposes its limits.
    pub fn closed(self, ended: PinnedEnd) -> Self {
        let (armed_by, limits) = (self.armed_by.clone(), self.limits);
        Self { armed_by, limits, ended: Some(ended), ..self.bare() }
    }

    /// Whether the loop lives, and this session drives it.
    pub fn is_live_in(&self, session: &str) -> bool {
        self.ended.is_none() && self.session == session
    }
}

impl Asked {
    /// Keeps the tasks that were asked for. `armed` reads the list of an arming.
    pub fn part_of(
        &self,
        list: TaskList,
        armed: impl FnOnce(WallTime) -> Option<TaskList>,
    ) -> TaskList {
        let armed = if self.armed_at == WallTime::default() { None } else { armed(self.armed_at) };
        let armed = armed.map(|list| list.with_optional(self.optional));
        list.with_optional(self.optional).within(&self.tasks, armed.as_ref())
    }
}
