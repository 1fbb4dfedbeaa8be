//! The state file of an arming: made from the existing one, with limits that only a person raises.

use serde_json::{Map, Value};

use crate::engine::tasks::TaskList;
use crate::feature::STATE;
use crate::feature::project::Feature;
use crate::feature::state::{State, StateError};
use crate::refusal::Refusal;
use crate::session::arguments::feature::FeatureRequest;
use crate::store::pins::LoopLimits;
use crate::store::undo::Undo;

/// Reads the state file. A file that cannot be opened is an error, because it may be intact.
pub fn readable_state(feature: &Feature) -> Result<Result<State, StateError>, Refusal> {
    match State::read(feature) {
        Err(StateError::Unopened { why }) => {
            Err(Refusal::Unreadable(feature.folder.join(STATE), why))
        }
        found => Ok(found),
    }
}

/// The state to start from, and a note on a corrupt file, which is kept under another name.
pub fn state_to_start_from(
    feature: &Feature,
    found: Result<State, StateError>,
    undo: &mut Undo,
) -> Result<(State, Option<String>), Refusal> {
    match found {
        Ok(state) => Ok((state, None)),
        Err(StateError::Missing) => Ok((State::default(), None)),
        Err(StateError::Corrupt { why, .. } | StateError::Unopened { why }) => {
            let path = feature.folder.join(STATE);
            let aside = undo.put_aside(&path).map_err(|error| {
                let path = path.display();
                let what =
                    format!("`{path}` is corrupt ({why}) and cannot be moved aside: {error}");
                Refusal::new(what, "move it away by hand, then try again")
            })?;
            let name = aside.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((State::default(), Some(format!("The corrupt state file was kept as {name}."))))
        }
    }
}

/// Iterations for so many tasks: the schema's default of 100 would end a long list early.
fn enough_iterations(tasks: usize) -> u32 {
    let tasks = u32::try_from(tasks).unwrap_or(u32::MAX);
    tasks.saturating_mul(3).max(LoopLimits::default().max_iterations)
}

/// Lowers limits of the state file to the defaults: the file may have come with the repository, and the agent can write
/// it. A limit stays if a person asks for it now, or asked for it in the loop that still runs. Returns notes for the
/// person.
pub fn lower_limits(
    state: &mut State,
    tasks: &TaskList,
    request: &FeatureRequest,
    last: Option<LoopLimits>,
) -> Vec<String> {
    let last = last.unwrap_or_default();
    let default = LoopLimits::default();
    // An earlier arming of the whole list may have set more than the default.
    let iterations = enough_iterations(tasks.tasks.len()).max(last.max_iterations);
    let attempts = default.max_task_iterations.max(last.max_task_iterations);
    let mut notes = Vec::new();
    let asked = state.max_global_iterations();
    if request.chosen.feature_iterations().is_none() && asked > iterations {
        let lower = enough_iterations(tasks.open().count());
        state.set("maxGlobalIterations", lower);
        notes.push(lowered(asked, lower, "iterations", "--max-iterations"));
    }
    let asked = state.max_task_iterations();
    if request.chosen.max_task_iterations().is_none() && asked > attempts {
        let lower = default.max_task_iterations;
        state.set("maxTaskIterations", lower);
        notes.push(lowered(asked, lower, "attempts a task", "--max-task-iterations"));
    }
    notes
}

fn lowered(asked: u32, lower: u32, what: &str, flag: &str) -> String {
    format!(
        "The state file asked for {asked} {what}; a limit above the default has to be typed, so it is {lower} now (to change it: `{flag} N`)."
    )
}

/// Fills the fields of spec 003's schema; all others stay.
pub fn fill(state: &mut State, feature: &Feature, tasks: &TaskList, request: &FeatureRequest) {
    let digits = feature.name.bytes().take_while(u8::is_ascii_digit).count();
    let (id, name) = feature.name.split_at(digits);
    state.set_default("version", 1);
    state.set("featureId", id);
    state.set("name", if id.is_empty() { name } else { name.trim_start_matches('-') });
    state.set("basePath", feature.relative.as_str());
    state.set("phase", "execution");
    state.set("taskIndex", tasks.first_open());
    state.set("totalTasks", tasks.tasks.len());
    state.set("taskIteration", 1);
    // A new arming gives every task its attempts again.
    state.set("taskAttempts", Value::Object(Map::new()));
    state.set_default("maxTaskIterations", 5);
    state.set("globalIteration", 1);
    let is_unset = state.max_global_iterations() == 0 || !state.has("maxGlobalIterations");
    let enough = is_unset.then(|| enough_iterations(tasks.open().count()));
    if let Some(limit) = request.chosen.feature_iterations().or(enough) {
        state.set("maxGlobalIterations", limit);
    }
    state.set("awaitingApproval", false);
    state.set_default("recoveryMode", false);
    state.set_default("maxFixTasksPerOriginal", 3);
    state.set_default("fixTaskMap", Value::Object(Map::new()));
    if let Some(limit) = request.chosen.max_task_iterations() {
        state.set("maxTaskIterations", limit);
    }
    if request.chosen.recovery_mode() {
        state.set("recoveryMode", true);
    }
}
