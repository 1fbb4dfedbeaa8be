//! Writing a pause, and the end of one, into a session's record and journal.

use std::io;

use super::closing::{Unnoted, unnoted};
use super::loops::{Pause, Record, Session};
use super::names::JournalEvent;

/// Pauses a session's loop and notes it; on an error the record is as it was.
pub fn pause_record(folder: &Session, record: &mut Record, pause: Pause) -> io::Result<Unnoted> {
    let words = if pause.ends_by_itself() {
        format!("{}; the next prompt in this session continues the loop", pause.words())
    } else {
        pause.words()
    };
    record.paused = Some(pause);
    folder.save(record)?;
    Ok(unnoted(folder.note(&record.entry(JournalEvent::Paused, &words))))
}

/// Ends the pause of a session's loop and notes why; does nothing where there is none.
pub fn resume_record(folder: &Session, record: &mut Record, words: &str) -> io::Result<Unnoted> {
    if record.paused.take().is_none() {
        return Ok(None);
    }
    folder.save(record)?;
    Ok(unnoted(folder.note(&record.entry(JournalEvent::Resumed, words))))
}

/// Ends a pause after a failure, at a stop: an agent that wants to end its turn has had a new one.
pub fn resume_after_failure(folder: &Session, record: &mut Record) -> io::Result<()> {
    if record.pause().is_some_and(Pause::ends_by_itself) {
        // The verdict of this stop is noted next: a journal that cannot be written is reported then.
        resume_record(folder, record, "a new turn has come to its end")?;
    }
    Ok(())
}
