//! A program with everything that it starts: what of it is alive, and its end.
//!
//! Where this process runs one program at a time, it becomes the parent of every orphan below it, and
//! whatever descends from it belongs to the program. Elsewhere (in tests, on macOS) the family is the
//! program's process group and, on Linux, all that carry its mark in their environment.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::tree::{self, Process};
use crate::world::{self, Deadline};

/// The variable by which a process that left the group is known, where orphans are not adopted.
const MARK: &str = "RALPH_FAMILY";
/// How long what is left of a family has to leave when asked.
const LEAVING: Duration = Duration::from_millis(200);
/// How long a family is killed for, round after round.
const KILLING: Duration = Duration::from_secs(5);
/// Time between two rounds.
const ROUND: Duration = Duration::from_millis(5);
/// The parent of no process.
pub const NOBODY: i32 = -1;

/// Whether this process adopts orphans: [`SHARED`], [`ALONE`], [`ADOPTS`].
static PARENT: AtomicU8 = AtomicU8::new(SHARED);
/// Several programs may be run at once: one orphan looks like another.
const SHARED: u8 = 0;
/// One program is run at a time, and none has been yet.
const ALONE: u8 = 1;
/// Every orphan below this process is its child.
const ADOPTS: u8 = 2;

/// Says that this process runs one program at a time, and that all below it is that program's.
pub fn alone() {
    PARENT.store(ALONE, Ordering::Relaxed);
}

/// Returns whether this process is the parent of every orphan below it; makes it so where it can be.
pub fn adopts() -> bool {
    if PARENT.load(Ordering::Relaxed) == ALONE {
        // What a shell had started before it became this program is not ours to end.
        let adopts = !has_children() && adopt_orphans();
        PARENT.store(if adopts { ADOPTS } else { SHARED }, Ordering::Relaxed);
    }
    PARENT.load(Ordering::Relaxed) == ADOPTS
}

/// Makes this process the parent of every orphan among its descendants; returns whether it is now.
#[cfg(target_os = "linux")]
pub fn adopt_orphans() -> bool {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub fn adopt_orphans() -> bool {
    false
}

/// Does something, and returns what came of it, while what is orphaned below this process is not adopted: what it leaves
/// running is not below this process then. No program may run meanwhile.
pub fn apart<T>(start: impl FnOnce() -> T) -> T {
    let adopts = PARENT.load(Ordering::Relaxed) == ADOPTS;
    if adopts {
        let_orphans_go();
    }
    let came = start();
    if adopts {
        adopt_orphans();
    }
    came
}

#[cfg(target_os = "linux")]
fn let_orphans_go() {
    let _ = rustix::process::set_child_subreaper(None);
}

#[cfg(not(target_os = "linux"))]
fn let_orphans_go() {}

/// Whether this process has a child, dead or alive.
fn has_children() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, look), Err(rustix::io::Errno::CHILD))
}

/// Takes note of the dead among the children.
fn bury() {
    use rustix::process::{WaitOptions, wait};
    while matches!(wait(WaitOptions::NOHANG), Ok(Some(_)) | Err(rustix::io::Errno::INTR)) {}
}

/// What became of the processes that had to be ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedProcesses {
    /// All of them, by their ids.
    pub ended: BTreeSet<i32>,
    /// Those that are alive all the same.
    pub alive: BTreeSet<i32>,
}

/// Ends processes: those that have not left by themselves after `settling` are asked, and killed once `leaving` is over as
/// well, round after round, for what is ended may have just started something. Returns which had to be ended.
///
/// `living` waits for a change, at most as long as it is told, and says which are alive; `None` when all is over.
pub fn end_all(
    settling: Duration,
    leaving: Duration,
    living: &mut dyn FnMut(Duration) -> Option<BTreeSet<i32>>,
) -> EndedProcesses {
    let leaving = settling + leaving;
    let killing = Deadline::after(leaving + KILLING);
    let (settling, leaving) = (Deadline::after(settling), Deadline::after(leaving));
    let (mut ended, mut patience) = (BTreeSet::new(), Duration::ZERO);
    loop {
        let Some(members) = living(patience) else {
            return EndedProcesses { ended, alive: BTreeSet::new() };
        };
        if killing.is_over() {
            return EndedProcesses { ended, alive: members };
        }
        if leaving.is_over() {
            tree::signal(&members, Signal::KILL);
        } else if settling.is_over() {
            tree::signal(members.difference(&ended), Signal::TERM);
        }
        if settling.is_over() {
            ended.extend(members);
        }
        patience = ROUND;
    }
}

/// Ends everything that descends from this process, where it adopts orphans; returns what that was.
///
/// Only to be called while no child is expected to report how it ended.
pub fn end_descendants() -> EndedProcesses {
    if !adopts() {
        return EndedProcesses::default();
    }
    let own = rustix::process::getpid().as_raw_nonzero().get();
    end_all(Duration::ZERO, LEAVING, &mut |patience| {
        world::pause(patience);
        bury();
        has_children().then(|| tree::members(&tree::all(), own, None, &BTreeSet::new()))
    })
}

/// Kills everything that carries this variable in its environment, and what descends from it, as far as
/// the system tells; returns what that was.
pub fn end_marked(name: &str, value: &str) -> EndedProcesses {
    let own = i32::try_from(std::process::id()).unwrap_or(NOBODY);
    end_all(Duration::ZERO, Duration::ZERO, &mut |patience| {
        world::pause(patience);
        let all = tree::all();
        let marked = all.iter().map(|it| it.id).filter(|id| tree::has_variable(*id, name, value));
        let mut members = tree::members(&all, NOBODY, None, &marked.collect());
        // A runner that an agent of the other one has started would carry it too.
        members.remove(&own);
        (!members.is_empty()).then_some(members)
    })
}

/// The processes of one program.
#[derive(Debug)]
pub struct Family {
    /// The program, in a process group of its own; `None` when a supervisor runs it.
    pub leader: Option<Pid>,
    /// What they carry in their environment, empty where orphans are adopted.
    mark: String,
    /// Processes that were seen to belong to it, where neither helps.
    seen: BTreeSet<i32>,
}

impl Family {
    /// Returns the family of what `command` is about to start.
    pub fn of(command: &mut Command) -> Self {
        let mark = if adopts() { String::new() } else { unique() };
        if !mark.is_empty() {
            command.env(MARK, &mark);
        }
        Self { leader: None, mark, seen: BTreeSet::new() }
    }

    /// Asks the program and its group to end.
    pub fn ask(&self) {
        if let Some(leader) = self.leader {
            // A group that has gone already is no error.
            let _ = kill_process_group(leader, Signal::TERM);
        }
    }

    /// Kills the program and its group.
    pub fn kill(&self) {
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }

    /// Notes who belongs to it while parents and children still hang together.
    pub fn note(&mut self) {
        if !cfg!(target_os = "linux") {
            self.seen = self.living();
        }
    }

    /// Ends all that is left once the program itself has: asked first, then without asking.
    pub fn end(&self) {
        if self.mark.is_empty() {
            end_descendants();
            return;
        }
        if !cfg!(target_os = "linux") && self.seen.is_empty() {
            // A list of all processes is the work of another program there.
            self.ask();
            self.kill();
            return;
        }
        end_all(Duration::ZERO, LEAVING, &mut |patience| {
            world::pause(patience);
            let living = self.living();
            (!living.is_empty()).then_some(living)
        });
    }

    fn living(&self) -> BTreeSet<i32> {
        let all = tree::all();
        let group = self.leader.map(|leader| leader.as_raw_nonzero().get());
        let group = group
            .filter(|_| self.leader.is_some_and(|leader| test_kill_process_group(leader).is_ok()));
        let mut known = self.seen.clone();
        known.extend(all.iter().filter(|it| self.is_marked(it)).map(|it| it.id));
        tree::members(&all, NOBODY, group, &known)
    }

    fn is_marked(&self, process: &Process) -> bool {
        tree::has_variable(process.id, MARK, &self.mark)
    }
}

fn unique() -> String {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    format!("{}-{run}-{}", std::process::id(), world::now())
}
