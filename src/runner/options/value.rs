//! Values as people write them: numbers, times, and words out of a few.

use std::fmt::Write;
use std::time::Duration;

use crate::speckit::project::printable;
use crate::text;

/// The highest number of most settings.
pub const MOST: u64 = 1_000_000;
/// The longest time.
const LONGEST: Duration = Duration::from_hours(365 * 24);
/// The most characters of a promise.
const LONGEST_PROMISE: usize = 200;

/// Returns a whole number in a range; an error in words that follow the name of the setting.
pub fn number(value: &str, least: u64, most: u64) -> Result<u64, String> {
    // Digits only: `08` is eight, `0x8`, `-1` and `+1` are nothing.
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse::<u64>() {
        Ok(number) if digits && (least..=most).contains(&number) => Ok(number),
        _ => {
            Err(format!("needs a whole number from {least} to {most}, not `{}`", printable(value)))
        }
    }
}

/// Returns a time such as `90s`, `30m` or `1h30m`; a plain number counts in `unit`, of so many seconds.
pub fn time(value: &str, unit: u64) -> Result<Duration, String> {
    let wrong = || {
        let plain = if unit == 60 { "minutes" } else { "seconds" };
        format!(
            "needs a time such as `90s`, `30m` or `1h30m`, or a number of {plain}, not `{}`",
            printable(value)
        )
    };
    let mut total = Duration::ZERO;
    let mut rest = value;
    let mut last_unit = u64::MAX;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let number: u64 = rest[..end].parse().map_err(|_| wrong())?;
        let behind = &rest[end..];
        let end = behind.find(|letter: char| letter.is_ascii_digit()).unwrap_or(behind.len());
        let millis = match &behind[..end] {
            "" if last_unit == u64::MAX => unit * 1_000,
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        // Larger units come first, and each one once.
        if millis >= last_unit {
            return Err(wrong());
        }
        last_unit = millis;
        let part = number.checked_mul(millis).map(Duration::from_millis).ok_or_else(wrong)?;
        total = total.checked_add(part).ok_or_else(wrong)?;
        rest = &behind[end..];
    }
    match last_unit {
        u64::MAX => Err(wrong()),
        _ if total > LONGEST => Err("is longer than a year".to_owned()),
        _ => Ok(total),
    }
}

/// Returns the words for a time that [`time`] reads back.
pub fn time_in_words(time: Duration) -> String {
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let mut left = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut words = String::new();
    for (name, length) in units {
        if left >= length {
            let _ = write!(words, "{}{name}", left / length);
            left %= length;
        }
    }
    if words.is_empty() { "0s".to_owned() } else { words }
}

/// Returns which of a few words a value is; an error that names them.
pub fn one_of<T: Copy>(value: &str, allowed: &[(&str, T)]) -> Result<T, String> {
    let found = allowed.iter().find(|(word, _)| *word == value);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<String> = allowed.iter().map(|(word, _)| format!("`{word}`")).collect();
        let (last, first) =
            words.split_last().map_or(("", &[][..]), |(last, first)| (last.as_str(), first));
        let words = if first.is_empty() {
            last.to_owned()
        } else {
            format!("{} or {last}", first.join(", "))
        };
        format!("is {words}, not `{}`", printable(value))
    })
}

/// Returns a promise's token; one that every answer would keep, or none could, is refused.
pub fn promise(value: &str) -> Result<String, String> {
    if value.trim().is_empty() {
        return Err("is empty: every answer would keep it".to_owned());
    }
    if value.trim() != value {
        return Err("begins or ends with a blank".to_owned());
    }
    if value.contains(['<', '>']) {
        return Err("holds `<` or `>`: give only the words between the tags".to_owned());
    }
    if !text::is_plain(value) || value.chars().count() > LONGEST_PROMISE {
        return Err(format!("is one line of at most {LONGEST_PROMISE} characters"));
    }
    Ok(value.to_owned())
}

/// Returns the name of a model; one that the agent program would take for a flag is refused.
pub fn model(value: &str) -> Result<String, String> {
    if value.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    if value.starts_with('-') || !text::is_plain(value) {
        return Err(format!(
            "is a name such as `opus` or `anthropic/claude-sonnet`, not `{}`",
            printable(value)
        ));
    }
    Ok(value.to_owned())
}

/// Returns a command line that can be started: words, in quotes where they hold blanks.
pub fn command_line(value: &str) -> Result<String, String> {
    match shell_words::split(value) {
        Ok(words) if words.first().is_some_and(|program| !program.is_empty()) => {
            Ok(value.to_owned())
        }
        Ok(_) => Err("names no program".to_owned()),
        Err(_) => Err("has a quote that is never closed".to_owned()),
    }
}
