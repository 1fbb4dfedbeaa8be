//! The pin of a loop: whose the loop is, and what a person armed. A task's pin is in the record of its session.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::due::ExtensionHooks;
use super::names::ArmedBy;
use crate::engine::fields::{is_default, read_fields};
use crate::engine::proof::LeastProof;
use crate::engine::scope::in_runs;
use crate::engine::tasks::TaskList;
use crate::engine::{Check, TerminalReason};
use crate::text;
use crate::world::WallTime;

/// Whose a loop is, and what a person armed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pin {
    /// Version of this file's form.
    pub version: u32,
    /// The project's real root.
    pub project: Root,
    /// The feature, the change, or the first words of the task.
    pub about: String,
    /// The session, empty for a loop that no session had when it was armed.
    pub session: String,
    /// When it was armed; the record of the loop says the same.
    pub armed_at: WallTime,
    /// How long the repository's log of its head was then, in bytes; `None` where nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits_from: Option<u64>,
    /// The hash of the last line that this log had then; 0 for none, and where nobody looked.
    #[serde(skip_serializing_if = "is_default")]
    pub commits_line: u64,
    /// How it was armed.
    pub armed_by: ArmedBy,
    /// The process of the runner, 0 for a loop that has none.
    pub process: u32,
    /// Commands that must pass, in this order.
    pub checks: Vec<Check>,
    /// The command that tells the person of an end, and that they are needed; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub notify: String,
    /// How many tasks have a Verify command that may be run.
    pub verify: usize,
    /// The file with the task list that the Verify commands come from, relative to the project.
    pub list: String,
    /// The limits of a feature's loop.
    pub limits: LoopLimits,
    /// How well each task of its list has to be proved.
    pub proof: LeastProof,
    /// Patterns of files that nobody but a person may change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protect: Vec<String>,
    /// The extension hooks of spec-kit that have to run for a feature.
    #[serde(skip_serializing_if = "ExtensionHooks::is_empty")]
    pub hooks: ExtensionHooks,
    /// The converge command of spec-kit that has to run before a feature is done, without its slash; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub converge: String,
    /// What was asked of a feature's loop besides the feature, `None` for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<Asked>>,
    /// The settings of the project when it was armed.
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
    /// The terminal reason.
    pub reason: TerminalReason,
    /// The same in plain words.
    #[serde(default)]
    pub words: String,
}

/// The limits of a feature's loop; the default is what holds for a loop that nobody armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LoopLimits {
    /// The last iteration.
    pub max_iterations: u32,
    /// Attempts that a task has.
    pub max_task_iterations: u32,
    /// Whether a failed task gets a repair task.
    pub recovery: bool,
}

read_fields!(LoopLimits { max_iterations, max_task_iterations, recovery });

impl Default for LoopLimits {
    fn default() -> Self {
        Self { max_iterations: 100, max_task_iterations: 5, recovery: false }
    }
}

/// The settings file of a project as it was when a loop was armed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SettingsThen {
    /// Hash of its bytes, 0 when there was none.
    pub hash: u64,
    /// Whether git tracked it.
    pub tracked: bool,
}

read_fields!(SettingsThen { hash, tracked });

/// What was asked of a feature's loop besides the feature.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The ids of the tasks that it is about, empty for all.
    pub tasks: Vec<String>,
    /// Words for the agent; what looks like a key is masked.
    pub words: String,
    /// Whether the agent works by the outline of spec-kit's own command, which armed the loop.
    pub by_outline: bool,
    /// Whether checklists were open when it was armed, and a person decided to continue with them.
    #[serde(skip_serializing_if = "is_default")]
    pub open_checklists: bool,
    /// Whether optional tasks count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

read_fields!(Asked { tasks, words, by_outline, open_checklists, optional });

impl Pin {
    /// The folder of the feature, relative to the project, that the list is in.
    pub fn feature_folder(&self) -> &str {
        self.list.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Whether the loop lives, and a person armed it.
    pub fn is_armed(&self) -> bool {
        self.ended.is_none() && self.armed_by.is_person()
    }

    /// Whose the loop is, without what was armed.
    #[must_use]
    pub fn bare(self) -> Self {
        let armed_by = if self.armed_by.is_person() { ArmedBy::Lost } else { self.armed_by };
        let Self { version, project, about, session, armed_at, .. } = self;
        let Self { commits_from, commits_line, list, ended, .. } = self;
        Self {
            version,
            project,
            about,
            session,
            armed_at,
            commits_from,
            commits_line,
            armed_by,
            list,
            ended,
            ..Self::default()
        }
    }

    /// The same loop when it has ended; the next arming proposes its limits.
    #[must_use]
    pub fn closed(self, reason: TerminalReason, words: &str) -> Self {
        let (armed_by, limits) = (self.armed_by.clone(), self.limits);
        let ended = Some(PinnedEnd { reason, words: words.to_owned() });
        Self { armed_by, limits, ended, ..self.bare() }
    }

    /// Whether the loop lives, and this session drives it.
    pub fn is_live_in(&self, session: &str) -> bool {
        self.ended.is_none() && self.session == session
    }

    /// Whether this session drives the loop, or none does.
    pub fn is_for(&self, session: &str) -> bool {
        self.session.is_empty() || self.session == session
    }
}

impl Asked {
    /// The tasks of a list that the loop is about.
    pub fn part_of(&self, list: TaskList) -> TaskList {
        list.with_optional(self.optional).within(&self.tasks)
    }

    /// What was asked as lines for a person who looks at the loop, empty for nothing.
    pub fn status_lines(&self) -> String {
        let mut text = String::new();
        if !self.tasks.is_empty() {
            text = format!("  Only these tasks: {}\n", text::title(&in_runs(&self.tasks), 300));
        }
        if !self.words.is_empty() {
            text = text + "  Words for the agent: " + &text::title(&self.words, 300) + "\n";
        }
        if self.optional {
            text.push_str("  Optional tasks: they count\n");
        }
        if self.open_checklists {
            text.push_str("  Checklists: open when it was armed, as a person decided\n");
        }
        text
    }
}
