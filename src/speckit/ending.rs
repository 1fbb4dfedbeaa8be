//! Ending a feature's loop from outside of a stop: by a person, or by what the agent reports.

use std::io;

use super::project::{Feature, Project};
use crate::engine::{Contract, Ledger, Observation, TerminalReason, decide};
use crate::store::journal::Entry;
use crate::store::loops::{Claim, Loops, Record, Session, TERMINAL, is_session_id};
use crate::world;

/// Whether the person still has to be told at the next stop why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// The person ended it, or is being told right now.
    Done,
    /// The next stop of the session tells.
    AtNextStop,
}

/// Closes the claim on a feature and ends the record of the session that drives it, in that order.
///
/// `seen` says why, `session` is whose loop it is when nobody has claimed it yet. Returns the reason
/// that `decide` gave, `None` when the observation ends nothing or no loop lives.
pub fn end_loop(
    project: &Project,
    feature: &Feature,
    session: Option<&str>,
    seen: &Observation,
    telling: Telling,
) -> io::Result<Option<TerminalReason>> {
    let loops = Loops::of(&project.root);
    let _lock = loops.lock()?;
    let claim = loops.claim(&feature.name).unwrap_or_default();
    let owner = claim.session.clone().or_else(|| session.map(str::to_owned));
    let judged = decide(&Contract::default(), &Ledger::default(), seen);
    let Some(reason) = judged.ledger.ended else {
        return Ok(None);
    };
    if claim.closed.is_some() {
        return Ok(None);
    }
    loops.write_claim(&Claim {
        session: owner.clone(),
        about: feature.name.clone(),
        folder: feature.relative.clone(),
        closed: Some(reason.name().to_owned()),
        words: reason.to_string(),
        ..claim.clone()
    })?;
    let Some(owner) = owner.filter(|owner| is_session_id(owner)) else {
        loops.note(TERMINAL, &end_entry(&feature.name, 0, &reason, &reason.to_string()))?;
        return Ok(Some(reason));
    };
    let folder = match loops.session(&owner) {
        // The claim is closed: the stop that holds the session's folder, or the next one, sees it.
        Err(error)
            if reason == TerminalReason::Cancelled && error.kind() == io::ErrorKind::TimedOut =>
        {
            return Ok(Some(reason));
        }
        found => found?,
    };
    let record = folder.record()?.filter(|record| record.about == feature.name);
    let mut record = match record {
        Some(record) => record,
        // The agent speaks before its session has ever stopped: the loop is this session's.
        None => super::arm::new_record(&claim, &owner, "claim", None),
    };
    feature.name.clone_into(&mut record.about);
    feature.relative.clone_into(&mut record.folder);
    if record.ledger.is_live() {
        close_record(&folder, &mut record, &reason, &reason.to_string(), telling)?;
    }
    Ok(Some(reason))
}

/// Writes the end into a session's record and journal; the iteration count stays as it is.
pub fn close_record(
    folder: &Session,
    record: &mut Record,
    reason: &TerminalReason,
    words: &str,
    telling: Telling,
) -> io::Result<()> {
    record.ledger.ended = Some(reason.clone());
    record.untold = telling == Telling::AtNextStop;
    words.clone_into(&mut record.words);
    folder.save(record)?;
    folder.note(&end_entry(&record.about, record.ledger.iterations, reason, words))
}

fn end_entry(about: &str, iteration: u32, reason: &TerminalReason, words: &str) -> Entry {
    let event = if *reason == TerminalReason::Cancelled { "cancelled" } else { "ended" };
    Entry {
        at: world::now(),
        event: event.to_owned(),
        about: about.to_owned(),
        iteration,
        verdict: "end".to_owned(),
        reason: reason.name().to_owned(),
        words: words.to_owned(),
        ..Entry::default()
    }
}
