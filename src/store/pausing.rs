//! Writes a pause, and its end, into a session's record and journal.

use std::io;

use super::closing::{Noted, save_and_note};
use super::loops::{Pause, Record, Session};
use super::names::JournalEvent;

/// After an error the record is as before.
pub fn pause_record(folder: &Session, record: &mut Record, pause: Pause) -> io::Result<Noted> {
    let words = if pause.ends_by_itself() {
        format!("{}; the next prompt in this session continues the loop", pause.words())
    } else {
        pause.words()
    };
    record.paused = Some(pause);
    save_and_note(folder, record, &record.entry(JournalEvent::Paused, &words))
}

pub fn resume_record(folder: &Session, record: &mut Record, words: &str) -> io::Result<Noted> {
    if record.paused.take().is_none() {
        return Ok(Ok(()));
    }
    save_and_note(folder, record, &record.entry(JournalEvent::Resumed, words))
}

/// At a stop, ends a pause that a failure began: an agent that wants to end its turn has had a new one.
pub fn resume_after_failure(folder: &Session, record: &mut Record) -> io::Result<()> {
    if record.pause().is_some_and(Pause::ends_by_itself) {
        // A broken journal is reported with the verdict of this stop, which comes next.
        let _noted = resume_record(folder, record, "a new turn has come to its end")?;
    }
    Ok(())
}
