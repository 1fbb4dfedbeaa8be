//! Ending a feature's loop from outside of a stop: by a person, or by what the agent reports.

use std::io;

use super::project::{Feature, Project};
use crate::engine::{Contract, Ledger, Observation, TerminalReason, decide};
use crate::store::closing::{Telling, close_record, end_entry};
use crate::store::loops::{Claim, Loops, Record, TERMINAL, is_session_id};

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
    let claim = loops.read_claim(&feature.name)?.unwrap_or_default();
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
    let record = folder.record()?;
    if record.as_ref().is_some_and(Record::is_live_ralph) {
        // The session has gone on to a task of its own: that loop is another one.
        folder.note(&end_entry(&feature.name, 0, &reason, &reason.to_string()))?;
        return Ok(Some(reason));
    }
    let record = record.filter(|record| record.about == feature.name);
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
