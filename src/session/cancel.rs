//! Canceling: disarm first, then remove the state file. Progress notes and journal stay (spec 003, US-4).

use std::fmt::Write;
use std::fs;

use crate::engine::Demand;
use crate::feature::project::{Feature, Project, printable};
use crate::feature::snapshot::FeatureSnapshot;
use crate::feature::{PROGRESS, STATE};
use crate::refusal::Refusal;
use crate::session::end::{EndedLoop, end_feature, end_task};
use crate::session::messages::person;
use crate::session::view::FeatureView;
use crate::store::closing::{EndNotice, not_noted};
use crate::store::loops::{Loops, PATIENCE};
use crate::store::read::Problem;
use crate::text::counted;

/// The canceled loop, as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelledFeature {
    /// Feature, phase, task, iterations.
    pub summary: String,
    /// The files that were removed and kept.
    pub cleanup: String,
    /// One sentence about the fate of the loop.
    pub headline: String,
}

/// A feature's loop for people: feature, phase, task, iterations; `None` without a state file.
fn summary(view: &FeatureView<'_>, has_pin: bool) -> Option<String> {
    let (feature, record) = (view.feature, view.record.as_deref());
    let snapshot = FeatureSnapshot::read(feature).map(|_| view.snapshot())?;
    let place = snapshot.place();
    let done = if place.named { place.words() } else { place.done.to_string() };
    // Without a pin and a record, only the state file counts iterations, from 1.
    let iterations = match record {
        None if !has_pin => snapshot.state.global_iteration(),
        record => record.map_or(0, |record| record.ledger.iterations),
    };
    let phase = Some(snapshot.state.phase()).filter(|phase| !phase.is_empty());
    let mut text = format!(
        "Feature: {}\nPhase: {}\nTask: {}/{} ({done} done)\nIterations: {} of {}",
        feature.name,
        printable(phase.unwrap_or("unknown")),
        place.task,
        place.total,
        iterations,
        snapshot.limits.max_iterations,
    );
    if let Some(unreadable) = &snapshot.unreadable {
        let _ = write!(text, "\nState file: corrupt, {}", printable(&unreadable.why));
    }
    Some(text)
}

/// The session's feature, or the current one unless another session drives it.
pub fn feature_to_cancel(project: &Project, session: Option<&str>) -> Result<Feature, Refusal> {
    let nothing = |why: &str| {
        Refusal::new(
            format!("nothing to cancel: {why}"),
            "`spool status` lists the loops; name one: /speckit:cancel 001-name, in a terminal spool stop 001-name",
        )
    };
    let feature = project.feature_meant(None, session)?;
    let feature = feature.ok_or_else(|| nothing("no feature is selected in this project"))?;
    let driver = Loops::of(&project.root).live_pin(&feature.name).map(|pin| pin.session);
    let is_other = |driver: &String| session.is_some_and(|own| own != driver);
    match driver.filter(is_other) {
        Some(driver) if !driver.is_empty() => {
            Err(nothing(&format!("session {driver} drives feature `{}`", feature.name)))
        }
        _ => Ok(feature),
    }
}

/// Ends a session's ralph loop. Returns the person's text; `None` without a live loop.
pub fn cancel_task(
    loops: &Loops,
    session: &str,
    telling: EndNotice,
) -> Result<Option<String>, Refusal> {
    let ended = end_task(loops, session, &Demand::Cancelled, telling)
        .map_err(|error| Refusal::NotEnded(error.to_string()))?;
    Ok(ended.map(|EndedLoop { record, noted, .. }| {
        let calls = counted(record.ledger.tool_calls, "tool call");
        person::ended(&record, "ended (cancelled)", [&calls, ""], "")
            + "\nThe journal stays: `spool log`."
            + &not_noted(noted)
    }))
}

/// Ends a feature's loop and removes its state file in one step.
///
/// The pin stays, so that no stop under way brings the loop back. `session` is where the end of a loop is told that no
/// session has yet.
pub fn cancel_feature(
    project: &Project,
    feature: &Feature,
    session: Option<&str>,
    telling: EndNotice,
) -> Result<CancelledFeature, Refusal> {
    let loops = Loops::of(&project.root);
    let pin = loops.found(&feature.name);
    let is_over = matches!(&pin, Ok(pin) if pin.as_ref().is_none_or(|pin| pin.ended.is_some()));
    let has_pin = matches!(&pin, Ok(Some(_)));
    if is_over && FeatureSnapshot::read(feature).is_none() {
        return Err(Refusal::NoLoop(format!(
            "nothing to cancel: feature `{}` has no loop and no state file",
            feature.name
        )));
    }
    // A program that writes the task log finishes first; one that hangs delays no cancel.
    let _books = loops.feature_lock(&feature.name, &feature.folder, PATIENCE).ok();
    let ended = end_feature(project, feature, session, &Demand::Cancelled, telling)
        .map_err(|error| Refusal::NotEnded(error.to_string()))?;
    // After the last judgement, and before the state file goes.
    let summary = summary(&FeatureView::of(project, feature), has_pin)
        .unwrap_or_else(|| format!("Feature: {}", feature.name));
    let mut cleanup = match fs::remove_file(feature.folder.join(STATE)).map_err(Problem::from) {
        Ok(()) => format!("Removed {STATE}; kept {PROGRESS} and the journal (`spool log`)."),
        Err(Problem::Missing) => format!("There was no {STATE}; kept {PROGRESS} and the journal."),
        Err(problem) => format!(
            "The loop is disarmed, but {} was left in place: {problem}. Remove it by hand.",
            feature.folder.join(STATE).display()
        ),
    };
    // Read again: the loop's session may have ended it in the meantime.
    let end = loops.pin(&feature.name).ok().flatten().and_then(|pin| pin.ended);
    let end = end.filter(|_| ended.is_none());
    cleanup += &ended.map(|ended| not_noted(ended.noted)).unwrap_or_default();
    let headline = match end {
        None => "Loop cancelled.".to_owned(),
        Some(end) => {
            let reason = end.reason.name();
            format!("The loop had ended before ({reason}); there was nothing to cancel.")
        }
    };
    Ok(CancelledFeature { summary, cleanup, headline })
}
