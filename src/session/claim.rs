//! A feature in execution that no session drives, or another one: it is claimed, or the stop is allowed.

use std::io;

use super::context::{StopContext, waiting_answer};
use super::observe::feature::observe;
use crate::engine::{Evaluation, UnchangedFiles, Verdict, evaluate};
use crate::evidence::commits;
use crate::feature::project::{Feature, Project};
use crate::feature::snapshot::FeatureSnapshot;
use crate::hosts::{HookAnswer, HookEvent};
use crate::session::end::complete_end;
use crate::session::record::new_record;
use crate::session::{life, pinned};
use crate::store::journal::Entry;
use crate::store::loops::{Claim, Loops, Record};
use crate::store::names::{ArmedBy, EndName, JournalEvent};
use crate::store::pins::Pin;
use crate::world;

/// What becomes of a stop in a session that has no live loop.
pub enum Unowned {
    /// It is answered.
    Answer(HookAnswer),
    /// The session has a loop now.
    HasLoop(Option<Box<FeatureSnapshot>>),
}

/// A feature in execution that this session does not drive: another session's, finished, or to be claimed.
pub fn unowned(context: &StopContext<'_>) -> io::Result<Unowned> {
    let StopContext { project, loops, event, deadline, .. } = context;
    let feature = match project.current_feature() {
        Ok(Some(feature)) => feature,
        Ok(None) => return Ok(Unowned::Answer(HookAnswer::silent())),
        Err(lost) => return Ok(Unowned::Answer(HookAnswer::silent().log(&lost.to_string()))),
    };
    let claim = match loops.noted_claim(&feature.name)? {
        // What was armed costs a session that is only beside the loop no look.
        Some(noted) if noted.is_of_other(&event.session) => Some(noted),
        noted => loops.as_armed(&feature.name, noted),
    };
    let earlier = loops.peek(&event.session);
    let over = |claim: &Claim| allowed(claim, earlier.as_ref(), &event.session);
    if let Some((claim, answer)) = claim.as_ref().and_then(|it| Some((it, over(it)?))) {
        if complete_end(loops, claim, &event.session)? {
            return Ok(Unowned::HasLoop(None));
        }
        // The process that ended the loop may have been killed before its claim was closed.
        match earlier.as_ref().filter(|_| claim.closed.is_none()) {
            Some(record) => {
                pinned::unpin(&project.root, record);
                let _closed = close_claim(loops, record, None);
                note_allowed(loops, loops.claim(&feature.name).as_ref(), &event.session);
            }
            None => note_allowed(loops, Some(claim), &event.session),
        }
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
    // Whether anything would be said at all is known without writing a byte.
    let mut trial = fresh_record(project, &feature, claim.as_ref(), earlier.as_ref(), event);
    let standing = pinned::standing(&project.root, &trial);
    let snapshot = snapshot.under(&standing, None, *deadline);
    let seen = observe(&snapshot, event, &mut trial);
    let contract = snapshot.contract(&standing);
    let unknown = &mut || UnchangedFiles::Unknown;
    if let Evaluation::Decided(judgement) = evaluate(&contract, &trial.ledger, seen, unknown)
        && let Verdict::Wait(waiting) = judgement.verdict
    {
        return Ok(Unowned::Answer(waiting_answer(&waiting)));
    }
    let _lock = loops.lock()?;
    let claim = loops.read_claim(&feature.name)?;
    if let Some(answer) = claim_feature(context, &feature, claim.as_ref())? {
        return Ok(Unowned::Answer(answer));
    }
    Ok(Unowned::HasLoop(Some(Box::new(snapshot))))
}

/// Silence with a line for the log when a claim is closed or another session's.
///
/// `earlier` is this session's last loop: a claim that this session has had since the same arming has ended with it.
fn allowed(claim: &Claim, earlier: Option<&Record>, session: &str) -> Option<HookAnswer> {
    let ended = earlier
        .filter(|_| claim.session.as_deref() == Some(session))
        .filter(|record| record.about == claim.about && record.armed_at == claim.armed_at)
        .and_then(|record| record.ledger.ended.as_ref().map(EndName::of));
    if let Some(reason) = claim.closed.clone().or(ended) {
        let line = format!(
            "The loop of feature {} has ended ({reason}); /speckit:implement starts a new one",
            claim.about
        );
        return Some(HookAnswer::silent().log(&line));
    }
    let owner = claim.session.as_deref().filter(|owner| *owner != session)?;
    let line = format!(
        "Feature {} is driven by session {owner}; this session may stop. /speckit:implement --force takes it over",
        claim.about
    );
    Some(HookAnswer::silent().log(&line))
}

/// Notes that a session stopped beside the loop of another one, for a person who wonders why.
fn note_allowed(loops: &Loops, claim: Option<&Claim>, session: &str) {
    let Some(claim) = claim.filter(|claim| claim.closed.is_none()) else { return };
    let owner = claim.session.as_deref().filter(|owner| *owner != session);
    // No stop waits for a note, or fails without it.
    let _noted = owner.map(|owner| loops.note_let_go(session, &claim.about, owner));
}

/// Binds the feature to this session, unless another stop of the same session has just done it; the answer where that one has
/// ended the loop as well. The loop is this session's once its claim says so, or its pin where a person armed the loop.
fn claim_feature(
    context: &StopContext<'_>,
    feature: &Feature,
    claim: Option<&Claim>,
) -> io::Result<Option<HookAnswer>> {
    let StopContext { project, loops, event, .. } = *context;
    let folder = loops.session(&event.session)?;
    let earlier = folder.record()?;
    if let Some(answer) = claim.and_then(|it| allowed(it, earlier.as_ref(), &event.session)) {
        return Ok(Some(answer));
    }
    let is_own = claim.is_some_and(|claim| claim.session.as_ref() == Some(&event.session));
    let is_live = |record: &Record| record.ledger.is_live() && record.about == feature.name;
    if is_own && earlier.as_ref().is_some_and(is_live) {
        return Ok(None);
    }
    let record = fresh_record(project, feature, claim, earlier.as_ref(), event);
    loops.write_claim(&Claim {
        session: Some(event.session.clone()),
        about: feature.name.clone(),
        folder: feature.relative.clone(),
        armed_at: record.armed_at,
        commits_from: Some(record.commits_read),
        commits_line: record.commits_line,
        ..claim.cloned().unwrap_or_default()
    })?;
    folder.save(&record)?;
    if record.armed_by == ArmedBy::Terminal {
        pinned::bind(&project.root, &record)?;
    }
    life::note(loops, &event.session, event.transcript.as_deref());
    let armed_by = &record.armed_by;
    let words = format!("the first session that stopped took the loop (armed by {armed_by})");
    folder.note(&Entry::now(JournalEvent::Claimed, &feature.name, 0, &words)).map(|()| None)
}

/// A record with an empty ledger; `earlier` is the session's last loop, which has ended.
fn fresh_record(
    project: &Project,
    feature: &Feature,
    claim: Option<&Claim>,
    earlier: Option<&Record>,
    event: &HookEvent,
) -> Record {
    let by = match claim {
        Some(claim) if claim.armed_by != ArmedBy::default() => claim.armed_by.clone(),
        Some(claim) if claim.session.is_none() => ArmedBy::Terminal,
        _ => ArmedBy::Claim,
    };
    // Earlier commits are no work of this loop.
    let (commits_from, commits_line) = if let Some(claim) = claim {
        (claim.commits_from, claim.commits_line)
    } else {
        let log = commits::log_place(&project.root);
        (Some(log.length), log.line)
    };
    let claim = Claim {
        about: feature.name.clone(),
        folder: feature.relative.clone(),
        armed_at: claim.map_or_else(world::now, |claim| claim.armed_at),
        commits_from,
        commits_line,
        ..Claim::default()
    };
    // A session without an armed loop has said all of its transcript for this loop, unless it had a
    // loop before: then only what it says now is new.
    let said_before = earlier.and_then(|_| event.transcript_path());
    let mut record = new_record(&claim, &event.session, &by, said_before);
    if let Some(earlier) = earlier {
        record.transcript_read = earlier.transcript_read.min(record.transcript_from);
    }
    record
}

/// Gives up the feature of a loop that has ended, unless another session has taken it by now. `pin` is what was
/// armed for it, while it was open.
pub fn close_claim(loops: &Loops, record: &Record, pin: Option<&Pin>) -> io::Result<()> {
    let Some(reason) = &record.ledger.ended else { return Ok(()) };
    let _lock = loops.lock()?;
    let mut noted = loops.read_claim(&record.about)?;
    let is_later = noted.as_ref().is_some_and(|claim| claim.armed_at > record.armed_at);
    if let Some(pin) = pin.filter(|pin| pin.session == record.session && !is_later) {
        // The note alone does not say whose the loop was.
        noted = Some(Claim::held(noted, pin));
    }
    let claim = noted.filter(|claim| {
        claim.session.as_deref() == Some(&record.session)
            && claim.armed_at == record.armed_at
            && claim.closed.is_none()
    });
    let Some(claim) = claim else { return Ok(()) };
    let closed = Some(EndName::of(reason));
    loops.write_claim(&Claim { closed, words: record.words.clone(), ..claim })
}
