//! Time in which this process stood still, which no limit counts: the process was stopped (Ctrl-Z) and continued, or
//! the machine slept.
//!
//! On Linux and macOS the clock behind `Instant` stands still while the machine sleeps. On Windows that clock
//! continues, and a second clock of the system shows the sleep. While a process is stopped, the clock continues on
//! every system; the signal that continues the process tells. The wall clock plays no part: a person or a time server
//! may set it. `world` reads the clocks, and this file compares them.

use std::time::Duration;

/// The shortest standstill that is noticed: the two clocks are read one after the other, and a busy machine works in
/// between.
const LEAST: Duration = Duration::from_secs(1);

/// The clocks at the last look, and the standstill so far. Times count from the beginning of the watch.
#[derive(Debug, Default)]
pub struct ClockLooks {
    last: Duration,
    /// Nanoseconds by which the clock that counts a sleep was ahead of the other; `None` before the first look.
    #[cfg(any(windows, test))]
    ahead: Option<i128>,
    /// Time that the clock counted during standstills.
    pub standstill: Duration,
}

impl ClockLooks {
    /// Takes the time of the clock behind `Instant`. `was_continued`: the process was continued since the last look,
    /// and had been stopped since then.
    pub fn take(&mut self, now: Duration, was_continued: bool) {
        let gap = now.saturating_sub(self.last);
        if was_continued && gap >= LEAST {
            self.standstill += gap;
        }
        self.last = self.last.max(now);
    }

    /// Takes a clock that does not count a sleep and one that does, read at the same moment. Only a leap between two
    /// looks is a sleep, not a slow drift.
    #[cfg(any(windows, test))]
    pub fn compare(&mut self, awake: Duration, all: Duration) {
        let nanos = |time: Duration| i128::try_from(time.as_nanos()).unwrap_or(i128::MAX);
        let ahead = nanos(all) - nanos(awake);
        let leap = self.ahead.replace(ahead).map_or(0, |before| ahead - before);
        let leap = Duration::from_nanos(u64::try_from(leap.max(0)).unwrap_or(u64::MAX));
        if leap >= LEAST {
            self.standstill += leap;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn sleep_leap_counts_once() {
        let mut looks = ClockLooks::default();
        looks.compare(seconds(1), seconds(5_001));
        looks.compare(seconds(2), seconds(5_002));
        assert!(looks.standstill.is_zero());
        looks.compare(seconds(3), seconds(12_803));
        looks.compare(seconds(4), seconds(12_804));
        assert_eq!(looks.standstill, seconds(7_800));
        looks.compare(seconds(5), seconds(12_865));
        assert_eq!(looks.standstill, seconds(7_860));
    }

    #[test]
    fn drifting_clocks_are_no_sleep() {
        let mut looks = ClockLooks::default();
        // The one is a tenth faster than the other.
        for second in 0..3_600 {
            looks.compare(seconds(second), seconds(second) + Duration::from_millis(second * 100));
        }
        looks.compare(seconds(3_600), seconds(10));
        // A leap of less than a second is none either.
        looks.compare(seconds(3_601), seconds(11) + Duration::from_millis(999));
        assert!(looks.standstill.is_zero(), "{looks:?}");
        // From there on a leap is one again.
        looks.compare(seconds(3_602), seconds(12) + HOUR);
        assert!(looks.standstill >= seconds(3_599), "{looks:?}");
    }

    #[test]
    fn standing_clock_is_no_sleep() {
        let mut looks = ClockLooks::default();
        for second in 0..10 {
            looks.compare(seconds(second), seconds(100));
        }
        looks.compare(seconds(10), seconds(100) + HOUR);
        assert_eq!(looks.standstill, seconds(3_599));
    }

    #[test]
    fn gap_before_continue_is_stop() {
        let mut looks = ClockLooks::default();
        looks.take(seconds(10), false);
        assert!(looks.standstill.is_zero());
        looks.take(seconds(310), true);
        looks.take(seconds(311), false);
        assert_eq!(looks.standstill, seconds(300));
        // `spool stop` sends the signal to a runner that was not stopped.
        looks.take(seconds(311) + Duration::from_millis(150), true);
        assert_eq!(looks.standstill, seconds(300));
        // Two threads may read the clock in another order than they take it in.
        looks.take(seconds(311), true);
        looks.take(seconds(313), true);
        assert_eq!(looks.standstill, seconds(300) + Duration::from_millis(1_850));
    }
}
