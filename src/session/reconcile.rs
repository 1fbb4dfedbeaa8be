//! Where a loop's notes contradict what a person armed: the notes are corrected, and the person is notified.

use std::fs;
use std::io;
use std::path::Path;

use crate::engine::Contract;
use crate::evidence::commits;
use crate::session::pinned;
use crate::session::record::new_record;
use crate::store::loops::{Claim, Loops, Pause, Record, put_aside};
use crate::store::names::{JournalEvent, LoopKind, PausedBy};
use crate::store::pins::{Pin, PinKey, PinState, Pins};
use crate::text;
use crate::world;

/// Whether the record of a session says the same as the open pin of its loop.
pub fn agree(record: &Record, pin: &Pin, session: &str) -> bool {
    wrong_in_record(Some(record), pin, session).is_none()
}

/// Puts the notes of a session right where they contradict the open pin of its loop: what they say is no end of the
/// loop. For somebody who acts on the loop from outside of a stop.
pub fn settle(root: &Path, session: &str) -> io::Result<()> {
    if !Pins::has(root, PinKey::Session(session)) {
        return Ok(());
    }
    let PinState::Armed(pin) = pinned::of_session(root, session, None) else { return Ok(()) };
    let record = Loops::of(root).peek(session);
    if record.is_some_and(|record| agree(&record, &pin, session)) {
        return Ok(());
    }
    reconcile(root, session, None).map(drop)
}

/// The same for every loop of a project that a person armed, for somebody who is about to choose one by the
/// notes; what cannot be put right stays as it is.
pub fn settle_all(root: &Path) {
    for session in Pins::sessions(root) {
        let _ = settle(root, &session);
    }
}

/// Puts the notes of a session right where they contradict the open pin of its loop. Returns a sentence that
/// says what was wrong, for the person; `None` where nothing was, or the session has no loop that is pinned.
pub fn reconcile(
    root: &Path,
    session: &str,
    transcript: Option<&Path>,
) -> io::Result<Option<String>> {
    let loops = Loops::of(root);
    let _lock = loops.lock()?;
    let folder = loops.session(session)?;
    put_aside_unless_file(&folder.path("loop.json"))?;
    let counts = folder.record()?.is_some();
    let found = folder.record_as_it_is();
    let hint =
        found.as_ref().filter(|record| record.kind != LoopKind::Task).map(|it| it.about.clone());
    let PinState::Armed(pin) = pinned::of_session(root, session, hint.as_deref()) else {
        return Ok(None);
    };
    if pin.session != session {
        return Ok(None);
    }
    let Some(wrong) = wrong_in_record(found.as_ref(), &pin, session) else {
        // It was taken over by a program that died on the way.
        if let Some(found) = found.filter(|_| !counts) {
            folder.save(&found)?;
        }
        return Ok(None);
    };
    let record = record_of(root, found, &pin, session, transcript);
    folder.save(&record)?;
    let words = sentence(&record, &wrong, &pin);
    folder.note(&record.entry(JournalEvent::Tampered, &words))?;
    Ok(Some(words))
}

/// Returns the sentence for the person, and the journal.
fn sentence(record: &Record, wrong: &str, pin: &Pin) -> String {
    let (_, cancel) = pinned::commands_for(record);
    format!(
        "the notes of the loop of {} were changed by something else than ralph-speckit: {wrong}. What a person armed still holds ({}), the notes say so again, and the loop continues. To end it: {cancel}.",
        text::title(&pin.about, 80),
        pinned::in_short(pin.checks.len(), "", pin.verify)
    )
}

/// What is wrong with a record, `None` when it says the same as the pin.
fn wrong_in_record(record: Option<&Record>, pin: &Pin, session: &str) -> Option<String> {
    let what = match record {
        None => "is missing or cannot be read".to_owned(),
        Some(record) => wrong(record, pin, session)?,
    };
    Some(format!("`.claude/ralph/{session}/loop.json` {what}"))
}

fn wrong(record: &Record, pin: &Pin, session: &str) -> Option<String> {
    let is_task = pin.contract.is_some();
    if (record.kind == LoopKind::Task) != is_task || (is_task && record.assignment.is_none()) {
        return Some("is about another kind of loop".to_owned());
    }
    if record.session != session || (!is_task && record.about != pin.about) {
        return Some("is about another loop".to_owned());
    }
    if !is_task && record.folder != pin.feature_folder() {
        return Some(format!("names another folder (`{}`)", text::title(&record.folder, 80)));
    }
    if let Some(reason) = &record.ledger.ended {
        return Some(format!("says that the loop has ended ({})", reason.name()));
    }
    if record.armed_at != pin.armed_at {
        return Some("names another time of arming".to_owned());
    }
    if record.armed_by != pin.armed_by {
        return Some("says that somebody else armed it".to_owned());
    }
    if is_forged_pause(record, pin) {
        return Some("says that the loop is paused, and nobody asked for that".to_owned());
    }
    if is_lifted_pause(record, pin) {
        return Some("says that the loop is not paused, and somebody asked for that".to_owned());
    }
    let (noted, counted) = (record.ledger.iterations, pin.counted);
    (noted < counted)
        .then(|| format!("says that {noted} iterations were judged, and {counted} were"))
}

/// Whether a record has a pause that nobody asked for; one after a failure ends by itself.
fn is_forged_pause(record: &Record, pin: &Pin) -> bool {
    pin.paused == Some(false) && record.pause().is_some_and(|pause| !pause.ends_by_itself())
}

/// Whether the pause that somebody asked for is not in a record.
fn is_lifted_pause(record: &Record, pin: &Pin) -> bool {
    pin.paused == Some(true) && record.pause().is_none_or(Pause::ends_by_itself)
}

/// The record that the pin asks for; what it does not say stays where it is about the same loop.
fn record_of(
    root: &Path,
    found: Option<Record>,
    pin: &Pin,
    session: &str,
    transcript: Option<&Path>,
) -> Record {
    let is_task = pin.contract.is_some();
    let same = |record: &Record| {
        (record.kind == LoopKind::Task) == is_task && (is_task || record.about == pin.about)
    };
    let mut record = found.filter(same).unwrap_or_else(|| {
        let log = commits::log_place(root);
        let claim = Claim {
            about: pin.about.clone(),
            commits_from: Some(log.length),
            commits_line: log.line,
            ..Claim::default()
        };
        new_record(&claim, session, &pin.armed_by, transcript)
    });
    let kind = if is_task { LoopKind::Task } else { LoopKind::Feature };
    kind.clone_into(&mut record.kind);
    session.clone_into(&mut record.session);
    record.about.clone_from(&pin.about);
    record.armed_at = pin.armed_at;
    record.armed_by.clone_from(&pin.armed_by);
    record.ledger.ended = None;
    record.ledger.iterations = record.ledger.iterations.max(pin.counted);
    if is_forged_pause(&record, pin) {
        record.paused = None;
    }
    if is_lifted_pause(&record, pin) {
        let by = PausedBy::Terminal;
        record.paused = Some(Pause { at: world::now(), by, ..Pause::default() });
    }
    record.unnotified = false;
    record.moved_to = String::new();
    if !is_task {
        pin.feature_folder().clone_into(&mut record.folder);
        record.had_list = true;
        record.asked.clone_from(&pin.asked);
        record.assignment = None;
    } else if record.assignment.is_none() {
        record.assignment.clone_from(&pin.assignment);
        let contract = pin.contract.clone().unwrap_or_default();
        record.assignment.get_or_insert_default().contract = Contract::clone(&contract);
    }
    record
}

/// Gives a folder, a link or a pipe in a file's place another name: a loop is kept there.
fn put_aside_unless_file(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_file() => put_aside(path).map(drop),
        _ => Ok(()),
    }
}
