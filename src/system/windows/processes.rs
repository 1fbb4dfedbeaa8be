//! Processes as others see them.

use winsafe::{HPROCESS, HPROCESSLIST, co};

/// The exit code of a live process.
const STILL_ACTIVE: u32 = 259;

pub fn is_alive(id: u32) -> bool {
    match HPROCESS::OpenProcess(co::PROCESS::QUERY_LIMITED_INFORMATION, false, id) {
        Ok(process) => process.GetExitCodeProcess().is_ok_and(|code| code == STILL_ACTIVE),
        // A process that refuses access exists.
        Err(error) => id != 0 && error == co::ERROR::ACCESS_DENIED,
    }
}

/// By the system's own count.
pub fn start_of(id: u32) -> Option<u64> {
    let process = HPROCESS::OpenProcess(co::PROCESS::QUERY_LIMITED_INFORMATION, false, id).ok()?;
    let (start, ..) = process.GetProcessTimes().ok()?;
    Some(u64::from(start.dwHighDateTime) << 32 | u64::from(start.dwLowDateTime))
}

/// 0 where the system does not say.
pub fn parent_of(id: u32) -> u32 {
    let Ok(mut list) = HPROCESSLIST::CreateToolhelp32Snapshot(co::TH32CS::SNAPPROCESS, None) else {
        return 0;
    };
    let mut all = list.iter_processes().map_while(Result::ok);
    all.find(|process| process.th32ProcessID == id).map_or(0, |process| process.th32ParentProcessID)
}

/// 0 where the system does not say.
pub fn parent_id() -> u32 {
    parent_of(std::process::id())
}

/// Kills a process; it may have gone already.
pub fn end(id: u32) {
    if let Ok(process) = HPROCESS::OpenProcess(co::PROCESS::TERMINATE, false, id) {
        let _ = process.TerminateProcess(1);
    }
}

/// No program asks for root here.
pub fn is_root() -> bool {
    false
}

/// No terminal suspends a process here.
pub fn wake(_: u32) {}
