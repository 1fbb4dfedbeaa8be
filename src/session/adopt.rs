//! Adopts a loop whose session is gone: another session continues it with the same contract, ledger and notes.
//!
//! The new record is written first and has no effect yet. One write then moves the loop: the old record of a ralph
//! loop, or the pin of a feature's loop, names the new session. At every moment, also after a crash, exactly one
//! session owns the loop.

use std::fmt::Write;
use std::io;
use std::path::Path;

use crate::engine::{Demand, ended_by};
use crate::feature::project::{Project, printable};
use crate::feature::settings::Settings;
use crate::refusal::Refusal;
use crate::session::arm::replace;
use crate::session::arm::task::TASK_FILE;
use crate::session::messages::task as messages;
use crate::session::observe::count_open_turn;
use crate::session::view::FeatureView;
use crate::session::{life, pinned};
use crate::store::closing::{EndNotice, save_and_note};
use crate::store::journal::Entry;
use crate::store::loops::{Adopted, Loops, Record, SessionFolder};
use crate::store::names::{JournalEvent, LoopKind};
use crate::store::pins::PinKey;
use crate::store::read;
use crate::store::undo::Undo;
use crate::store::write::{Flush, write_private};
use crate::text::age;
use crate::world;

/// Bytes of a file that moves with the loop.
const MOST: u64 = 4 << 20;

#[derive(Clone, Copy, Debug)]
pub struct Adopter<'a> {
    pub session: &'a str,
    /// `None` if unknown.
    pub transcript: Option<&'a Path>,
    /// The loop's session, or the beginning of its id; `None` for the only loop left behind.
    pub from: Option<&'a str>,
    /// Takes the loop even if its session may still be alive.
    pub force: bool,
    /// Ends a live loop of the adopting session. Without this flag, such a loop refuses the adoption.
    pub replace: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The text for the agent.
    pub contract: String,
    /// The line for the person.
    pub line: String,
}

/// Moves a loop into the adopter's session. A refusal changes nothing.
pub fn adopt(project: &Project, adopter: Adopter<'_>) -> Result<Taken, Refusal> {
    Settings::to_arm(&project.root)?;
    let loops = Loops::of(&project.root);
    let from = meant(&loops, adopter)?;
    // Only the holder of the project's lock holds two sessions.
    let _lock = loops.lock()?;
    let old = loops.session(&from)?;
    let new = loops.session(adopter.session)?;
    let gone = || Refusal::NoLoop(format!("session {from} has no loop any more"));
    let record = old.record()?;
    let record = record.filter(|record| record.ledger.is_live()).ok_or_else(gone)?;
    // An unreadable pin cannot name the loop's owner: the error refuses the adoption.
    let is_feature = record.kind != LoopKind::Task;
    let pin = if is_feature { loops.pin(&record.about)? } else { None };
    if pin.as_ref().is_some_and(|pin| !pin.is_live_in(&record.session)) {
        return Err(gone());
    }
    if !adopter.force
        && let Some(refusal) = life::kept_from_others(&loops, &record)
    {
        return Err(refusal);
    }
    let own = new.record()?;
    // Refused means unchanged: until the loop has moved, a failure puts every file back.
    let mut undo = Undo::default();
    for path in [old.record_path(), new.record_path(), new.open_tasks_path(), new.path(TASK_FILE)] {
        undo.remember(&path)?;
    }
    let mut replaced = None;
    if let Some(own) = own.filter(|own| own.ledger.is_live()) {
        if !adopter.replace {
            return Err(messages::already_armed(&own));
        }
        replaced = Some(replace(&loops, &own, &mut undo)?);
    }
    let arrived = prepare(&old, &new, &record, adopter)?;
    let mut left = record;
    let words = format!("session {} took it over", adopter.session);
    left.end(ended_by(&Demand::Stopped), &words, EndNotice::AtNextStop);
    adopter.session.clone_into(&mut left.moved_to);
    if is_feature {
        undo.remember(&loops.pins().path(PinKey::Feature(&left.about)))?;
        loops.pins().take(&arrived)?;
    } else {
        old.save(&left)?;
    }
    // The loop has moved; the rest only tidies up.
    undo.keep();
    let tidied = tidy(&old, &new, &left, &arrived, replaced);
    let contract = contract(project, &arrived, &new);
    let (number, about) = (arrived.ledger.iterations, printable(&arrived.about));
    let mut line = format!("Loop taken over from session {from} at iteration {number}: {about}.");
    if let Err(error) = tidied {
        let _ = write!(line, " (Not all of it is in the journal: {error})");
    }
    Ok(Taken { contract, line })
}

/// Live loops of other sessions that are gone, or silent for an hour.
pub fn orphans(loops: &Loops) -> Vec<Record> {
    let live = loops.live_records().into_iter();
    live.filter(|record| is_left_behind(loops, record)).collect()
}

/// The loop's session is gone, or has been silent for an hour.
fn is_left_behind(loops: &Loops, record: &Record) -> bool {
    life::of(loops, record).leaves_behind(record)
}

fn meant(loops: &Loops, adopter: Adopter<'_>) -> Result<String, Refusal> {
    let mut candidates = loops.live_records();
    candidates.retain(|record| record.session != adopter.session);
    let is_left = |record: &Record| is_left_behind(loops, record);
    match adopter.from {
        Some(named) if named == adopter.session => {
            return Err(Refusal::NoLoop("this session has that loop already".to_owned()));
        }
        Some(named) => candidates.retain(|Record { session, .. }| {
            session == named || (named.len() >= 4 && session.starts_with(named))
        }),
        None if candidates.iter().any(is_left) => {
            candidates.retain(is_left);
        }
        None if !adopter.force && !candidates.is_empty() => {
            let next = "if one of them is really gone, name it and add --force:\n";
            return Err(Refusal::Kept(
                "no loop was left behind here: each is paused, or gave a sign of life within the last hour".into(),
                [next, &list(&candidates)].concat().into(),
            ));
        }
        None => {}
    }
    match candidates.as_slice() {
        [one] => Ok(one.session.clone()),
        [] => Err(Refusal::NoLoop(match adopter.from {
            Some(named) => {
                format!("no live loop belongs to a session `{}`", printable(named))
            }
            None => "no other session has a live loop here".to_owned(),
        })),
        several => Err(Refusal::new("several loops fit; name one:", list(several))),
    }
}

/// A line for a person for each loop.
pub fn list(records: &[Record]) -> String {
    let line = |record: &Record| {
        let silent = age(record.silent_for());
        format!("{}  {}  (silent for {silent})", record.session, printable(&record.about))
    };
    records.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Writes the files of the new session. They take effect when the loop leaves the old session.
fn prepare(
    old: &SessionFolder,
    new: &SessionFolder,
    record: &Record,
    adopter: Adopter<'_>,
) -> io::Result<Record> {
    new.note_tasks(&old.noted_tasks()?)?;
    let [from, to] = [old, new].map(|folder| folder.path(TASK_FILE));
    match read::read(&from, MOST) {
        Ok(content) => write_private(&to, &content.bytes, Flush::ToSystem)?,
        Err(read::Problem::Missing) => {}
        Err(problem) => {
            return Err(io::Error::other(format!("`{}`: {problem}", from.display())));
        }
    }
    let mut arriving = Record {
        session: adopter.session.to_owned(),
        let_go: 0,
        adopted: Some(Adopted {
            from: record.session.clone(),
            at: world::now(),
            ..Adopted::default()
        }),
        ..record.clone()
    };
    count_open_turn(&mut arriving);
    arriving.begin_behind(adopter.transcript);
    new.save(&arriving)?;
    Ok(arriving)
}

/// Notes the move in both sessions. An error here does not undo the move.
fn tidy(
    old: &SessionFolder,
    new: &SessionFolder,
    left: &Record,
    arrived: &Record,
    replaced: Option<Entry>,
) -> io::Result<()> {
    let noted = save_and_note(old, left, &left.end_entry())?;
    if let Some(replaced) = replaced {
        new.note(&replaced)?;
    }
    noted?;
    let words = format!("taken over from session {}, where its journal began", left.session);
    new.note(&arrived.entry(JournalEvent::Adopted, &words))
}

/// The text for the agent of the new session.
fn contract(project: &Project, record: &Record, folder: &SessionFolder) -> String {
    let from = record.adopted.as_ref().map_or("", |adopted| adopted.from.as_str());
    let at = record.ledger.iterations;
    let rules = if record.kind == LoopKind::Task {
        messages::start(record, folder)
    } else {
        let feature = project.feature_at(&record.folder).ok();
        feature.map_or_else(String::new, |feature| {
            let standing = pinned::standing(&project.root, record);
            let view = FeatureView::under(project, &feature, standing, Some(record));
            crate::session::messages::feature::reminder(&view.snapshot(), record, &view.standing)
        })
    };
    format!(
        "{rules}\n\nThis loop was taken over from session {from}, which is gone, at iteration {at}. Look at what is there already before you change it: a part of the work is done. `spool log` has every decision so far."
    )
}
