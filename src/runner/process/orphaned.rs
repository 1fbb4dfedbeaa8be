//! How the next runner knows that the supervisor of a killed one is still there.

use crate::exec::{partner, tree};

/// Returns whether the runner with this process id has a supervisor that is still there.
pub fn has_supervisor(runner: u32) -> bool {
    tree::names().contains(&partner::supervisor_name(runner))
}
