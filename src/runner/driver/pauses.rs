//! Lengths of pauses between two runs.

use std::time::Duration;

use crate::world::{self, WallTime};

/// The longest pause after failures.
const LONGEST_PAUSE: Duration = Duration::from_mins(15);
/// The first wait for a usage limit with an unknown end; doubled each time.
const UNKNOWN_LIMIT: Duration = Duration::from_mins(1);
/// A usage limit is tried again this long after its reported end.
const AFTER_LIMIT: Duration = Duration::from_secs(5);
/// A longer wait for a usage limit is not believed: the longest limits last a week.
pub(super) const LONGEST_LIMIT: Duration = Duration::from_hours(8 * 24);

/// Doubled with each time after the first, up to [`LONGEST_PAUSE`].
pub(super) fn doubled(pause: Duration, times: u32) -> Duration {
    let longer = 2_u32.saturating_pow(times.saturating_sub(1).min(16));
    pause.saturating_mul(longer).min(LONGEST_PAUSE)
}

/// `at` is in seconds since the Unix epoch.
pub(super) fn until(at: u64) -> Duration {
    WallTime::from_seconds(at).since(world::now())
}

/// The wait for a usage limit that is lifted after `left`, if known, and was met `times` in a row.
///
/// A wrong clock, here or there, makes the loop neither restless nor endless.
pub(super) fn limit_pause(left: Option<Duration>, times: u32) -> Duration {
    let Some(left) = left.filter(|left| *left <= LONGEST_LIMIT) else {
        return doubled(UNKNOWN_LIMIT, times);
    };
    left + doubled(AFTER_LIMIT, times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_clock_neither_hammers_nor_hangs() {
        let pauses: Vec<u64> =
            [1, 2, 3, 30].map(|times| limit_pause(Some(Duration::ZERO), times).as_secs()).into();
        assert_eq!(pauses, [5, 10, 20, 900]);
        assert_eq!(limit_pause(Some(Duration::from_mins(2)), 1), Duration::from_secs(125));
        // Milliseconds in place of seconds.
        assert_eq!(limit_pause(Some(until(1_795_000_000_000)), 1), UNKNOWN_LIMIT);
        assert_eq!(limit_pause(Some(until(u64::MAX)), 1), UNKNOWN_LIMIT);
        assert_eq!(limit_pause(None, 1), UNKNOWN_LIMIT);
    }
}
