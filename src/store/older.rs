//! Reads a loop of version 1.0.0; writes nothing. In the project, that version kept a record and a claim that named the
//! owner. Outside, it kept a pin that outranked both, and a file with a mark for each iteration.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::names::{ArmedBy, EndName, LoopKind, PausedBy};
use super::notes::load;
use super::pin::{Pin, PinnedEnd};
use super::private::{load_private, parsed};
use super::read::{self, below};
use super::record::{Assignment, Notified, Pause, Record};
use crate::engine::fields::read_fields;
use crate::engine::{Contract, TerminalReason};
use crate::world::{self, WallTime};

pub(super) const OPEN_TASKS: &str = "open-tasks.txt";
/// Bytes read of a pin or a count.
const MOST: u64 = 1 << 20;

/// Which session drove a feature.
#[derive(Default)]
struct Claim {
    session: Option<String>,
    folder: String,
    armed_at: WallTime,
    armed_by: ArmedBy,
    commits_from: Option<u64>,
    commits_line: u64,
    closed: Option<EndName>,
    words: String,
    reason: Option<TerminalReason>,
}

read_fields!(Claim {
    session,
    folder,
    armed_at,
    armed_by,
    commits_from,
    commits_line,
    closed,
    words,
    reason,
});

/// The path of the claim on a feature.
pub(super) fn claim_path(notes: &Path, feature: &str) -> PathBuf {
    below(notes, &["claims", &[feature, ".json"].concat()])
}

/// The pin of a feature's loop by its claim; `None` without a claim. A file of the project arms nothing.
pub(super) fn claim(notes: &Path, feature: &str) -> io::Result<Option<Pin>> {
    let claim: Option<Claim> = load(&claim_path(notes, feature))?;
    Ok(claim.map(|claim| {
        let ended = |_| PinnedEnd {
            reason: claim.reason.unwrap_or(TerminalReason::Stopped),
            words: claim.words,
            unnotified: false,
        };
        Pin {
            version: 1,
            about: feature.to_owned(),
            session: claim.session.unwrap_or_default(),
            list: [&claim.folder, "/tasks.md"].concat(),
            armed_at: claim.armed_at,
            armed_by: claim.armed_by,
            commits_from: claim.commits_from,
            commits_line: claim.commits_line,
            ended: claim.closed.map(ended),
            ..Pin::default()
        }
        .bare()
    }))
}

/// The path of a session's record in the project.
pub(super) fn path(notes: &Path, session: &str) -> PathBuf {
    below(notes, &[session, "loop.json"])
}

/// The loop of a session, `None` for none. `pin` has the bytes of the session's file outside of the project. `places`
/// are the folder of that file, the project's root, and the folder of notes in the project.
pub(super) fn record(
    places: (&Path, &Path, &Path),
    session: &str,
    pin: Option<&[u8]>,
) -> io::Result<Option<Record>> {
    let (kept, root, notes) = places;
    let file = |name: &str| below(kept, &[name]);
    let left: Option<Record> = load(&path(notes, session))?;
    // A file of the project arms nothing.
    let left = left.map(|left| Record { version: 1, armed: None, ..left });
    let own = ["session-", session, ".json"].concat();
    let pin: Option<Pin> = pin.map(|bytes| parsed(&file(&own), bytes)).transpose()?;
    let is_here = |pin: &Pin| Path::new(&pin.project.0) == root && pin.session == session;
    let Some(mut pin) = pin.filter(is_here) else { return Ok(left) };
    let told: Option<Notified> = taken(&mut pin, "told");
    let paused: Option<bool> = taken(&mut pin, "paused");
    let contract: Option<Contract> = taken(&mut pin, "contract");
    let assignment: Option<Assignment> = taken(&mut pin, "assignment");
    let from: String = taken(&mut pin, "from").unwrap_or_default();
    let kind = if contract.is_some() { LoopKind::Task } else { LoopKind::Feature };
    let (whose, other) = match kind {
        LoopKind::Task => (["session-", session].concat(), ["session-", &from].concat()),
        _ => (["feature-", &pin.about].concat(), ["feature-", &pin.about].concat()),
    };
    let other = load_private::<Pin>(&file(&[&other, ".json"].concat()), MOST).unwrap_or_default();
    let other = other.filter(|other| other.armed_at == pin.armed_at);
    if kind == LoopKind::Task && other.as_ref().is_some_and(|pin| pin.ended.is_none()) {
        // The loop has not left the session that was to hand it over.
        return Ok(None);
    }
    if kind != LoopKind::Task {
        let Some(armed) = other.filter(|armed| armed.session == session) else { return Ok(left) };
        pin = Pin { ended: armed.ended.clone().or(pin.ended), ..armed };
    }
    let is_its =
        |left: &Record| left.kind == kind && (kind == LoopKind::Task || left.about == pin.about);
    let mut record = left.filter(is_its).unwrap_or_default();
    let counted = counted(&file(&["count-", &whose].concat()), pin.armed_at);
    record.ledger.iterations = record.ledger.iterations.max(counted);
    record.ledger.ended = pin.ended.as_ref().map(|end| end.reason.clone());
    record.unnotified =
        record.ledger.ended.as_ref().is_some_and(|reason| *reason != TerminalReason::Cancelled);
    if let Some(end) = pin.ended.take() {
        record.words = end.words;
    }
    record.moved_to = String::new();
    record.notified = told.unwrap_or(record.notified);
    let is_asked = record.paused.as_ref().is_some_and(|pause| !pause.ends_by_itself());
    match paused {
        Some(false) if is_asked => record.paused = None,
        Some(true) if !is_asked => {
            record.paused =
                Some(Pause { at: world::now(), by: PausedBy::Terminal, ..Pause::default() });
        }
        _ => {}
    }
    let mut record = Record {
        version: 1,
        kind,
        session: session.to_owned(),
        about: pin.about.clone(),
        armed_at: pin.armed_at,
        armed_by: pin.armed_by.clone(),
        ..record
    };
    if let Some(contract) = contract {
        let known = record.assignment.take().map(|known| *known).unwrap_or_default();
        let checked = known.checked.clone();
        let armed = assignment.unwrap_or(known);
        record.assignment = Some(Box::new(Assignment { contract, checked, ..armed }));
        record.armed = Some(Box::new(pin));
    } else {
        pin.feature_folder().clone_into(&mut record.folder);
        (record.had_list, record.asked) = (true, pin.asked);
    }
    Ok(Some(record))
}

fn taken<T: DeserializeOwned>(pin: &mut Pin, name: &str) -> Option<T> {
    // The same types are read from bytes elsewhere: code that reads them from a `Value` would double theirs.
    let bytes = serde_json::to_vec(&pin.more.shift_remove(name)?).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Iterations noted for the loop armed at this time; a lost note lowers the number.
fn counted(path: &Path, armed_at: WallTime) -> u32 {
    let noted = read::read(path, MOST).ok();
    let marks = noted.and_then(|noted| {
        let rest = noted.bytes.strip_prefix(format!("{armed_at}\n").as_bytes())?;
        Some(rest.len() / ".\n".len())
    });
    marks.map_or(0, |marks| u32::try_from(marks).unwrap_or(u32::MAX))
}
