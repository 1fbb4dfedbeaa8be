//! Signals that somebody above these tests ignores (`nohup cargo test`, a job in the background): what is
//! ignored here would be ignored by every program that a test starts, and a test that sends one would wait
//! for ever.

#[cfg(unix)]
use std::sync::{Arc, Once};

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// Has the programs that are started from now on hear all signals, as they do.
#[cfg(windows)]
pub fn hear_all_signals() {}

/// Has the programs that are started from now on hear all signals.
#[cfg(unix)]
pub fn hear_all_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
        let ignored = u64::from_str_radix(mask.trim(), 16).unwrap();
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            if ignored >> (signal - 1) & 1 == 1 {
                // What is caught here is as it was at first in a program that is started.
                signal_hook::flag::register(signal, Arc::default()).unwrap();
            }
        }
    });
}
