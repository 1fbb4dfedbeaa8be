//! Writes the end of a loop in the order in which it counts: first into the pin, so that no stop brings the loop back,
//! then into the record, then into the journal.

use std::io;

use super::journal::Entry;
use super::loops::{Record, SessionFolder};
use super::names::{EndName, JournalEvent, LoopKind, VerdictName};
use super::pins::{PinKey, PinnedEnd, Pins};
use super::write::is_full;
use crate::engine::TerminalReason;

/// Whether the person still has to be notified of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndNotice {
    /// The person ended the loop, or is notified right now.
    Done,
    /// The session's next stop notifies.
    AtNextStop,
    /// The same, of an end that a command inside of an agent's session has asked for.
    OfAgent,
}

/// The error says why a change is missing in the journal. The change itself is made.
pub type Noted = io::Result<()>;

impl Record {
    /// The loop has ended, once the record is written. The iteration count stays.
    pub fn end(&mut self, reason: TerminalReason, words: &str, telling: EndNotice) {
        self.ledger.ended = Some(reason);
        self.unnotified = telling != EndNotice::Done;
        words.clone_into(&mut self.words);
    }

    /// The journal's entry for an end outside of a stop.
    pub fn end_entry(&self) -> Entry {
        let is_cancelled = self.ledger.ended == Some(TerminalReason::Cancelled);
        let event = if is_cancelled { JournalEvent::Cancelled } else { JournalEvent::Ended };
        let reason = self.ledger.ended.as_ref().map(EndName::of).unwrap_or_default();
        let entry = self.entry(event, &self.words).with_sums(&self.ledger);
        Entry { verdict: VerdictName::End, reason, ..entry }
    }
}

/// Copies a record's end into the feature's pin. Leaves a pin alone that has ended, was armed again, or names another
/// session.
pub fn end_pin(pins: &Pins, record: &Record) -> io::Result<()> {
    let is_feature = record.kind != LoopKind::Task;
    let Some(reason) = record.ledger.ended.as_ref().filter(|_| is_feature) else { return Ok(()) };
    pins.change(PinKey::Feature(&record.about), |pin| {
        let pin = pin.unwrap_or_else(|| record.bare_pin());
        let is_its = pin.is_live_in(&record.session) && pin.armed_at <= record.armed_at;
        let (reason, words, unnotified) = (reason.clone(), record.words.clone(), record.unnotified);
        is_its.then(|| pin.closed(PinnedEnd { reason, words, unnotified }))
    })
}

/// Saves a record and journals the event. An error leaves the loop as before.
pub fn save_and_note(folder: &SessionFolder, record: &Record, entry: &Entry) -> io::Result<Noted> {
    // If the disk is full, the record alone tells of the end.
    if !record.ledger.is_live()
        && let Err(error) = end_pin(&folder.pins(), record)
        && !is_full(&error)
    {
        return Err(error);
    }
    folder.save(record)?;
    Ok(folder.note(entry))
}

/// The words for a person about a missing entry; empty for none.
pub fn not_noted(noted: Noted) -> String {
    let words = |error| format!("\n(It is not in the journal: {error})");
    noted.err().map(words).unwrap_or_default()
}
