//! `spool status --json`.

use serde::Serialize;

use super::loops::LoopForm;
use super::runner::RunnerForm;
use crate::session::report::feature::FeatureFacts;

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
