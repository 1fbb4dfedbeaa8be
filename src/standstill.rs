//! Time in which all stood still: the machine slept, or this process was stopped (Ctrl-Z) and continued. No limit counts it.
//!
//! The clock behind `Instant` stands still with the machine on Linux and macOS, and does not on Windows. It
//! continues while a process is stopped, on every system. A second clock of the system shows a sleep; that a process was stopped is
//! known from the signal that continues it. The clock on the wall has no part in this: a person or a time server may set it.
//! Here is what the clocks say when `world` has read them.

use std::time::Duration;

/// The shortest standstill that is noticed: two clocks are read one after the other, and a busy machine does other work between.
const LEAST: Duration = Duration::from_secs(1);

/// How long all stood still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standstill {
    /// The machine slept.
    pub slept: Duration,
    /// This process was stopped.
    pub stopped: Duration,
}

impl Standstill {
    /// Returns what of it came after another one.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            slept: self.slept.saturating_sub(earlier.slept),
            stopped: self.stopped.saturating_sub(earlier.stopped),
        }
    }

    /// Returns whether nothing stood still.
    pub const fn is_none(self) -> bool {
        self.slept.is_zero() && self.stopped.is_zero()
    }
}

/// What the clocks showed at the last look, and what came of it. Times are those since the watch began.
#[derive(Debug, Default)]
pub struct ClockLooks {
    /// The clock behind `Instant`.
    last: Duration,
    /// How far the clock that counts a sleep was before the one that does not, in nanoseconds; `None` before the first look.
    ahead: Option<i128>,
    /// What stood still so far.
    pub standstill: Standstill,
}

impl ClockLooks {
    /// Takes in the time of the clock behind `Instant`, and whether this process was continued since the last time: it had
    /// been stopped since then.
    pub fn take(&mut self, now: Duration, was_continued: bool) {
        let gap = now.saturating_sub(self.last);
        if was_continued && gap >= LEAST {
            self.standstill.stopped += gap;
        }
        self.last = self.last.max(now);
    }

    /// Takes in a clock that does not count a sleep and one that does, read at the same moment. Only a leap from one look to
    /// the next is a sleep: two clocks that drift apart are not.
    pub fn compare(&mut self, awake: Duration, all: Duration) {
        let nanos = |time: Duration| i128::try_from(time.as_nanos()).unwrap_or(i128::MAX);
        let ahead = nanos(all) - nanos(awake);
        let leap = self.ahead.replace(ahead).map_or(0, |before| ahead - before);
        let leap = Duration::from_nanos(u64::try_from(leap.max(0)).unwrap_or(u64::MAX));
        if leap >= LEAST {
            self.standstill.slept += leap;
        }
    }

    /// Returns what the clock behind `Instant` has counted of all that.
    pub fn counted_by_the_system(&self) -> Duration {
        if cfg!(windows) { self.standstill.slept } else { self.standstill.stopped }
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
    fn a_leap_of_the_clock_that_counts_a_sleep_is_one_and_is_counted_once() {
        let mut looks = ClockLooks::default();
        looks.compare(seconds(1), seconds(5_001));
        looks.compare(seconds(2), seconds(5_002));
        assert!(looks.standstill.is_none());
        looks.compare(seconds(3), seconds(12_803));
        looks.compare(seconds(4), seconds(12_804));
        assert_eq!(looks.standstill, Standstill { slept: seconds(7_800), stopped: Duration::ZERO });
        looks.compare(seconds(5), seconds(12_865));
        assert_eq!(looks.standstill.slept, seconds(7_860));
    }

    #[test]
    fn clocks_that_drift_apart_or_go_back_are_no_sleep() {
        let mut looks = ClockLooks::default();
        // The one is a tenth faster than the other.
        for second in 0..3_600 {
            looks.compare(seconds(second), seconds(second) + Duration::from_millis(second * 100));
        }
        looks.compare(seconds(3_600), seconds(10));
        // A leap of less than a second is none either.
        looks.compare(seconds(3_601), seconds(11) + Duration::from_millis(999));
        assert!(looks.standstill.is_none(), "{looks:?}");
        // From there on a leap is one again.
        looks.compare(seconds(3_602), seconds(12) + HOUR);
        assert!(looks.standstill.slept >= seconds(3_599), "{looks:?}");
    }

    #[test]
    fn a_clock_that_stands_still_is_no_sleep_and_its_leap_is_one() {
        let mut looks = ClockLooks::default();
        for second in 0..10 {
            looks.compare(seconds(second), seconds(100));
        }
        looks.compare(seconds(10), seconds(100) + HOUR);
        assert_eq!(looks.standstill.slept, seconds(3_599));
    }

    #[test]
    fn a_gap_before_the_signal_that_continues_is_a_stop_and_any_other_gap_is_none() {
        let mut looks = ClockLooks::default();
        looks.take(seconds(10), false);
        assert!(looks.standstill.is_none());
        looks.take(seconds(310), true);
        looks.take(seconds(311), false);
        assert_eq!(looks.standstill, Standstill { slept: Duration::ZERO, stopped: seconds(300) });
        // `spool stop` sends the signal to a runner that was not stopped.
        looks.take(seconds(311) + Duration::from_millis(150), true);
        assert_eq!(looks.standstill.stopped, seconds(300));
        // Two threads may read the clock in another order than they take it in.
        looks.take(seconds(311), true);
        looks.take(seconds(313), true);
        assert_eq!(looks.standstill.stopped, seconds(300) + Duration::from_millis(1_850));
    }

    #[test]
    fn only_what_the_clock_has_counted_is_taken_from_it() {
        let mut looks = ClockLooks::default();
        looks.take(seconds(60), true);
        looks.compare(seconds(60), seconds(60));
        looks.compare(seconds(61), seconds(61) + HOUR);
        let expected = if cfg!(windows) { HOUR } else { seconds(60) };
        assert_eq!(looks.counted_by_the_system(), expected);
    }

    #[test]
    fn what_came_after_an_earlier_look_is_the_rest() {
        let earlier = Standstill { slept: HOUR, stopped: seconds(5) };
        let later = Standstill { slept: HOUR, stopped: seconds(65) };
        assert_eq!(
            later.since(earlier),
            Standstill { slept: Duration::ZERO, stopped: seconds(60) }
        );
        assert!(earlier.since(later).is_none());
    }
}
