//! The time from which a person wants to read: some time ago, a day, or a moment of a day.

use std::time::Duration;

use jiff::Zoned;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::world::{self, WallTime};

/// `2h`, `2026-11-22` or `2026-11-22 14:30`, in local time; an error gives examples.
pub fn since(text: &str) -> Result<WallTime, String> {
    let ago = ago(text).map(|ago| WallTime::from_millis(world::now().millis().saturating_sub(ago)));
    let time = ago.or_else(|| at(text));
    time.ok_or_else(|| {
        "write `90s`, `30m`, `2h`, `3d`, `2026-11-22` or `2026-11-22 14:30`".to_owned()
    })
}

/// In milliseconds.
fn ago(text: &str) -> Option<u64> {
    let unit = match text.chars().next_back()? {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    let number: u64 = text[..text.len() - 1].parse().ok()?;
    let length = Duration::from_secs(number.checked_mul(unit)?);
    u64::try_from(length.as_millis()).ok()
}

fn at(text: &str) -> Option<WallTime> {
    let time = match text.parse::<Date>() {
        // A day also parses as a time, at midnight.
        Ok(day) if text.len() <= "2026-11-22".len() => day.at(0, 0, 0, 0),
        _ => text.replacen(' ', "T", 1).parse::<DateTime>().ok()?,
    };
    let zoned: Zoned = time.to_zoned(TimeZone::system()).ok()?;
    u64::try_from(zoned.timestamp().as_millisecond()).ok().map(WallTime::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_length_day_or_moment() {
        assert_eq!(ago("90s"), Some(90_000));
        assert_eq!(ago("3d"), Some(259_200_000));
        let hours = |one: &str, other: &str| at(one).unwrap().since(at(other).unwrap()).as_secs();
        assert_eq!(hours("2026-11-22 14:30", "2026-11-22"), 14 * 3600 + 30 * 60);
        assert_eq!(hours("2026-11-22T14:30:05", "2026-11-22 14:30"), 5);
        for wrong in
            ["", "2", "h", "-2h", "2w", "é", "yesterday", "2026-13-01", "99999999999999999999d"]
        {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
