//! Ends a loop outside of a stop: a person does, or the agent reports that it cannot go on.

use std::io;
use std::time::Duration;

use crate::engine::{Demand, Ledger, Observation, TerminalReason, ends};
use crate::evidence::task_list::TASKS;
use crate::feature::project::{Feature, Project};
use crate::notice::{NOTICE_LIMIT, PersonNotice};
use crate::session::messages::feature::checks_at_end;
use crate::session::notices;
use crate::session::pinned;
use crate::session::record::new_record;
use crate::store::closing::{EndNotice, Unnoted, close_record, end_entry, unnoted};
use crate::store::loops::{Loops, Record, TERMINAL, is_session_id};
use crate::store::names::ArmedBy;
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

/// Ends the pin of a feature and the record of the session that drives it, in that order.
///
/// `seen` says why, `session` is whose loop it is when no session has it yet. Returns the reason
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
    let mut pin = loops.found_or_aside(&feature.name)?.unwrap_or_default();
    let Some(reason) = ends(&Ledger::default(), seen).filter(|_| pin.ended.is_none()) else {
        return Ok(None);
    };
    if pin.session.is_empty() {
        session.unwrap_or_default().clone_into(&mut pin.session);
    }
    if let Some(record) = loops.peek(&pin.session) {
        pinned::reachable(&project.root, &record)?;
    }
    pin.about.clone_from(&feature.name);
    pin.list = format!("{}/{TASKS}", feature.relative);
    let (words, owner) = (words_of(&reason, standing.pin()), pin.session.clone());
    let closed = pin.closed(reason.clone(), &words);
    loops.save_pin(&closed)?;
    // From here on it has ended: the next stop of the session reads that in the pin.
    let noted = if is_session_id(&owner) {
        end_record(&loops, &closed, (&reason, &words), telling)
    } else {
        loops.note(TERMINAL, &end_entry(&feature.name, 0, &reason, &words))
    };
    drop(lock);
    let late = (telling == EndNotice::AtNextStop).then(|| {
        let session = if owner.is_empty() { TERMINAL.to_owned() } else { owner };
        let about = feature.name.clone();
        LateNotice::of(loops, Record { session, about, ..Record::default() }, standing, &reason)
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
    let Some(mut record) = folder.record()?.filter(Record::is_live_ralph) else { return Ok(None) };
    pinned::reachable(root, &record)?;
    let standing = pinned::standing(root, &record);
    let seen = Observation { demand: Some(demand), ..Observation::default() };
    let Some(reason) = ends(&record.ledger, &seen) else { return Ok(None) };
    let words = words_of(&reason, standing.pin());
    let unnoted = close_record(&folder, &mut record, &reason, &words, telling)?;
    pinned::end_promise(root, &record);
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

/// Writes an end into the record of the session that drives the feature.
fn end_record(
    loops: &Loops,
    pin: &Pin,
    (reason, words): (&TerminalReason, &str),
    telling: EndNotice,
) -> io::Result<()> {
    let folder = match loops.session(&pin.session) {
        // The stop that holds the session's folder, or the next one, sees the ended pin.
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
        return folder.note(&end_entry(&pin.about, 0, reason, words));
    }
    // An agent that speaks before its session has ever stopped: the loop is this session's.
    let mut record = record
        .filter(|record| record.about == pin.about)
        .unwrap_or_else(|| new_record(pin, &pin.session, &ArmedBy::Claim, None));
    pin.feature_folder().clone_into(&mut record.folder);
    if record.ledger.is_live() {
        let unnoted = close_record(&folder, &mut record, reason, words, telling)?;
        return unnoted.map_or(Ok(()), |why| Err(io::Error::other(why)));
    }
    Ok(())
}
