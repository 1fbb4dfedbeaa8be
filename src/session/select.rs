//! The loops of a project that live.

use crate::store::loops::{Loops, Record};
use crate::store::names::LoopKind;
use crate::store::pins::Pin;

/// The live loops of a project, by session. A feature's loop lives only where its pin says so.
pub fn live(loops: &Loops) -> Vec<Record> {
    let lives = |record: &Record| record.ledger.is_live() && drives(loops, record);
    loops.records().filter(lives).collect()
}

/// True if this session still owns the loop. A feature's pin decides; a missing or unreadable pin counts as yes.
pub fn drives(loops: &Loops, record: &Record) -> bool {
    let is_its = |pin: Pin| pin.is_live_in(&record.session);
    record.kind == LoopKind::Task || loops.pin(&record.about).ok().flatten().is_none_or(is_its)
}
