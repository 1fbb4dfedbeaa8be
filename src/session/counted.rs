//! A feature's task list as every command shows it: only the tasks of the loop, with unproved ticks counted as open.

use std::path::Path;

use crate::engine::tasks::TaskList;
use crate::feature::project::{Feature, Project};
use crate::feature::settings::Settings;
use crate::feature::snapshot::FeatureSnapshot;
use crate::judge::TickJudge;
use crate::session::proof::judge_now;
use crate::session::task_log::refused;
use crate::store::loops::{Asked, Record};
use crate::store::pins::PinState;

pub fn as_counted(
    project: &Project,
    feature: &Feature,
    standing: &PinState,
    record: Option<&Record>,
) -> FeatureSnapshot {
    let asked = asked(&project.root, standing, record);
    let mut snapshot = FeatureSnapshot::of_loop(feature, standing, &asked);
    if let Some(list) = &snapshot.tasks {
        let judge = judge_now(project, feature).ok();
        let open = not_proved(judge.as_ref(), (project, feature, record), list);
        snapshot.open_again(&open);
    }
    snapshot
}

/// The request for the loop; without a loop, the settings' request for the next one.
pub fn asked(root: &Path, standing: &PinState, record: Option<&Record>) -> Asked {
    if standing.pin().is_some() || record.is_some() {
        return standing.asked(record).cloned().unwrap_or_default();
    }
    let settings = Settings::read(root).unwrap_or_default();
    let optional = settings.chosen.include_optional();
    Asked { optional, ..Asked::default() }
}

/// Open tasks that left the list. With asked tasks, only those, and the ones that a stop has seen leave (`gone`).
pub fn missing(
    judge: &TickJudge,
    list: &TaskList,
    gone: &[String],
    asked: Option<&Asked>,
) -> Vec<String> {
    let tasks = asked.map(|asked| &*asked.tasks).unwrap_or_default();
    let mut missing = judge.missing(list, gone.to_vec());
    // The armed list is the whole list, so it is cut to the asked tasks.
    missing.retain(|id| tasks.is_empty() || tasks.contains(id) || gone.contains(id));
    missing
}

/// Ticked tasks that count as open: not proved in the live loop, or refused at the end of the last one.
pub fn not_proved(
    judge: Option<&TickJudge>,
    (project, feature, record): (&Project, &Feature, Option<&Record>),
    list: &TaskList,
) -> Vec<String> {
    let ended = record.filter(|record| !record.ledger.is_live());
    let refused = ended.map(|ended| refused(project, feature, ended)).unwrap_or_default();
    let live = judge.map(|judge| judge.not_proved(list)).unwrap_or_default();
    refused.into_iter().chain(live).collect()
}
