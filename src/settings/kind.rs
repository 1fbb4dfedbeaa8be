//! The kinds of values, with one reader for files, flags and words behind a command.

use std::fmt::Write;
use std::time::Duration;

use crate::engine::{Check, REVIEW};
use crate::evidence::pattern::Pattern;
use crate::text::{self, is_plain, nearest};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// `true` or `false`; a flag may stand alone.
    Switch,
    /// A whole number, with its least and its most.
    Number(u64, u64),
    /// A time: the seconds in a plain number's unit, then the least and the most, in seconds.
    Time(u64, u64, u64),
    /// Dollars, down to a millionth.
    Dollars,
    /// A model and its prices.
    Price,
    Words(&'static [&'static str]),
    Harness,
    Text,
    /// A name that no agent program takes for a flag, with an example.
    Name(&'static str),
    /// A model's name without blanks.
    OneWord,
    /// A promise's token: neither empty nor impossible to write.
    Token,
    /// A command for the shell.
    Command,
    /// A pattern of files, as in a `.gitignore`.
    Pattern,
    /// A part of one line of the output.
    Expect,
}

/// The most of an ordinary number.
pub const MILLION: u64 = 1_000_000;
/// In seconds.
pub const YEAR: u64 = 365 * 24 * 3_600;
/// The agent programs by name; any other is an `acp:COMMAND`.
pub const HARNESSES: [&str; 7] =
    ["claude", "opencode", "codex", "gemini", "copilot", "command", "demo"];
/// The agent programs that can be held to reading; the session's own comes first.
pub const READERS: [&str; 5] = ["claude", "codex", "opencode", "gemini", "copilot"];
/// The prefix of a command that speaks the Agent Client Protocol.
pub const ACP: &str = "acp:";
/// A limit above this tells a person nothing, so messages leave it out.
pub const ANY: u64 = 1_000_000_000_000;
impl SettingKind {
    /// An error goes on behind the setting's name.
    pub fn check(self, text: &str) -> Result<(), String> {
        let is_right = match self {
            Self::Text => !text.contains('\0'),
            Self::Switch => ["true", "false"].contains(&text),
            Self::Words(words) => words.contains(&text),
            Self::Number(least, most) => {
                self.number(text).is_some_and(|number| (least..=most).contains(&number))
            }
            Self::Time(_, least, most) => self
                .number(text)
                .is_some_and(|millis| (least * 1_000..=most * 1_000).contains(&millis)),
            Self::Dollars => self.number(text).is_some(),
            Self::Price => price(text).is_some(),
            Self::Harness => match text.strip_prefix(ACP) {
                Some(line) => !line.trim().is_empty() && !line.contains(char::is_control),
                None => HARNESSES.contains(&text),
            },
            Self::Name(_) => is_name(text),
            Self::OneWord => Check::is_model(text),
            Self::Pattern => Pattern::protecting(text).is_some(),
            Self::Token | Self::Command | Self::Expect => {
                return self.refused(text).map_or(Ok(()), |why| Err(why.to_owned()));
            }
        };
        if is_right { Ok(()) } else { Err(self.wrong(text)) }
    }

    /// Goes on behind the setting's name.
    fn refused(self, text: &str) -> Option<&'static str> {
        let letters = text.chars().count();
        let why = match self {
            Self::Token if text.trim().is_empty() => "is empty: every answer would keep it",
            Self::Token if text.trim() != text => "begins or ends with a blank",
            Self::Token if text.contains(['<', '>']) => {
                "holds `<` or `>`: give only the words between the tags"
            }
            Self::Token if !is_plain(text) || letters > 200 => {
                "is one line of at most 200 characters"
            }
            Self::Command if Check::runs_nothing(text) || text.contains('\0') => {
                "needs a command: this one runs nothing"
            }
            Self::Command if text.starts_with(REVIEW) => {
                "needs a command: a review is asked for with `review`"
            }
            Self::Expect if letters > 300 || text.contains('\n') => {
                "is a part of one line of the output, of at most 300 characters"
            }
            Self::Expect if is_hidden(text) => "has an invisible character: remove it",
            Self::Expect if text.trim_matches(['*', ' ']).is_empty() => {
                "asks for nothing: write a part of one line of the output"
            }
            _ => return None,
        };
        Some(why)
    }

    /// What is needed instead of this text; goes on behind the setting's name.
    pub fn wrong(self, text: &str) -> String {
        let near = match self {
            Self::Words(words) => nearest(text, words.iter().copied()),
            Self::Harness => nearest(text, HARNESSES),
            _ => None,
        };
        let meant = near.map_or_else(String::new, |near| ["; did you mean `", near, "`?"].concat());
        [&self.needs(), ", not `", &text::title(text, 80), "`", &meant].concat()
    }

    /// Goes on behind the setting's name.
    pub fn needs(self) -> String {
        let what = match self {
            Self::Switch => "`true` or `false`".to_owned(),
            Self::Number(_, most) if most > ANY => "a whole number such as `5000000`".to_owned(),
            Self::Number(least, most) => format!("a whole number from {least} to {most}"),
            Self::Time(unit, least, most) => {
                let unit = if unit == 60 { "minutes" } else { "seconds" };
                let [least, most] =
                    [least, most].map(|seconds| time_in_words(Duration::from_secs(seconds)));
                format!(
                    "a time such as `90s`, `30m` or `1h30m`, or a number of {unit}, from {least} to {most}"
                )
            }
            Self::Dollars => "dollars such as `5` or `2.50`, up to 1000000".to_owned(),
            Self::Price => {
                "a model and its dollars for a million tokens, such as `claude-opus=5/25/0.50/6.25`"
                    .to_owned()
            }
            Self::Words(words) => alternatives(words),
            Self::Harness => alternatives(&[&HARNESSES[..], &["acp:COMMAND"]].concat()),
            Self::Name(such) => ["a name such as `", such, "`"].concat(),
            Self::OneWord => "the name of a model in one word".to_owned(),
            Self::Pattern => "a pattern of files such as `tests/**`, without `!`".to_owned(),
            Self::Text | Self::Token | Self::Command | Self::Expect => "a text".to_owned(),
        };
        "needs ".to_owned() + &what
    }

    /// Times in milliseconds, dollars in millionths.
    pub fn number(self, text: &str) -> Option<u64> {
        match self {
            Self::Time(unit, ..) => millis(text, unit),
            Self::Dollars => dollars(text),
            // Digits only: `08` is eight; `0x8`, `-1` and `+1` are invalid.
            _ if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok()
            }
            _ => None,
        }
    }
}

/// A choice of words, each in backticks.
fn alternatives(words: &[&str]) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        text += match words.len() - at {
            _ if at == 0 => "",
            1 => " or ",
            _ => ", ",
        };
        text += &["`", word, "`"].concat();
    }
    text
}

fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && !text.starts_with('-') && is_plain(text)
}

/// The text has an invisible character, or one that changes how others are shown.
pub fn is_hidden(text: &str) -> bool {
    let plain = text.replace('\t', " ");
    text::block(&plain) != plain
}

/// Reads `5`, `2.50` or `0.000125` in millionths, up to a million dollars.
fn dollars(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || part.len() > 6 {
        return None;
    }
    let micros = whole.parse::<u64>().ok()?.checked_mul(MILLION)?;
    let rest: u64 = [part, &"000000"[part.len()..]].concat().parse().ok()?;
    Some(micros + rest).filter(|sum| *sum <= MILLION * MILLION)
}

/// A model, and the prices of a million tokens in millionths of a dollar: sent, received, read from a cache, written to
/// one.
pub fn price(text: &str) -> Option<(String, [u64; 4])> {
    let (model, prices) = text.rsplit_once('=')?;
    let prices: Option<Vec<u64>> = prices.split('/').map(|price| dollars(price.trim())).collect();
    // Without prices of their own, cached tokens cost as much as sent ones.
    let prices = match prices?[..] {
        [input, output] => [input, output, input, input],
        [input, output, read, write] => [input, output, read, write],
        _ => return None,
    };
    Some((model.trim().to_owned(), prices)).filter(|(model, _)| is_name(model))
}

/// In milliseconds.
const UNITS: [(&str, u64); 6] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("min", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads `90s`, `30m` or `1h30m`; a plain number counts in `unit`, in seconds.
fn millis(text: &str, unit: u64) -> Option<u64> {
    let (mut total, mut rest, mut last_unit) = (0_u64, text, u64::MAX);
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let number: u64 = rest[..digits].parse().ok()?;
        let behind = &rest[digits..];
        let end = behind.find(|letter: char| letter.is_ascii_digit()).unwrap_or(behind.len());
        let length = match &behind[..end] {
            "" if last_unit == u64::MAX => unit * 1_000,
            name => UNITS.iter().find(|(known, _)| *known == name)?.1,
        };
        // Larger units come first, and each once.
        if length >= last_unit {
            return None;
        }
        last_unit = length;
        total = total.checked_add(number.checked_mul(length)?)?;
        rest = &behind[end..];
    }
    Some(total).filter(|_| !text.is_empty())
}

/// [`SettingKind::Time`] reads these words back.
pub fn time_in_words(time: Duration) -> String {
    let mut left = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut words = String::new();
    for (name, length) in UNITS {
        if left >= length {
            let _ = write!(words, "{}{name}", left / length);
            left %= length;
        }
    }
    if words.is_empty() { "0s".to_owned() } else { words }
}

#[cfg(test)]
mod tests {
    use super::SettingKind::{Command, Dollars, Expect, Harness, Number, Text, Time, Words};

    #[test]
    fn wrong_values_have_one_form() {
        for (kind, text, said) in [
            (Number(1, 9), "10", "needs a whole number from 1 to 9, not `10`"),
            (Number(0, i64::MAX as u64), "1m", "needs a whole number such as `5000000`, not `1m`"),
            (
                Dollars,
                "1000000.01",
                "needs dollars such as `5` or `2.50`, up to 1000000, not `1000000.01`",
            ),
            (
                Words(&["end", "phases"]),
                "phase",
                "needs `end` or `phases`, not `phase`; did you mean `phases`?",
            ),
            (Words(&["one", "two", "three"]), "", "needs `one`, `two` or `three`, not ``"),
            (Text, "a\0b", "needs a text, not `a\u{fffd}b`"),
            (Command, "# make", "needs a command: this one runs nothing"),
            (Command, "spool review", "needs a command: a review is asked for with `review`"),
            (Expect, "*", "asks for nothing: write a part of one line of the output"),
        ] {
            assert_eq!(kind.check(text), Err(said.to_owned()), "{kind:?}");
        }
        for (kind, text) in [
            (Number(1, 9), "09"),
            (Dollars, "0.000001"),
            (Time(1, 1, 90), "1m30s"),
            (Time(1, 1, 90), "1000ms"),
            (Harness, "acp:opencode acp"),
            (Command, "\u{1b}[2Jmake"),
        ] {
            assert_eq!(kind.check(text), Ok(()), "{kind:?} {text}");
        }
        for text in ["0", "91", "1m31s", "999ms", "1m1m", "30s1m", "s", "", "1 s"] {
            assert!(Time(1, 1, 90).check(text).is_err(), "{text}");
        }
    }
}
