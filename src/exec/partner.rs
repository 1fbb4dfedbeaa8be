//! Proves that the runner in the environment has really started this process.

use crate::world;

/// The most ancestors that are looked at.
#[cfg(target_os = "linux")]
const GENERATIONS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunnerProof {
    /// The environment names no runner.
    None,
    /// The process id of the runner above this process.
    Proven(u32),
    /// The environment names this runner, but it does not exist or has not started this process.
    Unproven(String),
}

/// The supervisor's name in the system's list of processes.
///
/// Hooks and runners of other versions look for this name, so it never changes.
#[cfg(unix)]
pub fn supervisor_name(runner: u32) -> String {
    format!("spool-keeper of {runner}")
}

/// The runner (`spool ralph`) above this process, which alone decides when the work is done.
///
/// A variable proves nothing: anybody can set it, and a process may outlive its runner. The proof is an ancestor of
/// this process: a supervisor that the runner has started from its own program. Where the system lists no ancestors
/// (macOS), a live process with the runner's id is enough.
pub fn runner() -> RunnerProof {
    let Some(named) = world::variable(world::RUNNER) else { return RunnerProof::None };
    match named.parse().ok().filter(|id| *id > 1 && has_started_this(*id)) {
        Some(id) => RunnerProof::Proven(id),
        None => RunnerProof::Unproven(named),
    }
}

/// An agent of a proven [`runner`] has started this process.
pub fn in_run() -> bool {
    matches!(runner(), RunnerProof::Proven(_))
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
