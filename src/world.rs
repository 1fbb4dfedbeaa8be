//! The one door through which clock and environment come in.

use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

#[cfg(feature = "cli")]
pub use self::watch::{notice_standstills, standstill};

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
    static STOPPED: OnceLock<WallTime> = OnceLock::new();
    match test_clock() {
        Some(text) if text == "stop" => *STOPPED.get_or_init(|| SystemTime::now().into()),
        _ => SystemTime::now().into(),
    }
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

/// Returns the folder that this program stands in, `None` where it is gone.
pub fn current_folder() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// Goes to a folder; stays where that cannot be.
pub fn stand_in(folder: &std::path::Path) {
    let _stays = std::env::set_current_dir(folder);
}

/// Returns the path of the running program, `None` where the system does not say.
pub fn program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// Returns a limit, or the milliseconds that a test has put in its place in the environment of a program that was built for tests.
pub fn limit(name: &str, usual: Duration) -> Duration {
    let set = if cfg!(debug_assertions) { variable(name) } else { None };
    set.and_then(|text| text.parse().ok()).map_or(usual, Duration::from_millis)
}

/// What a test does to the clocks of a program that was built for tests: in the file that `RALPH_TEST_CLOCK` names is how many
/// milliseconds the clock of all limits is ahead, so that hours pass without a wait, or `stop`, and both clocks stand still.
#[expect(clippy::disallowed_methods, reason = "this is the door; the file is the test's own")]
fn test_clock() -> Option<String> {
    let file = if cfg!(debug_assertions) { folder("RALPH_TEST_CLOCK") } else { None };
    let mut text = String::new();
    std::fs::File::open(file?).ok()?.take(32).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The clock of the system behind all limits.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn instant() -> Instant {
    static STOPPED: OnceLock<Instant> = OnceLock::new();
    match test_clock() {
        None => Instant::now(),
        Some(text) if text == "stop" => *STOPPED.get_or_init(Instant::now),
        Some(text) => Instant::now() + Duration::from_millis(text.parse().unwrap_or_default()),
    }
}

/// Waits for this long.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn pause(length: Duration) {
    std::thread::sleep(length);
}

/// Now, by the clock of all limits. It does not move with the wall clock, and where [`notice_standstills`] was called it stands
/// still while the machine sleeps and while this process is stopped.
#[cfg(feature = "cli")]
fn moment() -> Instant {
    watch::now_without_standstills()
}

/// Now, by the clock of all limits. It does not move with the wall clock.
#[cfg(not(feature = "cli"))]
fn moment() -> Instant {
    instant()
}

/// A clock that was set going; it does not move with the wall clock, and stands still as the clock of all limits does.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    start: Instant,
}

impl Stopwatch {
    /// Returns a clock that begins now.
    pub fn start() -> Self {
        Self { start: moment() }
    }

    /// Returns the time since its start.
    pub fn elapsed(&self) -> Duration {
        moment().saturating_duration_since(self.start)
    }
}

/// A time limit that was set going; it does not move with the wall clock, and stands still as the clock of all limits does.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    end: Instant,
}

impl Deadline {
    /// Returns a limit that ends this long from now.
    pub fn after(length: Duration) -> Self {
        Self { end: moment() + length }
    }

    /// Returns what is left of the limit, zero when it has passed.
    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(moment())
    }

    /// Returns whether the limit has passed.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }
}

#[cfg(feature = "cli")]
mod watch {
    //! What reads the clocks for `standstill`, from the first call of [`notice_standstills`] on.

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

    /// Begins to notice when the machine sleeps and when this process is stopped, as long as it lives. Returns the flag that has to
    /// be set whenever the process is continued.
    pub fn notice_standstills() -> Arc<AtomicBool> {
        let watch = WATCH.get_or_init(|| StandstillWatch {
            began: instant(),
            was_continued: Arc::default(),
            looks: Mutex::default(),
        });
        watch.look(instant());
        Arc::clone(&watch.was_continued)
    }

    /// Returns how much the clock of this process has counted although all stood still, since [`notice_standstills`] was called
    /// first; nothing before that.
    pub fn standstill() -> Duration {
        WATCH.get().map_or(Duration::ZERO, |watch| watch.look(instant()))
    }

    /// Returns now by a clock that has not counted what stood still.
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
