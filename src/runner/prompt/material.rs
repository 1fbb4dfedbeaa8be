//! The contents of an iteration's prompt.

use std::path::Path;

use crate::engine::proof::LeastProof;
use crate::engine::{Contract, NearLimit, Shortfall};
use crate::evidence::task_list::TaskFile;
use crate::feature::converge::ConvergeCommand;
use crate::runner::options::DoneWhen;
use crate::runner::target::{Change, SpecKitRules};

#[derive(Clone, Debug)]
pub struct Material<'a> {
    /// The change, with its proposal, design, tasks and module.
    pub change: &'a Change,
    /// The person's own words.
    pub task: &'a str,
    /// Words of `--add-context`; empty for none.
    pub context: &'a str,
    pub contract: &'a Contract,
    pub done: DoneWhen,
    /// From 1.
    pub iteration: u32,
    /// What was missing at the end of the last iteration; empty in the first.
    pub missing: &'a [Shortfall],
    /// The driver's remarks: a time limit that cut the last iteration short, denied tools.
    pub remarks: &'a [String],
    /// The limit that this iteration may reach, for which it leaves a handoff.
    pub near_limit: Option<NearLimit>,
    /// The file with the task list.
    pub tasks: Option<&'a Path>,
    /// The list, if it was just read.
    pub list: Option<&'a TaskFile>,
    /// Spec-kit's converge command, if the iteration runs that and nothing else.
    pub converge: Option<&'a ConvergeCommand>,
    /// The agent continues its last session, and knows the change.
    pub resumed: bool,
    /// The proof that a tick needs to count.
    pub proof: LeastProof,
    /// Spec-kit's rules for the change.
    pub spec_kit: &'a SpecKitRules,
}
