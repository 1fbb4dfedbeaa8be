//! Ending a ralph loop from outside of a stop: a person cancels, or the agent needs one.

use std::io;
use std::time::Duration;

use crate::engine::{Demand, Observation, ends};
use crate::session::messages::task as messages;
use crate::session::pinned;
use crate::session::reconcile::settle;
use crate::store::closing::{EndNotice, Unnoted, close_record};
use crate::store::loops::{Loops, Record};
use crate::store::pins::PinState;
use crate::text::{self, counted};

/// How long a stop under way is waited for: no stop holds the session's folder longer.
const CANCEL_PATIENCE: Duration = Duration::from_millis(2_500);

/// Ends a session's ralph loop at once and returns its record; `None` when it has none that lives.
///
/// The ended record stays: no stop under way brings the loop back, only arming does.
pub fn end(
    loops: &Loops,
    session: &str,
    demand: Demand,
    telling: EndNotice,
) -> io::Result<Option<(Record, Unnoted)>> {
    let root = &loops.root()?;
    if let PinState::Armed(pin) = pinned::of_session(root, session, None) {
        settle(root, &pin)?;
    }
    if !loops.knows(session) {
        return Ok(None);
    }
    // A stop that is being judged comes to its end first; a cancel is not to fail for that.
    let folder = loops.session_within(session, CANCEL_PATIENCE)?;
    let Some(mut record) = folder.record()?.filter(Record::is_live_ralph) else {
        return Ok(None);
    };
    pinned::reachable(root, &record)?;
    let seen = Observation { demand: Some(demand), ..Observation::default() };
    let Some(reason) = ends(&record.ledger, &seen) else {
        return Ok(None);
    };
    pinned::end_now(root, &record, &reason)?;
    let unnoted = close_record(&folder, &mut record, &reason, &reason.to_string(), telling)?;
    pinned::unpin(root, &record);
    Ok(Some((record, unnoted)))
}

/// Returns what a person reads when a loop was cancelled.
pub fn cancelled(record: &Record) -> String {
    format!(
        "Ralph loop cancelled after {} ({} seen). Task: {}.\nThe journal stays: `spool log`.",
        counted(record.ledger.iterations.into(), "iteration"),
        counted(record.ledger.tool_calls, "tool call"),
        text::line(&record.about)
    )
}

/// Returns what a person reads at the next stop about a loop that ended before it.
pub fn told_late(record: &Record) -> Option<String> {
    let ended = record.ledger.ended.as_ref();
    let moved = crate::session::messages::feature::moved_message(record);
    moved.or_else(|| ended.map(|reason| messages::end_message(record, reason)))
}
