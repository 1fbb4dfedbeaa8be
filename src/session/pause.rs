//! Pauses and resumes loops of both kinds.

use std::io;

use crate::feature::project::printable;
use crate::session::life::{self, SessionLife};
use crate::session::messages::person;
use crate::session::pinned::commands_for;
use crate::store::closing::{Noted, save_and_note};
use crate::store::loops::{Loops, Pause, Record, SessionFolder};
use crate::store::names::{JournalEvent, PausedBy};

/// Pauses a session's loop and returns its record; `None` without a live loop.
///
/// A requested pause stays as it is. A pause after a failure becomes a requested one.
pub fn pause(loops: &Loops, session: &str, pause: Pause) -> io::Result<Option<(Record, Noted)>> {
    let folder = loops.session(session)?;
    let Some(mut record) = folder.record()?.filter(|record| record.ledger.is_live()) else {
        return Ok(None);
    };
    let (by_itself, words) = (pause.ends_by_itself(), pause.words());
    let noted = if record.pause().is_none_or(Pause::ends_by_itself) {
        let next = "; the next prompt in this session continues the loop";
        let words = if by_itself { words + next } else { words };
        record.paused = Some(pause);
        save_and_note(&folder, &record, &record.entry(JournalEvent::Paused, &words))?
    } else if by_itself {
        // The failure changes nothing, and is noted.
        let words = words + "; the loop is paused anyway";
        folder.note(&record.entry(JournalEvent::Failure, &words))
    } else {
        Ok(())
    };
    Ok(Some((record, noted)))
}

/// Ends the pause of a session's loop and returns the record; `None` without a pause.
///
/// `by` is the place of the request, as in [`Pause`].
pub fn resume(loops: &Loops, session: &str, by: PausedBy) -> io::Result<Option<(Record, Noted)>> {
    let folder = loops.session(session)?;
    let Some(mut record) = folder.record()?.filter(|record| record.pause().is_some()) else {
        return Ok(None);
    };
    record.marks.waited = false;
    let asked = Pause { by, ..Pause::default() };
    let noted = end(&folder, &mut record, &asked.words())?;
    Ok(Some((record, noted)))
}

/// Ends a pause after a failure: this stop shows that the agent has had a new turn.
pub fn resume_after_failure(folder: &SessionFolder, record: &mut Record) -> io::Result<()> {
    if record.pause().is_some_and(Pause::ends_by_itself) {
        // A broken journal is reported with the verdict of this stop, which comes next.
        let _noted = end(folder, record, "a new turn has come to its end")?;
    }
    Ok(())
}

fn end(folder: &SessionFolder, record: &mut Record, words: &str) -> io::Result<Noted> {
    record.paused = None;
    save_and_note(folder, record, &record.entry(JournalEvent::Resumed, words))
}

/// For a person, when a loop was paused.
pub fn paused(loops: &Loops, record: &Record) -> String {
    let meanwhile =
        "The agent may stop, and nothing is counted; work that is done still ends the loop.";
    let meanwhile = gone(loops, record).unwrap_or_else(|| meanwhile.to_owned());
    let line = person::line("paused: ", &[&printable(&record.about), &person::sums(record)]);
    format!("{line}\n{meanwhile}\n`spool resume` continues it, `spool stop` ends it.")
}

fn gone(loops: &Loops, record: &Record) -> Option<String> {
    let is_gone = life::of(loops, record) == SessionLife::Gone;
    is_gone.then(|| format!("Its session is gone: claude --resume {}", printable(&record.session)))
}

/// For a person, when a paused loop continues.
pub fn resumed(loops: &Loops, record: &Record) -> String {
    let wake = "Nothing wakes an idle session: type anything there, such as \"continue\".";
    let next = gone(loops, record).unwrap_or_else(|| wake.to_owned());
    person::line("continued: ", &[&printable(&record.about), &person::sums(record)]) + "\n" + &next
}

/// For a person in the session of a paused loop; `None` without a pause.
pub fn told(record: &Record) -> Option<String> {
    let pause = record.pause()?;
    let (_, cancel) = commands_for(record);
    let next = if pause.ends_by_itself() {
        "type anything to continue"
    } else {
        "`spool resume` in a terminal continues the loop"
    };
    let line = person::line(
        "paused: ",
        &[&printable(&record.about), &printable(&pause.words()), "nothing is counted"],
    );
    Some(format!("{line}\nNext: {next}; {cancel} ends it."))
}
