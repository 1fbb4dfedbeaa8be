//! What a person typed after `/speckit:implement`: the feature and its limits.

use crate::feature::project::printable;
use crate::refusal::Refusal;

/// What a person asks for with `/speckit:implement` or `spool start`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureRequest {
    /// The feature, or `None` for the current one.
    pub feature: Option<String>,
    /// `--max-task-iterations`, from 1.
    pub max_task_iterations: Option<u32>,
    /// `--max-iterations`, from 1.
    pub max_iterations: Option<u32>,
    /// `--recovery-mode`.
    pub recovery_mode: bool,
    /// `--ignore-checklists`: the person continues although checklists are open.
    pub ignore_checklists: bool,
}

impl FeatureRequest {
    /// Returns the request in the text after the command; `--flag N` and `--flag=N` are the same.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut request = Self::default();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            let (flag, joined) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None => (word, None),
            };
            match flag {
                "--max-iterations" => {
                    request.max_iterations = Some(limit(flag, joined.or_else(|| words.next()))?);
                }
                "--max-task-iterations" => {
                    request.max_task_iterations =
                        Some(limit(flag, joined.or_else(|| words.next()))?);
                }
                "--recovery-mode" => request.recovery_mode = switch(flag, joined)?,
                "--ignore-checklists" => request.ignore_checklists = switch(flag, joined)?,
                _ if flag.starts_with('-') => {
                    return Err(wrong(format!("unknown option `{}`", printable(flag))));
                }
                _ if request.feature.is_none() => request.feature = Some(word.to_owned()),
                _ => {
                    return Err(wrong(format!("unexpected argument `{}`", printable(word))));
                }
            }
        }
        Ok(request)
    }
}

const USAGE: &str = "Usage: /speckit:implement [FEATURE] [--max-iterations N] [--max-task-iterations N] [--recovery-mode] [--ignore-checklists]";

fn wrong(what: String) -> Refusal {
    Refusal::Usage(what, USAGE)
}

fn limit(flag: &str, value: Option<&str>) -> Result<u32, Refusal> {
    let value = value.unwrap_or_default();
    // Digits only: `08` is eight, `0x8`, `-1` and `+1` are nothing.
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse() {
        Ok(number @ 1..=1_000_000) if digits => Ok(number),
        _ => Err(wrong(format!(
            "`{flag}` needs a whole number from 1 to 1000000, not `{}`",
            printable(value)
        ))),
    }
}

fn switch(flag: &str, value: Option<&str>) -> Result<bool, Refusal> {
    match value {
        None | Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(other) => Err(wrong(format!(
            "`{flag}` takes no value, or `true` or `false`, not `{}`",
            printable(other)
        ))),
    }
}
