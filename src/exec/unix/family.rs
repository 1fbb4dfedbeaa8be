//! A program with all that it starts: who lives, and their end.
//!
//! A process that runs one program at a time adopts every orphan below it, so all its descendants belong to the
//! program. Elsewhere (in tests, on macOS) the family is the program's process group and, on Linux, every process with
//! the program's mark in its environment.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::tree::{self, Process};
use crate::world::{self, Deadline};

/// Marks the members that left the group, where orphans are not adopted.
const MARK: &str = "RALPH_FAMILY";
/// The grace of a family's remains.
const LEAVING: Duration = Duration::from_millis(200);
/// How long a family is killed for, round after round.
const KILLING: Duration = Duration::from_secs(5);
const ROUND: Duration = Duration::from_millis(5);
/// The parent of no process.
pub const NOBODY: i32 = -1;

/// One of [`SHARED`], [`ALONE`], [`ADOPTS`].
static PARENT: AtomicU8 = AtomicU8::new(SHARED);
/// Several programs may run at once: one orphan looks like another.
const SHARED: u8 = 0;
/// One program runs at a time; none has run yet.
const ALONE: u8 = 1;
/// Every orphan below this process is its child.
const ADOPTS: u8 = 2;

/// Declares that this process runs one program at a time: every process below it belongs to that program.
pub fn alone() {
    PARENT.store(ALONE, Ordering::Relaxed);
}

/// Adopts orphans where possible; returns whether this process does.
pub fn adopts() -> bool {
    if PARENT.load(Ordering::Relaxed) == ALONE {
        // A shell may have started children before it became this program; they are not ours to end.
        let adopts = !has_children() && adopt_orphans();
        PARENT.store(if adopts { ADOPTS } else { SHARED }, Ordering::Relaxed);
    }
    PARENT.load(Ordering::Relaxed) == ADOPTS
}

/// `false` where the system cannot do that.
#[cfg(target_os = "linux")]
pub fn adopt_orphans() -> bool {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub fn adopt_orphans() -> bool {
    false
}

/// Runs `start` without adopting orphans: whatever it leaves running is then not below this process. No program may run
/// meanwhile.
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

/// Counts dead children, too.
fn has_children() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, look), Err(rustix::io::Errno::CHILD))
}

/// Reaps dead children.
fn bury() {
    use rustix::process::{WaitOptions, wait};
    while matches!(wait(WaitOptions::NOHANG), Ok(Some(_)) | Err(rustix::io::Errno::INTR)) {}
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedProcesses {
    pub ended: BTreeSet<i32>,
    /// The processes that survived.
    pub alive: BTreeSet<i32>,
}

/// Ends processes: waits `settling`, asks the rest, and kills whoever lives after `leaving`, round after round, since a
/// process may have just started another one. Returns whoever had to be ended.
///
/// `living` waits at most that long for a change and lists the living; `None` when all is over.
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

/// Ends all descendants of this process, where it adopts orphans.
///
/// No caller may wait for a child's exit status meanwhile.
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

/// Kills every process with this variable in its environment, and all its descendants, as far as the system tells.
pub fn end_marked(name: &str, value: &str) -> EndedProcesses {
    let own = i32::try_from(std::process::id()).unwrap_or(NOBODY);
    end_all(Duration::ZERO, Duration::ZERO, &mut |patience| {
        world::pause(patience);
        let all = tree::all();
        let marked =
            all.iter().map(|process| process.id).filter(|id| tree::has_variable(*id, name, value));
        let mut members = tree::members(&all, NOBODY, None, &marked.collect());
        // A runner that the other one's agent started carries the variable, too.
        members.remove(&own);
        (!members.is_empty()).then_some(members)
    })
}

/// The processes of one program.
#[derive(Debug)]
pub struct Family {
    /// The program, in its own process group; `None` under a supervisor.
    pub leader: Option<Pid>,
    /// The members' mark in the environment; empty where orphans are adopted.
    mark: String,
    /// Members seen so far, where neither group nor mark tells.
    seen: BTreeSet<i32>,
}

impl Family {
    /// Prepares `command` for its start.
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
            // A group may have gone already.
            let _ = kill_process_group(leader, Signal::TERM);
        }
    }

    pub fn kill(&self) {
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }

    /// Notes the members while parents and children still hang together.
    pub fn note(&mut self) {
        if !cfg!(target_os = "linux") {
            self.seen = self.living();
        }
    }

    /// Ends the rest after the program itself: asks first, then kills.
    pub fn end(&self) {
        if self.mark.is_empty() {
            end_descendants();
            return;
        }
        if !cfg!(target_os = "linux") && self.seen.is_empty() {
            // Listing all processes takes another program there.
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
        known.extend(all.iter().filter(|member| self.is_marked(member)).map(|member| member.id));
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
