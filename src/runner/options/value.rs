//! Values as people write them: numbers, times, and words out of a few.

use std::fmt::Write;
use std::time::Duration;

use toml::de::DeValue;

use super::choices::DoneWhen;
use crate::engine::proof::LeastProof;
use crate::engine::{Check, PromiseMatch, REVIEW, ReviewWhen};
use crate::evidence::pattern::Pattern;
use crate::feature::project::printable;
use crate::runner::harness::{HarnessChoice, command};
use crate::runner::prices::Price;
use crate::session::arguments::refused_promise;
use crate::text::{is_plain, nearest};

/// The longest time.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// What a setting can be.
pub trait SettingValue: Clone + Sized {
    /// What it needs to be in a file, in words that follow its name.
    const NEEDS: &str = "needs a text in quotes";

    /// Returns the value in a text; an error in words that follow the name of the setting.
    fn parse(text: &str) -> Result<Self, String>;

    /// Returns the text of a value in a file, `None` when it is of another kind.
    fn text_of(value: &DeValue<'_>) -> Option<String> {
        value.as_str().map(str::to_owned)
    }
}

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<const LEAST: u64, const MOST: u64 = 1_000_000>(pub u64);
/// A time; a plain number counts in `UNIT`, of so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time<const UNIT: u64>(pub Duration);
/// A promise's token: one that not every answer would keep, and that one can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token(pub String);
/// The name of a model, which the agent program takes for no flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model(pub String);
/// A permission mode or a tool, in the words of an agent program, which takes it for no flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word(pub String);
/// An argument for an agent program, on one line or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentArgument(pub String);
/// A command line that can be started: words, in quotes where they hold blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine(pub String);
/// A check that runs something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckCommand(pub String);
/// A pattern of paths, as a line of a `.gitignore`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern(pub String);
/// Dollars, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Money(pub u64);

impl SettingValue for String {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl SettingValue for bool {
    const NEEDS: &str = "has to be `true` or `false`";

    fn parse(text: &str) -> Result<Self, String> {
        one_of(text, &[("true", true), ("false", false)])
    }

    fn text_of(value: &DeValue<'_>) -> Option<String> {
        value.as_bool().map(|it| it.to_string())
    }
}

/// From here on the largest number that is taken says nothing to a person.
const ANY: u64 = 1_000_000_000_000;

impl<const LEAST: u64, const MOST: u64> SettingValue for Number<LEAST, MOST> {
    const NEEDS: &str = "needs a whole number";

    fn parse(text: &str) -> Result<Self, String> {
        // Digits only: `08` is eight, `0x8`, `-1` and `+1` are nothing.
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse::<u64>() {
            Ok(number) if digits && (LEAST..=MOST).contains(&number) => Ok(Self(number)),
            // Nobody needs to know that limit.
            _ if MOST > ANY => {
                Err(format!("needs a whole number such as `5000000`, not `{}`", printable(text)))
            }
            _ => Err(format!(
                "needs a whole number from {LEAST} to {MOST}, not `{}`",
                printable(text)
            )),
        }
    }

    fn text_of(value: &DeValue<'_>) -> Option<String> {
        digits(value)
    }
}

impl<const UNIT: u64> SettingValue for Time<UNIT> {
    const NEEDS: &str = "needs a number, or a text such as \"1h30m\"";

    fn parse(text: &str) -> Result<Self, String> {
        time(text, UNIT).map(Self)
    }

    fn text_of(value: &DeValue<'_>) -> Option<String> {
        digits(value).or_else(|| value.as_str().map(str::to_owned))
    }
}

impl SettingValue for Money {
    const NEEDS: &str = "needs a number of dollars";

    fn parse(text: &str) -> Result<Self, String> {
        dollars(text).map(Self).ok_or_else(|| {
            format!("needs dollars such as `5` or `2.50`, up to 1000000, not `{}`", printable(text))
        })
    }

    fn text_of(value: &DeValue<'_>) -> Option<String> {
        let float = || value.as_float().map(|it| it.as_str().to_owned());
        digits(value).or_else(float).or_else(|| value.as_str().map(str::to_owned))
    }
}

impl SettingValue for Price {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "needs a model and its dollars for a million tokens, such as `claude-opus=5/25/0.50/6.25`, not `{}`",
                printable(text)
            )
        };
        let (model, prices) = text.rsplit_once('=').ok_or_else(wrong)?;
        let Model(model) = Model::parse(model.trim())?;
        let prices: Option<Vec<u64>> = prices.split('/').map(|it| dollars(it.trim())).collect();
        // What comes from a cache is sent: without prices of its own it costs as much.
        let (input, output, cache_read, cache_write) = match prices.as_deref() {
            Some(&[input, output]) => (input, output, input, input),
            Some(&[input, output, read, write]) => (input, output, read, write),
            _ => return Err(wrong()),
        };
        Ok(Self { model, input, output, cache_read, cache_write })
    }
}

impl SettingValue for Token {
    fn parse(text: &str) -> Result<Self, String> {
        refused_promise(text).map_or_else(|| Ok(Self(text.to_owned())), Err)
    }
}

impl SettingValue for Model {
    fn parse(text: &str) -> Result<Self, String> {
        name(text, "such as `opus` or `anthropic/claude-sonnet`").map(Self)
    }
}

impl SettingValue for Word {
    fn parse(text: &str) -> Result<Self, String> {
        name(text, "in one line").map(Self)
    }
}

impl SettingValue for AgentArgument {
    fn parse(text: &str) -> Result<Self, String> {
        if text.contains('\0') {
            return Err("holds a zero byte, which no argument can".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

impl SettingValue for CommandLine {
    fn parse(text: &str) -> Result<Self, String> {
        match command::split(text) {
            Ok(words) if words.first().is_some_and(|program| !program.is_empty()) => {
                Ok(Self(text.to_owned()))
            }
            Ok(_) => Err("names no program".to_owned()),
            Err(_) => Err("has a quote that is never closed".to_owned()),
        }
    }
}

impl SettingValue for PathPattern {
    fn parse(text: &str) -> Result<Self, String> {
        match Pattern::protecting(text) {
            Some(_) => Ok(Self(text.to_owned())),
            None if text.starts_with('!') => {
                Err(format!("protects files and frees none: leave out `{}`", printable(text)))
            }
            None => Err(format!("needs a pattern such as `tests/**`, not `{}`", printable(text))),
        }
    }
}

impl SettingValue for CheckCommand {
    fn parse(text: &str) -> Result<Self, String> {
        if Check::runs_nothing(text) || text.contains('\0') {
            return Err("needs a command: this one runs nothing".to_owned());
        }
        if text.starts_with(REVIEW) {
            return Err("needs a command: a review is asked for with --review".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

/// What a command that speaks the Agent Client Protocol stands after.
const ACP: &str = "acp:";
/// The same without its command, which is a mistake.
const ACP_WITHOUT_COMMAND: &str = "acp";

/// The agent programs by the names that people give them.
const HARNESSES: [(&str, HarnessChoice); 7] = [
    ("claude", HarnessChoice::Claude),
    ("opencode", HarnessChoice::Opencode),
    ("codex", HarnessChoice::Codex),
    ("gemini", HarnessChoice::Gemini),
    ("copilot", HarnessChoice::Copilot),
    // Its command line comes from another setting.
    ("command", HarnessChoice::Command(String::new())),
    ("demo", HarnessChoice::Demo),
];

/// Returns the names of the agent programs that `--harness` takes.
pub fn harness_names() -> Vec<&'static str> {
    HARNESSES.iter().map(|(name, _)| *name).collect()
}

impl SettingValue for HarnessChoice {
    fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix(ACP) {
            Some(line) if !line.trim().is_empty() && !line.contains(char::is_control) => {
                Ok(Self::Acp(line.trim().to_owned()))
            }
            None if text != ACP_WITHOUT_COMMAND => one_of(text, &HARNESSES)
                .map_err(|why| why.replacen(" or `demo`", ", `demo` or `acp:COMMAND`", 1)),
            _ => Err("needs a command on one line, as in `acp:opencode acp`".to_owned()),
        }
    }
}

impl SettingValue for DoneWhen {
    fn parse(text: &str) -> Result<Self, String> {
        one_of(text, &[("tasks", Self::Tasks), ("manual", Self::Manual), ("check", Self::Check)])
    }
}

impl SettingValue for LeastProof {
    fn parse(text: &str) -> Result<Self, String> {
        one_of(text, &[("files", Self::Files), ("word", Self::Word)])
    }
}

impl SettingValue for ReviewWhen {
    fn parse(text: &str) -> Result<Self, String> {
        one_of(text, &Self::ALL.map(|when| (when.word(), when)))
    }
}

impl SettingValue for PromiseMatch {
    fn parse(text: &str) -> Result<Self, String> {
        one_of(text, &[("anywhere", Self::Anywhere), ("exact", Self::Exact)])
    }
}

/// A name that an agent program takes for no flag; `kind` says which one is needed.
fn name(text: &str, kind: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    if text.starts_with('-') || !is_plain(text) {
        return Err(format!("is a name {kind}, not `{}`", printable(text)));
    }
    Ok(text.to_owned())
}

/// The digits of a whole number in a file.
fn digits(value: &DeValue<'_>) -> Option<String> {
    value.as_integer().filter(|number| number.radix() == 10).map(|it| it.as_str().to_owned())
}

/// Millionths of a dollar in a text such as `5`, `2.50` or `0.000125`, up to a million dollars.
fn dollars(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |it: &str| it.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || part.len() > 6 {
        return None;
    }
    let micros = whole.parse::<u64>().ok()?.checked_mul(1_000_000)?;
    let rest: u64 = format!("{part:0<6}").parse().ok()?;
    Some(micros + rest).filter(|sum| *sum <= 1_000_000_000_000)
}

/// A time such as `90s`, `30m` or `1h30m`.
fn time(value: &str, unit: u64) -> Result<Duration, String> {
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

/// Returns the words for a time that [`Time`] reads back.
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

/// Which of a few words a value is; an error that names them.
fn one_of<T: Clone>(value: &str, allowed: &[(&str, T)]) -> Result<T, String> {
    let found = allowed.iter().find(|(word, _)| *word == value);
    found.map(|(_, meaning)| meaning.clone()).ok_or_else(|| {
        let words: Vec<String> = allowed.iter().map(|(word, _)| format!("`{word}`")).collect();
        let (last, first) =
            words.split_last().map_or(("", &[][..]), |(last, first)| (last.as_str(), first));
        let words = if first.is_empty() {
            last.to_owned()
        } else {
            format!("{} or {last}", first.join(", "))
        };
        let near = nearest(value, allowed.iter().map(|(word, _)| *word));
        let meant = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("has to be {words}, not `{}`{meant}", printable(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_written_as_it_is_read() {
        for words in ["claude-opus=5/25/0.50/6.25", "anthropic/x=0.000001/1000000", "a=b=0/0"] {
            let price = Price::parse(words).unwrap();
            assert_eq!(Price::parse(&price.to_string()), Ok(price), "{words}");
        }
    }
}
