//! Times in the files: ISO 8601, local, with a numeric offset.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::world::WallTime;

/// `2026-11-22T01:05:12.345+01:00`; empty for a time that no calendar has.
pub fn iso(time: WallTime) -> String {
    written(time, "%Y-%m-%dT%H:%M:%S%.3f%:z")
}

/// For people: `2026-11-22 01:05:12 +01:00`.
pub fn readable(time: WallTime) -> String {
    written(time, "%F %T %:z")
}

/// For a name that sorts by time: `20261122-000512`, in UTC.
pub fn compact(time: WallTime) -> String {
    zoned(time, TimeZone::UTC, "%Y%m%d-%H%M%S")
}

/// Reads ISO 8601; `None` for other text, and for times before the Unix epoch.
pub fn time_of(iso: &str) -> Option<WallTime> {
    let time: Timestamp = iso.parse().ok()?;
    u64::try_from(time.as_millisecond()).ok().map(WallTime::from_millis)
}

fn written(time: WallTime, form: &str) -> String {
    zoned(time, TimeZone::system(), form)
}

fn zoned(time: WallTime, zone: TimeZone, form: &str) -> String {
    let time =
        i64::try_from(time.millis()).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    let zoned = time.map(|time| time.to_zoned(zone));
    zoned.map_or_else(String::new, |time| time.strftime(form).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_keeps_its_milliseconds() {
        let text = iso(WallTime::from_millis(1_795_305_912_007));
        assert!(text.contains(".007") && text.len() == "2026-11-22T01:05:12.007+01:00".len());
        assert_eq!(time_of(&text), Some(WallTime::from_millis(1_795_305_912_007)));
        assert!(
            readable(WallTime::from_millis(1_795_305_912_007)).starts_with("2026-11-2"),
            "{text}"
        );
    }

    #[test]
    fn foreign_times_are_understood() {
        assert_eq!(time_of("1970-01-01T01:00:01+01:00"), Some(WallTime::from_millis(1_000)));
        assert_eq!(time_of("1970-01-01T00:00:01Z"), Some(WallTime::from_millis(1_000)));
        for nonsense in ["", "yesterday", "1970-01-01", "1969-12-31T23:59:59Z"] {
            assert_eq!(time_of(nonsense), None, "{nonsense}");
        }
        assert_eq!(iso(WallTime::from_millis(u64::MAX)), "");
    }
}
