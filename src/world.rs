//! The one door through which clock and environment come in.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A time of the wall clock, in milliseconds since the Unix epoch; the default, 0, is one that is not known.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct WallTime(u64);

impl WallTime {
    /// Returns the time this many milliseconds after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the time this many seconds after the Unix epoch.
    #[cfg(feature = "cli")]
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Returns the milliseconds since the Unix epoch.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// Returns whether it is known.
    pub const fn is_known(self) -> bool {
        self.0 > 0
    }

    /// Returns how long it is after another one; zero where it is before it.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// Returns the time this long after it.
    #[must_use]
    pub fn after(self, length: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(length.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Returns how long ago it was; zero where it is still to come.
    pub fn age(self) -> Duration {
        now().since(self)
    }
}

/// A time before the epoch is one that is not known.
impl From<SystemTime> for WallTime {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// A time by the clock that the files have, in nanoseconds since the Unix epoch; the default, 0, is one that is not
/// known. It cannot be compared with one of the wall clock.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct FileTime(u64);

impl FileTime {
    /// Returns the time with these seconds and nanoseconds since the Unix epoch, as the system has them.
    pub fn of(seconds: impl TryInto<u64>, rest: impl TryInto<u64>) -> Self {
        let seconds: u64 = seconds.try_into().unwrap_or_default();
        let rest = rest.try_into().unwrap_or_default();
        Self(seconds.saturating_mul(1_000_000_000).saturating_add(rest))
    }

    /// Returns whether it is known.
    pub const fn is_known(self) -> bool {
        self.0 > 0
    }

    /// Returns the time this long after it.
    #[must_use]
    pub fn after(self, length: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// Returns the first time after it.
    #[must_use]
    pub fn next(self) -> Self {
        if self.is_known() { Self(self.0.saturating_add(1)) } else { self }
    }

    /// Returns whether it is at least this long before a time of the wall clock. The two may differ, so that this is a guess: for
    /// what is slower without it, and hardly wrong with it.
    pub fn seems_before(self, at: WallTime, by: Duration) -> bool {
        self.is_known() && u128::from(self.0) + by.as_nanos() <= u128::from(at.0) * 1_000_000
    }

    /// Returns the nanoseconds since the Unix epoch, 0 for one that is not known.
    pub const fn nanoseconds(self) -> u64 {
        self.0
    }

    /// Returns how far it is from another one, in either direction.
    pub const fn distance(self, other: Self) -> Duration {
        Duration::from_nanos(self.0.abs_diff(other.0))
    }
}

/// Returns the time now.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn now() -> WallTime {
    SystemTime::now().into()
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

/// The variable that names the person's folder.
pub const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// Returns the person's own folder, `None` where the environment names none.
pub fn home() -> Option<PathBuf> {
    folder(HOME).or_else(|| folder("HOME"))
}

/// Returns a folder named by an environment variable, `None` when it is not an absolute path.
pub fn folder(name: &str) -> Option<PathBuf> {
    raw_variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Names the process of the runner (`spool ralph`) that started an agent program, in all that this one starts.
pub const RUNNER: &str = "RALPH_RUNNER";

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
