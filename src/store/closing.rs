//! Writing a loop's end into its session's record and journal.

use std::io;

use super::journal::Entry;
use super::loops::{Record, Session};
use super::names::{EndName, JournalEvent, VerdictName};
use crate::engine::TerminalReason;

/// Whether the person still has to be notified of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndNotice {
    /// The person ended it, or is notified right now.
    Done,
    /// The next stop of the session does it.
    AtNextStop,
}

/// Why an entry that belongs to a change is not in the journal, `None` when it is there. The change is made
/// all the same: the one that reports it says so, and does not say that it failed.
pub type Unnoted = Option<String>;

/// Writes the end into a session's record and journal; the iteration count stays as it is. On an error the
/// record is as it was.
pub fn close_record(
    folder: &Session,
    record: &mut Record,
    reason: &TerminalReason,
    words: &str,
    telling: EndNotice,
) -> io::Result<Unnoted> {
    record.ledger.ended = Some(reason.clone());
    record.unnotified = telling == EndNotice::AtNextStop;
    words.clone_into(&mut record.words);
    folder.save(record)?;
    let entry = end_entry(&record.about, record.ledger.iterations, reason, words);
    Ok(unnoted(folder.note(&entry.with_sums(&record.ledger))))
}

/// What is to be said of an entry that was to be written.
pub fn unnoted(noted: io::Result<()>) -> Unnoted {
    noted.err().map(|error| error.to_string())
}

/// The line for a person on an entry that is not in the journal, empty where it is.
pub fn not_noted(unnoted: Unnoted) -> String {
    unnoted.map_or_else(String::new, |why| format!("\n(It is not in the journal: {why})"))
}

/// The journal's line for an end that did not come from a stop.
pub fn end_entry(about: &str, iteration: u32, reason: &TerminalReason, words: &str) -> Entry {
    let event = if *reason == TerminalReason::Cancelled {
        JournalEvent::Cancelled
    } else {
        JournalEvent::Ended
    };
    Entry {
        verdict: VerdictName::End,
        reason: EndName::of(reason),
        ..Entry::now(event, about, iteration, words)
    }
}
