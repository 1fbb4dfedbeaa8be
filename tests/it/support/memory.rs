//! The peak memory of a process, as Linux tells it.

use std::fs;
use std::path::Path;

/// The peak memory in a copy of `/proc/ID/status`, in KiB.
pub fn peak_of(status: &Path) -> u64 {
    let status = fs::read_to_string(status).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}
