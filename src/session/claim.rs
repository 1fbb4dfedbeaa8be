//! A stop of a session that does not drive the current feature: the session takes the feature's loop, or may stop.

use std::io;

use super::context::{StopContext, waiting_answer};
use super::observe::feature::observe;
use crate::engine::{TerminalReason, waits};
use crate::evidence::commits;
use crate::evidence::task_list::TASKS;
use crate::feature::project::Feature;
use crate::feature::snapshot::FeatureSnapshot;
use crate::hosts::HookAnswer;
use crate::session::{life, pinned};
use crate::store::closing::end_pin;
use crate::store::journal::Entry;
use crate::store::loops::{Loops, Record};
use crate::store::names::{ArmedBy, JournalEvent};
use crate::store::pins::{Pin, PinnedEnd};
use crate::world;

pub enum Unowned {
    Answer(HookAnswer),
    HasLoop(Option<Box<FeatureSnapshot>>),
}

/// Decides about a feature that this session does not drive: another session owns the loop, the loop is over, or this
/// session takes it. `earlier` is this session's last loop.
pub fn unowned(context: &StopContext<'_>, earlier: Option<&Record>) -> io::Result<Unowned> {
    let StopContext { project, loops, event, deadline, .. } = context;
    let feature = match project.current_feature() {
        Ok(Some(feature)) => feature,
        Ok(None) => return Ok(Unowned::Answer(HookAnswer::silent())),
        Err(lost) => return Ok(Unowned::Answer(HookAnswer::silent().log(&lost.to_string()))),
    };
    let pin = loops.pin(&feature.name)?.or_else(|| loops.noted(&feature.name));
    if pin.as_ref().is_some_and(|pin| is_untold(pin, earlier, &event.session)) {
        let _lock = loops.lock()?;
        take(context, &feature)?;
        return Ok(Unowned::HasLoop(None));
    }
    if let Some(pin) = &pin
        && let Some(answer) = allowed(pin, earlier, &event.session)
    {
        note_allowed(loops, pin, earlier, &event.session);
        return Ok(Unowned::Answer(answer));
    }
    let Some(snapshot) =
        FeatureSnapshot::read_by(&feature, *deadline).filter(FeatureSnapshot::in_execution)
    else {
        return Ok(Unowned::Answer(HookAnswer::silent()));
    };
    if let Err(error) = snapshot.opened() {
        return Ok(Unowned::Answer(HookAnswer::silent().log(&error.to_string())));
    }
    // Observes by a trial record: a stop that waits writes nothing. Work that is done waits for nothing; where there is
    // a list, the list says so, not the agent.
    let mut trial = fresh_record(context, &feature, pin.as_ref(), earlier);
    let standing = pinned::standing_by(&project.root, &trial, Ok(pin));
    let snapshot = snapshot.under(&standing, None, *deadline);
    let seen = observe(&snapshot, event, &mut trial);
    let is_done = snapshot.all_done() || (seen.claimed && snapshot.tasks.is_none());
    if let Some(waiting) = waits(&trial.ledger, &seen).filter(|_| !is_done) {
        return Ok(Unowned::Answer(waiting_answer(&waiting)));
    }
    let _lock = loops.lock()?;
    let has_loop = || Unowned::HasLoop(Some(Box::new(snapshot)));
    Ok(take(context, &feature)?.map_or_else(has_loop, Unowned::Answer))
}

/// Lets this session stop if the loop has ended or another session owns it; `None` otherwise.
///
/// `earlier` is this session's last loop. Its record may have an end that the pin of the same arming lacks.
fn allowed(pin: &Pin, earlier: Option<&Record>, session: &str) -> Option<HookAnswer> {
    let is_own = pin.session == session;
    let ended = earlier
        .filter(|record| is_own && record.about == pin.about && record.armed_at == pin.armed_at)
        .and_then(|record| record.ledger.ended.as_ref());
    if let Some(reason) = pin.ended.as_ref().map(|end| &end.reason).or(ended) {
        let line = format!(
            "The loop of feature {0} has ended ({1}); /speckit:implement {0} starts a new one",
            pin.about,
            reason.name()
        );
        return Some(HookAnswer::silent().log(&line));
    }
    let owner = Some(&pin.session).filter(|owner| !owner.is_empty() && !is_own)?;
    let line = format!(
        "Feature {0} is driven by session {owner}; this session may stop. /speckit:implement {0} --force takes it over",
        pin.about
    );
    Some(HookAnswer::silent().log(&line))
}

/// True if this session's loop ended before the session had a record, and the person has not heard of it. A person who
/// cancels knows.
fn is_untold(pin: &Pin, earlier: Option<&Record>, session: &str) -> bool {
    let is_end = |end: &PinnedEnd| end.reason != TerminalReason::Cancelled;
    pin.session == session
        && pin.ended.as_ref().is_some_and(is_end)
        && earlier.is_none_or(|record| record.armed_at < pin.armed_at)
}

/// Notes why this stop was allowed, for a person who wonders. If the session's own loop has ended and a full disk kept
/// that out of the pin, ends the pin. Best effort: an error does not fail the stop.
fn note_allowed(loops: &Loops, pin: &Pin, earlier: Option<&Record>, session: &str) {
    let ended = earlier.filter(|record| !record.ledger.is_live());
    let _noted = match ended.filter(|_| pin.session == session) {
        _ if pin.ended.is_some() => Ok(()),
        Some(record) => end_pin(&loops.pins(), record),
        None => loops.note_let_go(session, &pin.about, &pin.session),
    };
}

/// Takes the feature for this session. Two stops of one session may race: the loser takes nothing, and returns an
/// answer if the loop is over or another session's. The loop is this session's once its pin says so.
fn take(context: &StopContext<'_>, feature: &Feature) -> io::Result<Option<HookAnswer>> {
    let StopContext { loops, event, .. } = *context;
    let pin = loops.found(&feature.name)?.or_else(|| loops.noted(&feature.name));
    let folder = loops.session(&event.session)?;
    let earlier = folder.record()?;
    let (earlier, session) = (earlier.as_ref(), event.session.as_str());
    let known = pin.as_ref().filter(|pin| !is_untold(pin, earlier, session));
    if let Some(answer) = known.and_then(|pin| allowed(pin, earlier, session)) {
        return Ok(Some(answer));
    }
    let is_own = pin.as_ref().is_some_and(|pin| pin.session == event.session);
    let is_live = |record: &Record| record.ledger.is_live() && record.about == feature.name;
    if is_own && earlier.is_some_and(is_live) {
        return Ok(None);
    }
    let record = fresh_record(context, feature, pin.as_ref(), earlier);
    folder.save(&record)?;
    if pin.is_some_and(|pin| pin.ended.is_some()) {
        return Ok(None);
    }
    loops.pins().take(&record)?;
    life::note(loops, &event.session, event.transcript.as_deref());
    let armed_by = &record.armed_by;
    let words = format!("the first session that stopped took the loop (armed by {armed_by})");
    folder.note(&Entry::now(JournalEvent::Claimed, &feature.name, 0, &words)).map(|()| None)
}

/// A record with an empty ledger. `earlier` is the session's last loop, which has ended.
fn fresh_record(
    context: &StopContext<'_>,
    feature: &Feature,
    pin: Option<&Pin>,
    earlier: Option<&Record>,
) -> Record {
    let StopContext { project, event, .. } = *context;
    let by = pin.map_or(ArmedBy::Claim, |pin| pin.armed_by.clone());
    let pin = pin.cloned().unwrap_or_else(|| {
        // Earlier commits are no work of this loop.
        let log = commits::log_place(&project.root);
        let (commits_from, commits_line) = (Some(log.length), log.line);
        Pin { armed_at: world::now(), commits_from, commits_line, ..Pin::default() }
    });
    let (about, list) = (feature.name.clone(), format!("{}/{TASKS}", feature.relative));
    // The whole transcript belongs to this loop, unless the session had a loop before. Then only new lines do.
    let said_before = earlier.and_then(|_| event.transcript_path());
    let mut record = Record::new(&Pin { about, list, ..pin }, &event.session, &by, said_before);
    if let Some(earlier) = earlier {
        record.transcript_read = earlier.transcript_read.min(record.transcript_from);
    }
    record
}
