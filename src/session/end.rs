//! Ends a loop outside of a stop: a person does, or the agent reports that it cannot go on.

use std::io;
use std::time::Duration;

use crate::checks::{NOTICE_LIMIT, PersonNotice};
use crate::engine::{Demand, Ledger, Observation, TerminalReason, ends};
use crate::feature::project::{Feature, Project};
use crate::session::messages::feature::checks_at_end;
use crate::session::notices;
use crate::session::pinned;
use crate::store::closing::{EndNotice, Unnoted, close_record, end_entry, unnoted};
use crate::store::loops::{Claim, Loops, Record, TERMINAL, is_session_id};
use crate::store::names::{ArmedBy, EndName};
use crate::store::pins::{Pin, PinState};

/// The time to wait for a stop under way: no stop holds the session's folder for longer.
const CANCEL_PATIENCE: Duration = Duration::from_millis(2_500);

#[derive(Debug)]
pub struct EndedLoop {
    pub reason: TerminalReason,
    /// Why the journal lacks the end, `None` if it has the end. The loop has ended all the same: the session's next
    /// stop completes the rest.
    pub unnoted: Unnoted,
    /// The notice for the person's command, to be told without any lock; `None` if nobody waits for it.
    pub late: Option<LateNotice>,
}

/// An end that the person's command tells at once: the next stop, which reports it, may be far away.
#[derive(Debug)]
pub struct LateNotice {
    loops: Loops,
    record: Record,
    standing: PinState,
    notice: PersonNotice,
}

impl LateNotice {
    fn of(loops: Loops, record: Record, standing: PinState, reason: &TerminalReason) -> Self {
        let name = reason.name();
        let words = format!("ended ({name}): {} · {reason}", record.about);
        let notice = PersonNotice::of(&record.about, name, &words);
        Self { loops, record, standing, notice }
    }

    /// Runs the person's command, if one is armed. This may take seconds: never call it with a lock.
    pub fn tell(self) {
        let pin = self.standing.pin();
        notices::tell(&self.loops, &self.record, pin, &self.notice, NOTICE_LIMIT);
    }
}

/// Closes the claim on a feature, then ends the record of its session.
///
/// `seen` says why; `session` has the loop if nobody has claimed the feature yet. The result: the engine's reason, or
/// `None` if nothing ends or no loop lives. After an error the loop is as before.
pub fn end_feature(
    project: &Project,
    feature: &Feature,
    session: Option<&str>,
    seen: &Observation,
    telling: EndNotice,
) -> io::Result<Option<EndedLoop>> {
    let loops = Loops::of(&project.root);
    let standing = pinned::standing_of_feature(&project.root, &feature.name);
    let lock = loops.lock()?;
    let claim = loops.read_claim(&feature.name)?.unwrap_or_default();
    let owner = claim.session.clone().or_else(|| session.map(str::to_owned));
    let Some(reason) = ends(&Ledger::default(), seen) else {
        return Ok(None);
    };
    if claim.closed.is_some() {
        return Ok(None);
    }
    if let Some(record) = owner.as_deref().and_then(|owner| loops.peek(owner)) {
        pinned::reachable(&project.root, &record)?;
    }
    let closed = Claim {
        session: owner.clone(),
        about: feature.name.clone(),
        folder: feature.relative.clone(),
        closed: Some(EndName::of(&reason)),
        words: words_of(&reason, standing.pin()),
        reason: Some(reason.clone()),
        ..claim
    };
    let session = owner.clone().filter(|owner| is_session_id(owner)).unwrap_or_default();
    let (about, armed_at) = (closed.about.clone(), closed.armed_at);
    let its = Record { session, about, armed_at, ..Record::default() };
    pinned::end_now(&project.root, &its, &reason, &closed.words)?;
    loops.write_claim(&closed)?;
    // The loop has ended: the claim has the reason, and the session's next stop reads it.
    let noted = match owner.filter(|owner| is_session_id(owner)) {
        Some(owner) => end_record(&loops, &owner, &closed, &reason, telling),
        None => loops.note(TERMINAL, &end_entry(&feature.name, 0, &reason, &closed.words)),
    };
    if noted.is_ok() {
        pinned::unpin(&project.root, &its);
    }
    drop(lock);
    let late = (telling == EndNotice::AtNextStop).then(|| {
        let session = closed.session.unwrap_or_else(|| TERMINAL.to_owned());
        LateNotice::of(loops, Record { session, ..its }, standing, &reason)
    });
    Ok(Some(EndedLoop { reason, unnoted: unnoted(noted), late }))
}

/// Ends a session's ralph loop. The result: its record, or `None` without a live one.
///
/// The ended record stays, so that no stop under way brings the loop back.
pub fn end_task(
    loops: &Loops,
    session: &str,
    demand: Demand,
    telling: EndNotice,
) -> io::Result<Option<(Record, Unnoted)>> {
    let root = &loops.root()?;
    if !loops.knows(session) {
        return Ok(None);
    }
    // A stop under way finishes first: a cancel must not fail because of it.
    let folder = loops.session_within(session, CANCEL_PATIENCE)?;
    let Some(mut record) = folder.record()?.filter(Record::is_live_ralph) else {
        return Ok(None);
    };
    pinned::reachable(root, &record)?;
    let standing = pinned::standing(root, &record);
    let seen = Observation { demand: Some(demand), ..Observation::default() };
    let Some(reason) = ends(&record.ledger, &seen) else {
        return Ok(None);
    };
    let words = words_of(&reason, standing.pin());
    let unnoted = close_record(&folder, &mut record, &reason, &words, telling)?;
    pinned::unpin(root, &record);
    drop(folder);
    if telling == EndNotice::AtNextStop {
        LateNotice::of(loops.clone(), record.clone(), standing, &reason).tell();
    }
    Ok(Some((record, unnoted)))
}

/// The words of an end outside of a stop, where no check runs.
fn words_of(reason: &TerminalReason, pin: Option<&Pin>) -> String {
    let left = pin.and_then(|pin| checks_at_end(&pin.checks, None));
    left.map_or_else(|| reason.to_string(), |left| format!("{reason}; {left}"))
}

/// Writes the claim's end into the record of the feature's session.
fn end_record(
    loops: &Loops,
    owner: &str,
    claim: &Claim,
    reason: &TerminalReason,
    telling: EndNotice,
) -> io::Result<()> {
    let folder = match loops.session(owner) {
        // The stop that holds the session's folder, or the next one, sees the closed claim.
        Err(error)
            if *reason == TerminalReason::Cancelled && error.kind() == io::ErrorKind::TimedOut =>
        {
            return Ok(());
        }
        found => found?,
    };
    let record = folder.record_or_aside()?;
    if record.as_ref().is_some_and(Record::is_live_ralph) {
        // The session has gone on to a ralph loop, which is another one.
        return folder.note(&end_entry(&claim.about, 0, reason, &claim.words));
    }
    let mut record = match record.filter(|record| record.about == claim.about) {
        Some(record) => record,
        // The agent spoke before its session's first stop: the loop is this session's.
        None => crate::session::record::new_record(claim, owner, &ArmedBy::Claim, None),
    };
    claim.about.clone_into(&mut record.about);
    claim.folder.clone_into(&mut record.folder);
    if record.ledger.is_live() {
        let unnoted = close_record(&folder, &mut record, reason, &claim.words, telling)?;
        return unnoted.map_or(Ok(()), |why| Err(io::Error::other(why)));
    }
    Ok(())
}

/// Writes an end into this session's record that did not get there, because its writer died or a disk was full. `true`:
/// there was one, and it is written now.
///
/// `claim` was read without the lock, and is read again with it.
pub fn complete_end(loops: &Loops, claim: &Claim, session: &str) -> io::Result<bool> {
    if !is_to_be_told(claim, session) {
        return Ok(false);
    }
    let _lock = loops.lock()?;
    let claim = loops.read_claim(&claim.about)?.filter(|claim| is_to_be_told(claim, session));
    let Some((claim, reason)) = claim.and_then(|claim| Some((claim.clone(), claim.reason?))) else {
        return Ok(false);
    };
    // A later loop of this session, or this loop's end, is there already.
    let is_there = |record: &Record| {
        record.is_live_ralph()
            || record.armed_at > claim.armed_at
            || (!record.ledger.is_live()
                && record.about == claim.about
                && record.armed_at == claim.armed_at)
    };
    if loops.peek(session).as_ref().is_some_and(is_there) {
        return Ok(false);
    }
    end_record(loops, session, &claim, &reason, EndNotice::AtNextStop)?;
    Ok(true)
}

/// The person of this session must hear of the end that closed this claim. Whoever cancels knows.
fn is_to_be_told(claim: &Claim, session: &str) -> bool {
    claim.closed.is_some()
        && claim.session.as_deref() == Some(session)
        && claim.reason.as_ref().is_some_and(|reason| *reason != TerminalReason::Cancelled)
}
