//! Ends a program with every process that it started.
//!
//! Each program has its own job. A process that runs one program at a time is in an outer job. The outer job holds
//! children that started before the program entered its own job, and ends them all when this process is killed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::job::{self, Job};
use crate::system::processes;
use crate::world::{self, Deadline};

/// How long a family is killed for, round after round.
const KILLING: Duration = Duration::from_secs(5);
const ROUND: Duration = Duration::from_millis(5);

/// This process runs one program at a time.
static ALONE: AtomicBool = AtomicBool::new(false);

/// Declares that this process runs one program at a time, and that all below it belongs to that program.
pub fn alone() {
    ALONE.store(true, Ordering::Relaxed);
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedProcesses {
    pub ended: BTreeSet<u32>,
    /// The processes that survived.
    pub alive: BTreeSet<u32>,
}

/// The job of this process, if it runs one program at a time.
pub fn own_job() -> Option<&'static Job> {
    if ALONE.load(Ordering::Relaxed) { job::own() } else { None }
}

/// Ends all descendants of this process, if it runs one program at a time.
pub fn end_descendants() -> EndedProcesses {
    let mut rest = EndedProcesses::default();
    let Some(own) = own_job() else { return rest };
    let killing = Deadline::after(KILLING);
    loop {
        let mut members = own.members();
        members.remove(&std::process::id());
        if members.is_empty() || killing.is_over() {
            rest.alive = members;
            return rest;
        }
        for id in &members {
            processes::end(*id);
        }
        rest.ended.extend(members);
        world::pause(ROUND);
    }
}

/// Nothing outlives its runner here.
pub fn end_marked(_: &str, _: &str) -> EndedProcesses {
    EndedProcesses::default()
}
