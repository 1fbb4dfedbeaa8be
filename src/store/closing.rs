//! Writing a loop's end into its session's record and journal.

use std::io;

use super::journal::Entry;
use super::loops::{Record, Session};
use super::names::{EndName, JournalEvent, VerdictName};
use crate::engine::TerminalReason;

/// Whether the person still has to be notified of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndNotice {
    /// The person ended the loop, or is notified right now.
    Done,
    /// The session's next stop notifies.
    AtNextStop,
}

/// Why a change is missing in the journal; `None` if it is there. The change itself is made.
pub type Unnoted = Option<String>;

/// Writes the end into a session's record and journal. The iteration count stays. After an error the record is as
/// before.
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

pub fn unnoted(noted: io::Result<()>) -> Unnoted {
    noted.err().map(|error| error.to_string())
}

/// The words for a person about a missing entry; empty for none.
pub fn not_noted(unnoted: Unnoted) -> String {
    unnoted.map_or_else(String::new, |why| format!("\n(It is not in the journal: {why})"))
}

/// The journal's entry for an end outside of a stop.
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
