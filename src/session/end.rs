//! Ends a loop outside of a stop: a person does, or the agent reports that it cannot go on.

use std::io;
use std::time::Duration;

use crate::engine::{Demand, Ledger, TerminalReason, ended_by};
use crate::evidence::task_list::TASKS;
use crate::feature::project::{Feature, Project};
use crate::judge::LOOK;
use crate::notice::{NOTICE_LIMIT, PersonNotice};
use crate::session::messages::feature::checks_at_end;
use crate::session::notices;
use crate::session::observe::count_open_turn;
use crate::session::pinned;
use crate::session::view::FeatureView;
use crate::store::closing::{EndNotice, Noted, save_and_note};
use crate::store::loops::{Loops, Record, TERMINAL, is_session_id};
use crate::store::pins::{Pin, PinState, PinnedEnd};
use crate::store::undo::Undo;
use crate::world;

/// The time to wait for a stop under way: no stop holds the session's folder for longer.
const CANCEL_PATIENCE: Duration = Duration::from_millis(2_500);

/// Who asked for an end that may not be a person's.
const BY_AGENT: &str = "asked for inside of an agent's session";

#[derive(Debug)]
pub struct EndedLoop {
    pub record: Record,
    /// An error says why the journal lacks the end. The loop has ended all the same: the session's next stop completes the
    /// rest.
    pub noted: Noted,
    loops: Loops,
    standing: PinState,
}

impl EndedLoop {
    /// Runs the person's command, if one is armed: the next stop, which reports the end, may be far away. This may take
    /// seconds: never call it with a lock.
    pub fn tell(&self) {
        let Some(reason) = &self.record.ledger.ended else { return };
        let (about, name) = (&self.record.about, reason.name());
        let notice = PersonNotice::of(about, name, &format!("ended ({name}): {about} · {reason}"));
        notices::tell(&self.loops, &self.record, self.standing.pin(), &notice, NOTICE_LIMIT);
    }
}

/// Ends the pin of a feature and the record of the session that drives it, in that order.
///
/// `session` becomes the owner if the loop has none. `None`: the loop had ended before. An error leaves the loop as it
/// was.
pub fn end_feature(
    project: &Project,
    feature: &Feature,
    session: Option<&str>,
    demand: &Demand,
    telling: EndNotice,
) -> io::Result<Option<EndedLoop>> {
    let loops = Loops::of(&project.root);
    let standing = pinned::standing_of_feature(&project.root, &feature.name);
    // A look may last: no other loop waits for it. An ended loop judges nothing.
    let refused = FeatureView::of(project, feature).judge_at_end(LOOK);
    let _lock = loops.lock()?;
    let mut undo = Undo::default();
    // An end needs no valid pin: a link, or a file that others could write, is moved aside.
    let errors = [io::ErrorKind::InvalidData, io::ErrorKind::InvalidInput];
    let pin = loops.pin_or_aside(&feature.name, &errors, &mut undo)?;
    let mut pin = pin.or_else(|| loops.recorded(&feature.name)).unwrap_or_default();
    if pin.ended.is_some() {
        return Ok(None);
    }
    if pin.session.is_empty() {
        session.unwrap_or_default().clone_into(&mut pin.session);
    }
    if let Some(record) = loops.peek(&pin.session) {
        pinned::reachable(&project.root, &record)?;
    }
    pin.about.clone_from(&feature.name);
    pin.list = format!("{}/{TASKS}", feature.relative);
    let reason = ended_by(demand);
    let words = words_of(&reason, standing.pin(), telling);
    let unnotified = telling != EndNotice::Done;
    let ended = PinnedEnd { reason: reason.clone(), words: words.clone(), unnotified };
    let pin = pin.closed(ended);
    loops.save_pin(&pin)?;
    undo.keep();
    // The loop has ended: the session's next stop reads that in the pin.
    let owner = if is_session_id(&pin.session) { &pin.session } else { TERMINAL };
    let mut record = Record::new(&pin, owner, &pin.armed_by, None);
    (record.judged_at, record.refused) = (world::now(), refused);
    record.end(reason, &words, telling);
    let noted = end_record(&loops, &mut record);
    Ok(Some(EndedLoop { record, noted, loops, standing }))
}

/// Writes the end into the record of the session that drives the feature. A session that has never stopped has no
/// record: `record` becomes its record.
fn end_record(loops: &Loops, record: &mut Record) -> Noted {
    if record.session == TERMINAL {
        return loops.note(TERMINAL, &record.end_entry());
    }
    let folder = match loops.session(&record.session) {
        // The stop that holds the session's folder, or the next one, sees the ended pin.
        Err(error)
            if record.ledger.ended == Some(TerminalReason::Cancelled)
                && error.kind() == io::ErrorKind::TimedOut =>
        {
            return Ok(());
        }
        found => found?,
    };
    match folder.record_or_aside()? {
        // The session has gone on to another loop.
        Some(own) if own.ledger.is_live() && (own.is_live_ralph() || own.about != record.about) => {
            return folder.note(&record.end_entry());
        }
        Some(own) if own.about == record.about && !own.ledger.is_live() => return Ok(()),
        Some(own) if own.about == record.about => {
            let ledger = Ledger { ended: record.ledger.ended.take(), ..own.ledger };
            let Record { folder, words, unnotified, refused, judged_at, .. } =
                std::mem::take(record);
            *record = Record { folder, judged_at, ledger, words, unnotified, refused, ..own };
            count_open_turn(record);
        }
        _ => {}
    }
    save_and_note(&folder, record, &record.end_entry())?
}

/// Ends a session's ralph loop; `None` without a live one.
///
/// The ended record stays, so that no stop under way brings the loop back.
pub fn end_task(
    loops: &Loops,
    session: &str,
    demand: &Demand,
    telling: EndNotice,
) -> io::Result<Option<EndedLoop>> {
    let root = &loops.root()?;
    if !loops.knows(session) {
        return Ok(None);
    }
    // A stop under way finishes first: a cancel must not fail because of it.
    let folder = loops.session_within(session, CANCEL_PATIENCE)?;
    let Some(mut record) = folder.record()?.filter(Record::is_live_ralph) else { return Ok(None) };
    pinned::reachable(root, &record)?;
    let standing = pinned::standing(root, &record);
    let reason = ended_by(demand);
    let words = words_of(&reason, standing.pin(), telling);
    count_open_turn(&mut record);
    record.end(reason, &words, telling);
    let noted = save_and_note(&folder, &record, &record.end_entry())?;
    pinned::end_promise(root, &record);
    Ok(Some(EndedLoop { record, noted, loops: loops.clone(), standing }))
}

/// The words of an end outside of a stop, where no check runs.
fn words_of(reason: &TerminalReason, pin: Option<&Pin>, telling: EndNotice) -> String {
    let by = (telling == EndNotice::OfAgent).then(|| BY_AGENT.to_owned());
    let left = pin.and_then(|pin| checks_at_end(&pin.checks, None));
    [Some(reason.to_string()), by, left].into_iter().flatten().collect::<Vec<_>>().join("; ")
}
