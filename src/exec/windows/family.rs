//! A program with everything that it starts: its end.
//!
//! Each program is in a job of its own. Where this process runs one program at a time, it is in a job itself, so that what
//! a program started before it was in its own is found all the same, and so that all of it ends when this process is killed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::job::{self, Job};
use crate::system::processes;
use crate::world::{self, Deadline};

/// How long a family is killed for, round after round.
const KILLING: Duration = Duration::from_secs(5);
/// Time between two rounds.
const ROUND: Duration = Duration::from_millis(5);

/// Whether this process runs one program at a time.
static ALONE: AtomicBool = AtomicBool::new(false);

/// Says that this process runs one program at a time, and that all below it is that program's.
pub fn alone() {
    ALONE.store(true, Ordering::Relaxed);
}

/// What became of the processes that had to be ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedProcesses {
    /// All of them, by their ids.
    pub ended: BTreeSet<u32>,
    /// Those that are alive all the same.
    pub alive: BTreeSet<u32>,
}

/// The job of this process, where it runs one program at a time.
pub fn own_job() -> Option<&'static Job> {
    if ALONE.load(Ordering::Relaxed) { job::own() } else { None }
}

/// Ends everything that descends from this process, where it runs one program at a time; returns what that was.
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

/// Ends what carries this variable in its environment: nothing does that outlived its runner.
pub fn end_marked(_: &str, _: &str) -> EndedProcesses {
    EndedProcesses::default()
}
