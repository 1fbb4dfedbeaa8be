//! `spool status --json`, and what smaller commands print: steering, status line, list of trust.

use serde::Serialize;

use super::loops::{EndForm, LoopForm};
use super::runner::RunnerForm;
use crate::engine::aside::Aside;

/// What `spool status --json` prints: all loops of a project.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusForm {
    /// The root of the project.
    pub project: String,
    /// Whether loops in sessions are switched on here.
    pub enabled: bool,
    /// Why the settings cannot be used, and nothing can be armed; null where they can.
    pub settings_problem: Option<String>,
    /// The features that have a state file or a loop, and the current one first.
    pub features: Vec<FeatureForm>,
    /// The loops of one task in one session: those that live, and the last three that have ended.
    pub tasks: Vec<LoopForm>,
    /// The loops of `spool ralph`.
    pub runners: Vec<RunnerForm>,
}

/// A feature and its loop.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FeatureForm {
    /// What its files say.
    #[serde(flatten)]
    pub facts: FeatureFacts,
    /// Its loop in a session; null where it never had one.
    pub r#loop: Option<LoopForm>,
}

/// A feature.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FeatureFacts {
    /// Its name.
    pub name: String,
    /// Its folder, relative to the project.
    pub folder: String,
    /// Whether it is the one that is worked on.
    pub current: bool,
    /// The phase in its state file; null where there is none that can be read.
    pub phase: Option<String>,
    /// Ticked tasks among those that the loop is about.
    pub done: u64,
    /// The tasks that the loop is about.
    pub total: u64,
    /// The ids of the open tasks.
    pub open: Vec<String>,
    /// The ids of the tasks that were ticked by hand and that nobody has found proved yet: they count as open. In a live loop
    /// `spool task done`, the next stop or the end of the iteration judges them.
    pub not_proved: Vec<String>,
    /// The lines of its list with a box that do not count, or have an odd mark.
    pub asides: Vec<Aside>,
    /// Its other lists with open boxes, in words; null for none.
    pub other_lists: Option<String>,
    /// The attempt that the present task is at.
    pub attempt: u32,
    /// The attempts that a task has.
    pub max_attempts: u32,
    /// Whether the state file asks for a person's approval.
    pub awaits_approval: bool,
    /// Its files that are missing or cannot be read, each with why, and the open tasks that have left its list.
    pub problems: Vec<String>,
}

/// What `spool start`, `pause`, `resume`, `stop`, `adopt`, `block` and `ralph --add-context` print with `--json`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SteeredForm {
    /// The loop as it is now; null where `spool status` no longer shows it.
    pub r#loop: Option<LoopForm>,
    /// What was done, in the words that a person reads.
    pub words: String,
}

/// What `spool statusline --json` prints: the loop of one session on one line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatuslineForm {
    /// The line; null while no loop lives.
    pub line: Option<String>,
    /// How the loop of this session ended; null while it lives, and where it has none.
    pub end: Option<EndForm>,
}

/// What `spool trust --list --json` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrustForm {
    /// The files that are trusted, in all projects.
    pub trusted: Vec<TrustedForm>,
}

/// A file that is trusted as it was when a person said so.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrustedForm {
    /// The root of the project.
    pub project: String,
    /// The file, relative to it.
    pub file: String,
    /// The commands and settings that are trusted.
    pub commands: Vec<String>,
}
