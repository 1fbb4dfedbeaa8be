//! Processes as others see them.

use winsafe::{HPROCESS, HPROCESSLIST, co};

/// The exit code of a process that has not ended.
const STILL_ACTIVE: u32 = 259;

/// Returns whether there is a process with this id.
pub fn is_alive(id: u32) -> bool {
    match HPROCESS::OpenProcess(co::PROCESS::QUERY_LIMITED_INFORMATION, false, id) {
        Ok(process) => process.GetExitCodeProcess().is_ok_and(|code| code == STILL_ACTIVE),
        // One that may not be looked at is there.
        Err(error) => id != 0 && error == co::ERROR::ACCESS_DENIED,
    }
}

/// Returns when a process was started, by the system's own count; `None` where it does not say.
pub fn start_of(id: u32) -> Option<u64> {
    let process = HPROCESS::OpenProcess(co::PROCESS::QUERY_LIMITED_INFORMATION, false, id).ok()?;
    let (start, ..) = process.GetProcessTimes().ok()?;
    Some(u64::from(start.dwHighDateTime) << 32 | u64::from(start.dwLowDateTime))
}

/// Returns the id of the process that started a process, 0 where the system does not say.
pub fn parent_of(id: u32) -> u32 {
    let Ok(mut list) = HPROCESSLIST::CreateToolhelp32Snapshot(co::TH32CS::SNAPPROCESS, None) else {
        return 0;
    };
    let mut all = list.iter_processes().map_while(Result::ok);
    all.find(|it| it.th32ProcessID == id).map_or(0, |it| it.th32ParentProcessID)
}

/// Returns the id of the process that started this one, 0 where the system does not say.
pub fn parent_id() -> u32 {
    parent_of(std::process::id())
}

/// Ends a process without asking; one that has gone is no error.
pub fn end(id: u32) {
    if let Ok(process) = HPROCESS::OpenProcess(co::PROCESS::TERMINATE, false, id) {
        let _ = process.TerminateProcess(1);
    }
}

/// Returns whether this process may do everything: no program asks that here.
pub fn is_root() -> bool {
    false
}

/// Continues a process that was suspended: no terminal suspends one here.
pub fn wake(_: u32) {}
