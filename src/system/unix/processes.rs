//! Processes as others see them.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

pub fn is_alive(id: u32) -> bool {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    id.is_some_and(|id| !matches!(test_kill_process(id), Err(Errno::SRCH)))
}

pub fn parent_id() -> u32 {
    std::os::unix::process::parent_id()
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Continues a process after Ctrl-Z.
pub fn wake(id: u32) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // The process may have left.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::CONT);
    }
}
