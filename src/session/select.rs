//! Selects a loop of a project: the named session's, this session's, or the only one.

use crate::feature::project::{Feature, Project, printable};
use crate::feature::snapshot::FeatureSnapshot;
use crate::refusal::Refusal;
use crate::store::loops::{Loops, Record};
use crate::store::names::LoopKind;
use crate::store::pins::Pin;

/// The addition if no session has a loop yet.
const ONLY_ARMED: &str =
    "; one that is only armed begins when a session stops, and `spool stop` ends it before that";

/// The live loops of a project, by session. A feature's loop lives only where its pin says so.
pub fn live(loops: &Loops) -> Vec<Record> {
    let lives = |record: &Record| record.ledger.is_live() && drives(loops, record);
    loops.records().filter(lives).collect()
}

pub fn live_ralph(loops: &Loops) -> Vec<Record> {
    loops.records().filter(Record::is_live_ralph).collect()
}

/// True if this session still owns the loop. A feature's pin decides; a missing or unreadable pin counts as yes.
pub fn drives(loops: &Loops, record: &Record) -> bool {
    let is_its = |pin: Pin| pin.is_live_in(&record.session);
    record.kind == LoopKind::Task || loops.pin(&record.about).ok().flatten().is_none_or(is_its)
}

/// The session of a feature's live loop; an error without one.
pub fn session_of(loops: &Loops, feature: &Feature) -> Result<String, Refusal> {
    let is_its = |record: &Record| record.about == feature.name && record.kind != LoopKind::Task;
    let record = live(loops).into_iter().find(is_its);
    record.map(|record| record.session).ok_or_else(|| {
        let name = &feature.name;
        Refusal::NoLoop(format!("no session drives a loop of feature `{name}`{ONLY_ARMED}"))
    })
}

/// The feature that a session drives.
pub fn feature_of(project: &Project, session: &str) -> Option<Feature> {
    let mut records = live(&Loops::of(&project.root)).into_iter();
    let record = records.find(|one| one.session == session && one.kind != LoopKind::Task)?;
    project.feature_at(&record.folder).ok()
}

/// The ralph loop of an agent that needs a person; without a session, the only one.
pub fn to_block(loops: &Loops, own: Option<&str>) -> Result<Record, Refusal> {
    let mut live = live_ralph(loops);
    live.retain(|record| own.is_none_or(|own| own == record.session));
    select(live, "ralph loop", "live", None)
}

/// The ralph loop to cancel if the command names none: this session's, or in a terminal the only one. `None`: the
/// command means a feature.
pub fn ralph_to_cancel(project: &Project, own: Option<&str>) -> Result<Option<Record>, Refusal> {
    let loops = Loops::of(&project.root);
    let tasks = live_ralph(&loops);
    let has_own = tasks.iter().any(|record| Some(record.session.as_str()) == own);
    if !has_own && (own.is_some() || tasks.is_empty() || current_lives(project, &loops)) {
        return Ok(None);
    }
    let features = if has_own { Vec::new() } else { armed_features(project, &loops) };
    if features.is_empty() {
        return select(tasks, "ralph loop", "live", own).map(Some);
    }
    let of_features = features.iter().map(|feature| format!("feature {}", feature.name));
    Err(several(&of_features.chain(tasks.iter().map(line)).collect::<Vec<_>>()))
}

/// The named feature, the session's, or the current one. In a terminal, the only feature with a loop comes before a
/// current feature without one.
pub fn feature_to_cancel(
    project: &Project,
    named: Option<&str>,
    session: Option<&str>,
) -> Result<Feature, Refusal> {
    let loops = Loops::of(&project.root);
    if named.is_none() && session.is_none() && !current_lives(project, &loops) {
        let mut armed = armed_features(project, &loops);
        match armed.len() {
            0 => {}
            1 => return Ok(armed.remove(0)),
            _ => return Err(several(&armed.into_iter().map(|one| one.name).collect::<Vec<_>>())),
        }
    }
    project.feature_meant(named, session)?.ok_or_else(|| {
        Refusal::new(
            "nothing to cancel: no feature is selected in this project",
            "`spool status` lists the loops; name one: /speckit:cancel 001-name, in a terminal spool stop 001-name",
        )
    })
}

fn several(names: &[String]) -> Refusal {
    Refusal::new("several loops are live here; name the feature or the session:", names.join("\n"))
}

/// The current feature has a loop, or a state file from which the next stop would make one.
fn current_lives(project: &Project, loops: &Loops) -> bool {
    let Some(feature) = project.current_feature().ok().flatten() else { return false };
    lives(loops, &feature)
        || FeatureSnapshot::read(&feature).is_some_and(|now| now.in_execution() && !now.all_done())
}

pub fn armed_features(project: &Project, loops: &Loops) -> Vec<Feature> {
    let mut features = project.features();
    features.retain(|feature| lives(loops, feature));
    features
}

fn lives(loops: &Loops, feature: &Feature) -> bool {
    loops.live_pin(&feature.name).is_some()
}

fn line(record: &Record) -> String {
    format!("{}  {}", record.session, printable(&record.about))
}

/// This session's loop, or the only one; an error lists the loops if several fit. `noun` is `loop`, or `ralph loop` if there
/// is no choice of others; `state` is `live` or `paused`.
pub fn select(
    mut records: Vec<Record>,
    noun: &str,
    state: &str,
    own: Option<&str>,
) -> Result<Record, Refusal> {
    if let Some(own) = records.iter().position(|record| Some(record.session.as_str()) == own) {
        return Ok(records.swap_remove(own));
    }
    match records.len() {
        1 => Ok(records.remove(0)),
        0 => {
            let armed = if (noun, state) == ("loop", "live") { ONLY_ARMED } else { "" };
            Err(Refusal::NoLoop(format!("no {noun} is {state} here{armed}")))
        }
        _ => Err(Refusal::new(
            format!("several {noun}s are {state} here; name one with --session:"),
            records.iter().map(line).collect::<Vec<_>>().join("\n"),
        )),
    }
}
