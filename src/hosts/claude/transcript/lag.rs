//! Whether a transcript shows a turn's end yet: the client writes it some time after the event.

use std::path::Path;

use super::line::TranscriptLine;
use super::tail::TranscriptTail;
use crate::hosts::transcript::TurnEnd;
use crate::world::WallTime;

/// The transcript shows this end behind `from`, in bytes.
///
/// Two turns in a row may end with the same words. The time in the line tells them apart, unless that time lies before
/// the loop.
pub fn shows(path: &Path, end: TurnEnd<'_>, from: u64) -> bool {
    let tail = TranscriptTail::read(path, from);
    let Some((text, at)) = tail.and_then(|tail| tail.find_text(words_in)) else { return false };
    let is_older = at.is_some_and(|at| at >= end.armed_at && at < end.after);
    let (said, text) = (end.said.trim(), text.trim());
    !is_older && (said.is_empty() || (!text.is_empty() && said.ends_with(text)))
}

/// The agent's last words in a line, and their time, if the line has one.
fn words_in(line: &[u8]) -> Option<(String, Option<WallTime>)> {
    let line = TranscriptLine::read(line)?;
    let at = line.timestamp.as_str().and_then(time_of);
    Some((line.spoken()?.last_text()?, at))
}

/// Reads `2026-11-22T13:01:28.829Z`, and no other form.
fn time_of(time: &str) -> Option<WallTime> {
    let number = |from: usize, to: usize| -> Option<u64> {
        let digits = time.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let form: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    if form != "0000-00-00T00:00:00.000Z" {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    if year < 1970 || !(1..=12).contains(&month) {
        return None;
    }
    // Days since 1970. Years begin in March here, so that a leap day comes last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    let days = days.checked_sub(719_469)?;
    let seconds = (days * 24 + number(11, 13)?) * 3_600 + number(14, 16)? * 60 + number(17, 19)?;
    Some(WallTime::from_millis(seconds * 1_000 + number(20, 23)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcript_time_is_read() {
        for (time, millis) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T23:59:59.999Z", 951_868_799_999),
            ("2026-11-22T13:01:28.829Z", 1_795_352_488_829),
            ("2026-12-31T00:00:00.001Z", 1_798_675_200_001),
        ] {
            assert_eq!(time_of(time), Some(WallTime::from_millis(millis)), "{time}");
        }
        for time in [
            "",
            "now",
            "2026-11-22T13:01:28Z",
            "2026-13-22T13:01:28.829Z",
            "1969-12-31T00:00:00.000Z",
        ] {
            assert_eq!(time_of(time), None, "{time}");
        }
    }
}
