//! The one door through which clock and environment come in.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Returns the time now, in milliseconds since the Unix epoch, 0 for a clock before it.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn now() -> u64 {
    millis(SystemTime::now())
}

/// Returns a time in milliseconds since the Unix epoch, 0 for one before it.
pub fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns an environment variable, `None` when it is missing, empty or not UTF-8.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns an environment variable as it is, `None` when it is missing.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn raw_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Returns a folder named by an environment variable, `None` when it is not an absolute path.
pub fn folder(name: &str) -> Option<PathBuf> {
    raw_variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Names the process of the runner (`spool ralph`) that started an agent program, in all that this one starts.
pub const RUNNER: &str = "RALPH_RUNNER";

/// Returns whether there is a process with this id.
#[cfg(unix)]
pub fn is_alive(id: u32) -> bool {
    let id = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw);
    id.is_some_and(|id| {
        !matches!(rustix::process::test_kill_process(id), Err(rustix::io::Errno::SRCH))
    })
}

/// Returns whether there is a process with this id; that is not known here.
#[cfg(not(unix))]
pub fn is_alive(_: u32) -> bool {
    true
}

/// Returns the names of all environment variables that are UTF-8.
pub fn names_of_variables() -> Vec<String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect()
}

/// Returns the path of the running program, `None` where the system does not say.
pub fn program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// Waits for this long.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn pause(length: Duration) {
    std::thread::sleep(length);
}

/// A clock that was set going; it does not move with the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    start: Instant,
}

impl Stopwatch {
    /// Returns a clock that begins now.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Returns the time since its start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A time limit that was set going; it does not move with the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    end: Instant,
}

impl Deadline {
    /// Returns a limit that ends this long from now.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn after(length: Duration) -> Self {
        Self { end: Instant::now() + length }
    }

    /// Returns what is left of the limit, zero when it has passed.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Returns whether the limit has passed.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }
}
