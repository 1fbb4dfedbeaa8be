//! The one door for clock and environment.

use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

#[cfg(feature = "cli")]
pub use self::watch::{notice_standstills, standstill};

/// Wall clock, in milliseconds since the Unix epoch. 0, the default, is unknown.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct WallTime(u64);

impl WallTime {
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Since the Unix epoch.
    pub const fn millis(self) -> u64 {
        self.0
    }

    pub const fn is_known(self) -> bool {
        self.0 > 0
    }

    /// Zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    pub fn after(self, length: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(length.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Zero for a time to come.
    pub fn age(self) -> Duration {
        now().since(self)
    }
}

/// A time before the epoch is unknown.
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

/// The files' clock, in nanoseconds since the Unix epoch. 0, the default, is unknown. The two clocks cannot be
/// compared.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct FileTime(u64);

impl FileTime {
    /// Since the Unix epoch, as the system counts.
    pub fn of(seconds: impl TryInto<u64>, rest: impl TryInto<u64>) -> Self {
        let seconds: u64 = seconds.try_into().unwrap_or_default();
        let rest = rest.try_into().unwrap_or_default();
        Self(seconds.saturating_mul(1_000_000_000).saturating_add(rest))
    }

    pub const fn is_known(self) -> bool {
        self.0 > 0
    }

    pub fn after(self, length: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// The next nanosecond.
    pub fn next(self) -> Self {
        if self.is_known() { Self(self.0.saturating_add(1)) } else { self }
    }

    /// A guess, since the clocks may differ. A wrong guess may only cost time.
    pub fn seems_before(self, at: WallTime, by: Duration) -> bool {
        self.is_known() && u128::from(self.0) + by.as_nanos() <= u128::from(at.0) * 1_000_000
    }

    /// Since the Unix epoch; 0 if unknown.
    pub const fn nanoseconds(self) -> u64 {
        self.0
    }

    /// In either direction.
    pub const fn distance(self, other: Self) -> Duration {
        Duration::from_nanos(self.0.abs_diff(other.0))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn now() -> WallTime {
    static STOPPED: OnceLock<WallTime> = OnceLock::new();
    match test_clock() {
        Some(text) if text == "stop" => *STOPPED.get_or_init(|| SystemTime::now().into()),
        _ => SystemTime::now().into(),
    }
}

/// `None` if the variable is missing, empty or not UTF-8.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// `None` if the variable is missing.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn raw_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Names the person's home folder.
pub const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

pub fn home() -> Option<PathBuf> {
    folder(HOME).or_else(|| folder("HOME"))
}

/// The folder in an environment variable; `None` if the value is no absolute path.
pub fn folder(name: &str) -> Option<PathBuf> {
    raw_variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Names the runner's process (`spool ralph`) to an agent program and all its children.
pub const RUNNER: &str = "RALPH_RUNNER";

/// Only names in UTF-8.
pub fn names_of_variables() -> Vec<String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect()
}

/// `None` if the folder is gone.
pub fn current_folder() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// Stays where the folder cannot be entered.
pub fn stand_in(folder: &std::path::Path) {
    let _stays = std::env::set_current_dir(folder);
}

/// The running program's path; `None` if the system does not tell.
pub fn program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// A limit. In a program built for tests the environment may set other milliseconds.
pub fn limit(name: &str, usual: Duration) -> Duration {
    let set = if cfg!(debug_assertions) { variable(name) } else { None };
    set.and_then(|text| text.parse().ok()).map_or(usual, Duration::from_millis)
}

/// A test's change of the clocks, in a program built for tests. The file named by `RALPH_TEST_CLOCK` has the
/// milliseconds that the clock of limits is ahead, so that hours pass without a wait; or `stop`, and both clocks stand
/// still.
#[expect(clippy::disallowed_methods, reason = "this is the door; the file is the test's own")]
fn test_clock() -> Option<String> {
    let file = if cfg!(debug_assertions) { folder("RALPH_TEST_CLOCK") } else { None };
    let mut text = String::new();
    std::fs::File::open(file?).ok()?.take(32).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The system's clock behind all limits.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn instant() -> Instant {
    static STOPPED: OnceLock<Instant> = OnceLock::new();
    match test_clock() {
        None => Instant::now(),
        Some(text) if text == "stop" => *STOPPED.get_or_init(Instant::now),
        Some(text) => Instant::now() + Duration::from_millis(text.parse().unwrap_or_default()),
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn pause(length: Duration) {
    std::thread::sleep(length);
}

/// The clock of limits. It does not follow the wall clock. After [`notice_standstills`] it stands still while the
/// machine sleeps and while this process is stopped.
#[cfg(feature = "cli")]
fn moment() -> Instant {
    watch::now_without_standstills()
}

/// The clock of limits. It does not follow the wall clock.
#[cfg(not(feature = "cli"))]
fn moment() -> Instant {
    instant()
}

/// Runs by the clock of limits.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    start: Instant,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self { start: moment() }
    }

    pub fn elapsed(&self) -> Duration {
        moment().saturating_duration_since(self.start)
    }

    pub fn millis(&self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Runs by the clock of limits.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    end: Instant,
}

impl Deadline {
    pub fn after(length: Duration) -> Self {
        Self { end: moment() + length }
    }

    /// Zero when the limit has passed.
    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(moment())
    }

    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }
}

#[cfg(feature = "cli")]
mod watch {
    //! Reads the clocks for `standstill`, from the first call of [`notice_standstills`] on.

    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex, OnceLock, PoisonError};
    use std::time::{Duration, Instant};

    use super::instant;
    use crate::standstill::ClockLooks;

    /// The watch of this process.
    struct StandstillWatch {
        began: Instant,
        was_continued: Arc<AtomicBool>,
        looks: Mutex<ClockLooks>,
    }

    static WATCH: OnceLock<StandstillWatch> = OnceLock::new();

    /// Watches for sleep of the machine and stops of this process, until the process ends. The caller sets the flag
    /// whenever the process is continued.
    pub fn notice_standstills() -> Arc<AtomicBool> {
        let watch = WATCH.get_or_init(|| StandstillWatch {
            began: instant(),
            was_continued: Arc::default(),
            looks: Mutex::default(),
        });
        watch.look(instant());
        Arc::clone(&watch.was_continued)
    }

    /// The time that the clock counted while everything stood still, since the first call of [`notice_standstills`].
    pub fn standstill() -> Duration {
        WATCH.get().map_or(Duration::ZERO, |watch| watch.look(instant()))
    }

    /// The current time of a clock that skips standstills.
    pub fn now_without_standstills() -> Instant {
        let now = instant();
        let Some(watch) = WATCH.get() else { return now };
        now.checked_sub(watch.look(now)).unwrap_or(now)
    }

    impl StandstillWatch {
        fn look(&self, now: Instant) -> Duration {
            let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
            let now = now.saturating_duration_since(self.began);
            looks.take(now, self.was_continued.swap(false, Ordering::Relaxed));
            // In units of 100 nanoseconds.
            #[cfg(windows)]
            if let Ok(awake) = winsafe::QueryUnbiasedInterruptTime() {
                looks.compare(Duration::from_nanos(awake.saturating_mul(100)), now);
            }
            looks.standstill
        }
    }
}
