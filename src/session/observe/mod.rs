//! Gathering: one stop as an observation for the engine. What both kinds of loops share is here.

pub mod feature;
pub mod task;

use crate::engine::Waiting;
use crate::hosts::claude::input::Event;
use crate::hosts::claude::transcript::lag::TurnEnd;
use crate::session::end::cancel::ends;
use crate::store::loops::Record;

/// Returns the end of this turn, as the transcript has to show it.
pub fn turn_end<'a>(event: &'a Event, record: &Record) -> TurnEnd<'a> {
    TurnEnd { told: event.last_message(), armed_at: record.armed_at, after: record.seen_at }
}

/// Returns the wait for a command that ends this loop: a person typed it while the agent worked, and
/// the client keeps it until the turn is over. A loop that held the turn would keep it waiting for ever.
pub fn typed_cancel(typed: &[String], record: &Record) -> Option<Waiting> {
    let cancel = typed.iter().find(|typed| ends(typed, record))?;
    Some(Waiting::Typed(cancel.trim().to_owned()))
}
