//! Writing a loop's end into its session's record and journal.

use std::io;

use super::journal::Entry;
use super::loops::{Record, Session};
use crate::engine::TerminalReason;
use crate::world;

/// Whether the person still has to be told at the next stop why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// The person ended it, or is being told right now.
    Done,
    /// The next stop of the session tells.
    AtNextStop,
}

/// Writes the end into a session's record and journal; the iteration count stays as it is.
pub fn close_record(
    folder: &Session,
    record: &mut Record,
    reason: &TerminalReason,
    words: &str,
    telling: Telling,
) -> io::Result<()> {
    record.ledger.ended = Some(reason.clone());
    record.untold = telling == Telling::AtNextStop;
    words.clone_into(&mut record.words);
    folder.save(record)?;
    let entry = end_entry(&record.about, record.ledger.iterations, reason, words);
    folder.note(&entry.with_sums(&record.ledger))
}

/// Returns the journal's line for an end that did not come from a stop.
pub fn end_entry(about: &str, iteration: u32, reason: &TerminalReason, words: &str) -> Entry {
    let event = if *reason == TerminalReason::Cancelled { "cancelled" } else { "ended" };
    Entry {
        at: world::now(),
        event: event.to_owned(),
        about: about.to_owned(),
        iteration,
        verdict: "end".to_owned(),
        reason: reason.name().to_owned(),
        words: words.to_owned(),
        ..Entry::default()
    }
}
