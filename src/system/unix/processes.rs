//! Processes as others see them.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Returns whether there is a process with this id.
pub fn is_alive(id: u32) -> bool {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    id.is_some_and(|id| !matches!(test_kill_process(id), Err(Errno::SRCH)))
}

/// Returns the id of the process that started this one.
pub fn parent_id() -> u32 {
    std::os::unix::process::parent_id()
}

/// Returns whether this process may do everything, as root may.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Continues a process that was suspended with Ctrl-Z.
pub fn wake(id: u32) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // One that has left in the meantime needs no waking.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::CONT);
    }
}
