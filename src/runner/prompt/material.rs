//! What the prompt of an iteration is made of.

use std::path::Path;

use crate::engine::proof::LeastProof;
use crate::engine::{Contract, NearLimit, Shortfall};
use crate::evidence::task_list::TaskFile;
use crate::feature::converge::ConvergeCommand;
use crate::runner::options::DoneWhen;
use crate::runner::target::{Change, SpecKitRules};

/// What the prompt of an iteration is made of.
#[derive(Clone, Debug)]
pub struct Material<'a> {
    /// The change with its proposal, design, tasks and module.
    pub change: &'a Change,
    /// The person's own words.
    pub task: &'a str,
    /// What `--add-context` added, empty for nothing.
    pub context: &'a str,
    /// The contract.
    pub contract: &'a Contract,
    /// What counts as done.
    pub done: DoneWhen,
    /// The iteration, from 1.
    pub iteration: u32,
    /// What was missing at the end of the last iteration, empty in the first one.
    pub missing: &'a [Shortfall],
    /// What the driver has to add: a time limit that cut the last one short, tools that were denied.
    pub remarks: &'a [String],
    /// The limit that this iteration may reach, and that it is to leave a handoff; `None` where none is near.
    pub near_limit: Option<NearLimit>,
    /// The file that holds the task list, `None` where there is none.
    pub tasks: Option<&'a Path>,
    /// What was read from it just now, `None` where it is to be read.
    pub list: Option<&'a TaskFile>,
    /// The converge command of spec-kit, where the iteration runs that and nothing else; `None` for every other one.
    pub converge: Option<&'a ConvergeCommand>,
    /// Whether the agent continues with its last session and knows the change already.
    pub resumed: bool,
    /// How well a task has to be proved for its tick to count.
    pub proof: LeastProof,
    /// What spec-kit asks for around the change.
    pub spec_kit: &'a SpecKitRules,
}
