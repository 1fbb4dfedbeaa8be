//! Which loop in the sessions of a project is meant: the named session's, this session's, or the only one.

use crate::feature::project::printable;
use crate::refusal::Refusal;
use crate::store::loops::{Claim, Loops, Record};
use crate::store::names::LoopKind;

/// Which loops can be meant, as a message names them.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What they are: `loop`, or `ralph loop` where only those can be meant.
    pub noun: &'a str,
    /// How they are: `live` or `paused`.
    pub state: &'a str,
    /// The session that a person named.
    pub named: Option<&'a str>,
    /// The session in which it was asked.
    pub own: Option<&'a str>,
}

/// Returns the live loops of a project, by session. A feature's loop lives where its claim says so.
pub fn live(loops: &Loops) -> Vec<Record> {
    let mut records = records(loops);
    records.retain(|record| {
        record.ledger.is_live() && drives(loops.claim(&record.about).as_ref(), record)
    });
    records
}

/// Returns the live ralph loops of a project, by session.
pub fn live_ralph(loops: &Loops) -> Vec<Record> {
    let mut records = records(loops);
    records.retain(Record::is_live_ralph);
    records
}

fn records(loops: &Loops) -> Vec<Record> {
    loops.sessions().into_iter().filter_map(|session| loops.peek(&session)).collect()
}

/// Returns whether the loop is this record's: that of a feature is where its claim says.
pub fn drives(claim: Option<&Claim>, record: &Record) -> bool {
    record.kind == LoopKind::Task
        || claim.is_some_and(|claim| {
            claim.closed.is_none() && claim.session.as_ref() == Some(&record.session)
        })
}

/// Returns the one of these loops that is meant; an error that lists them where it could be several.
pub fn select(mut records: Vec<Record>, wanted: Wanted<'_>) -> Result<Record, Refusal> {
    let Wanted { noun, state, named, own } = wanted;
    if let Some(session) = named {
        records.retain(|record| record.session == session);
    } else if let Some(own) = records.iter().find(|record| Some(record.session.as_str()) == own) {
        return Ok(own.clone());
    }
    match (records.len(), named) {
        (1, _) => Ok(records.remove(0)),
        (0, Some(session)) => Err(Refusal::NoLoop(format!(
            "session `{}` has no {noun} here that is {state}",
            printable(session)
        ))),
        (0, None) => {
            let armed = match (noun, state) {
                ("loop", "live") => "; one that is only armed begins when a session stops",
                _ => "",
            };
            Err(Refusal::NoLoop(format!("no {noun} is {state} here{armed}")))
        }
        _ => {
            let line =
                |record: &Record| format!("{}  {}", record.session, printable(&record.about));
            let lines: Vec<_> = records.iter().map(line).collect();
            Err(Refusal::new(
                format!("several {noun}s are {state} here; name one with --session:"),
                lines.join("\n"),
            ))
        }
    }
}
