//! Pauses and resumes loops of both kinds.

use std::io;

use crate::feature::project::printable;
use crate::session::messages::person;
use crate::store::closing::Noted;
use crate::store::loops::{Loops, Pause, Record};
use crate::store::names::{LoopKind, PausedBy};
use crate::store::pausing::{pause_record, resume_record};
use crate::world;

/// Pauses a session's loop. The result: its record, or `None` without a live loop.
///
/// A requested pause stays as it is; a pause after a failure becomes a requested one.
pub fn pause(loops: &Loops, session: &str, by: PausedBy) -> io::Result<Option<(Record, Noted)>> {
    let folder = loops.session(session)?;
    let Some(mut record) = folder.record()?.filter(|record| record.ledger.is_live()) else {
        return Ok(None);
    };
    if record.pause().is_none_or(Pause::ends_by_itself) {
        let pause = Pause { at: world::now(), by, ..Pause::default() };
        let noted = pause_record(&folder, &mut record, pause)?;
        return Ok(Some((record, noted)));
    }
    Ok(Some((record, Ok(()))))
}

/// Ends the pause of a session's loop. The result: its record, or `None` without a pause.
///
/// `by` is the place of the request, as in [`Pause`].
pub fn resume(loops: &Loops, session: &str, by: PausedBy) -> io::Result<Option<(Record, Noted)>> {
    let folder = loops.session(session)?;
    let Some(mut record) = folder.record()?.filter(|record| record.pause().is_some()) else {
        return Ok(None);
    };
    let asked = Pause { by, ..Pause::default() };
    record.marks.waited = false;
    let noted = resume_record(&folder, &mut record, &asked.words())?;
    Ok(Some((record, noted)))
}

/// For a person, when a loop was paused.
pub fn paused(record: &Record) -> String {
    format!(
        "{}\nThe agent may stop, and nothing is counted; work that is done still ends the loop.\n`spool resume` continues it, `spool stop` ends it.",
        person::line("paused: ", &[&printable(&record.about), &person::sums(record)]),
    )
}

/// For a person, when a paused loop continues.
pub fn resumed(record: &Record) -> String {
    format!(
        "{}\nNothing wakes an idle session: type anything there, such as \"continue\".",
        person::line("continued: ", &[&printable(&record.about), &person::sums(record)]),
    )
}

/// For a person in the session of a paused loop; `None` without a pause.
pub fn told(record: &Record) -> Option<String> {
    let pause = record.pause()?;
    let cancel =
        if record.kind == LoopKind::Task { "/speckit:cancel-ralph" } else { "/speckit:cancel" };
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
