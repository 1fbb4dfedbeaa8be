//! Who is above this process: whether the runner that its environment names has really started it.

use crate::world;

/// The most ancestors that are looked at.
#[cfg(target_os = "linux")]
const GENERATIONS: usize = 64;

/// What the environment says of a runner, and what is true of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunnerProof {
    /// It names none.
    None,
    /// The runner with this process id has started what this process is a part of.
    Proven(u32),
    /// It names this one, which is no runner, or has not started this process.
    Unproven(String),
}

/// Returns the name of the supervisor of the runner with this process id, as the system lists it.
///
/// Hooks and runners of other versions look for it, so it keeps the name that it had in the first one.
#[cfg(unix)]
pub fn supervisor_name(runner: u32) -> String {
    format!("spool-keeper of {runner}")
}

/// Returns the runner (`spool ralph`) that this process is a part of: it decides when the work is done,
/// and nobody else.
///
/// A variable alone proves nothing: somebody may have set it, and what an agent left may remember a runner
/// that is long gone. The proof is an ancestor of this process, a supervisor, that the runner has started from
/// its own program. Where the system does not list ancestors (macOS), a process of that id is enough.
pub fn runner() -> RunnerProof {
    let Some(named) = world::variable(world::RUNNER) else { return RunnerProof::None };
    match named.parse().ok().filter(|id| *id > 1 && has_started_this(*id)) {
        Some(id) => RunnerProof::Proven(id),
        None => RunnerProof::Unproven(named),
    }
}

#[cfg(target_os = "linux")]
fn has_started_this(runner: u32) -> bool {
    use super::tree::{self, Process};
    let wanted = supervisor_name(runner);
    let mut id = i32::try_from(std::process::id()).unwrap_or(0);
    for _ in 0..GENERATIONS {
        let Some(Process { parent, .. }) = tree::process(id) else { return false };
        if u32::try_from(parent) == Ok(runner) {
            return tree::name(id).as_deref() == Some(wanted.as_str())
                && tree::run_the_same_program(id, parent);
        }
        id = parent;
    }
    false
}

#[cfg(windows)]
fn has_started_this(runner: u32) -> bool {
    super::tree::descends_from(runner)
}

#[cfg(not(any(target_os = "linux", windows)))]
fn has_started_this(runner: u32) -> bool {
    crate::system::processes::is_alive(runner)
}
