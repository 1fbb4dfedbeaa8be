//! Ending a loop from outside of a stop: by a person, or by what the agent reports.

use std::io;
use std::time::Duration;

use crate::checks::{NOTICE_LIMIT, PersonNotice};
use crate::engine::{Demand, Ledger, Observation, TerminalReason, ends};
use crate::feature::project::{Feature, Project};
use crate::session::messages::feature::checks_at_end;
use crate::session::{notices, pinned};
use crate::store::closing::{EndNotice, Unnoted, close_record, end_entry, unnoted};
use crate::store::loops::{Claim, Loops, Record, TERMINAL, is_session_id};
use crate::store::names::{ArmedBy, EndName};
use crate::store::pins::{Pin, PinState};

/// How long a stop under way is waited for: no stop holds the session's folder longer.
const CANCEL_PATIENCE: Duration = Duration::from_millis(2_500);

/// A loop that was ended from outside of a stop.
#[derive(Debug)]
pub struct EndedLoop {
    /// Why.
    pub reason: TerminalReason,
    /// Why the end is not in the journal yet, `None` when it is. The loop has ended all the same, and the next
    /// stop of its session completes what is missing.
    pub unnoted: Unnoted,
    /// What the person's command has to tell, for whoever holds no lock any more; `None` where nobody waits for it.
    pub late: Option<LateNotice>,
}

/// An end of which the person's command tells at once: the next stop, which reports it, may be far away.
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

    /// Runs the command, where a person armed one. It may take seconds, so nobody who holds a lock calls this.
    pub fn tell(self) {
        let pin = self.standing.pin();
        notices::tell(&self.loops, &self.record, pin, &self.notice, NOTICE_LIMIT);
    }
}

/// Closes the claim on a feature and ends the record of the session that drives it, in that order.
///
/// `seen` says why, `session` is whose loop it is when nobody has claimed it yet. Returns the reason
/// that the engine gave, `None` when the observation ends nothing or no loop lives. On an error the loop
/// is as it was.
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
    let Some(reason) = ends(&Ledger::default(), seen) else { return Ok(None) };
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
    // From here on it has ended: the claim has the reason, and the next stop of the session reads it there.
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

/// Ends a session's task loop at once and returns its record; `None` when it has none that lives.
///
/// The ended record stays: no stop under way brings the loop back, only arming does.
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
    // A stop that is being judged comes to its end first; a cancel is not to fail for that.
    let folder = loops.session_within(session, CANCEL_PATIENCE)?;
    let Some(mut record) = folder.record()?.filter(Record::is_live_ralph) else { return Ok(None) };
    pinned::reachable(root, &record)?;
    let standing = pinned::standing(root, &record);
    let seen = Observation { demand: Some(demand), ..Observation::default() };
    let Some(reason) = ends(&record.ledger, &seen) else { return Ok(None) };
    let words = words_of(&reason, standing.pin());
    let unnoted = close_record(&folder, &mut record, &reason, &words, telling)?;
    pinned::unpin(root, &record);
    drop(folder);
    if telling == EndNotice::AtNextStop {
        LateNotice::of(loops.clone(), record.clone(), standing, &reason).tell();
    }
    Ok(Some((record, unnoted)))
}

/// The words of an end between two stops: no check runs there.
fn words_of(reason: &TerminalReason, pin: Option<&Pin>) -> String {
    let left = pin.and_then(|pin| checks_at_end(&pin.checks, None));
    left.map_or_else(|| reason.to_string(), |left| format!("{reason}; {left}"))
}

/// Writes the end that a claim has into the record of the session that drives the feature.
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
        // The session has gone on to a task of its own: that loop is another one.
        return folder.note(&end_entry(&claim.about, 0, reason, &claim.words));
    }
    let mut record = match record.filter(|record| record.about == claim.about) {
        Some(record) => record,
        // The agent speaks before its session has ever stopped: the loop is this session's.
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

/// Completes an end that did not reach the record of this session, because its writer was killed or a disk
/// was full; returns whether there was one. Only then is anything written.
///
/// `claim` is the feature's as it was just read; it is read again under the lock.
pub fn complete_end(loops: &Loops, claim: &Claim, session: &str) -> io::Result<bool> {
    if !is_to_be_told(claim, session) {
        return Ok(false);
    }
    let _lock = loops.lock()?;
    let claim = loops.read_claim(&claim.about)?.filter(|claim| is_to_be_told(claim, session));
    let Some((claim, reason)) = claim.and_then(|claim| Some((claim.clone(), claim.reason?))) else {
        return Ok(false);
    };
    // A loop that this session began later, or this one's end, stands there already.
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

/// Whether a claim was closed by an end that the person of this session has to hear of. Whoever cancels
/// knows of it.
fn is_to_be_told(claim: &Claim, session: &str) -> bool {
    claim.closed.is_some()
        && claim.session.as_deref() == Some(session)
        && claim.reason.as_ref().is_some_and(|reason| *reason != TerminalReason::Cancelled)
}
