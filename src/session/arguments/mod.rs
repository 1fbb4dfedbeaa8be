//! What was typed after a command that arms a loop.

pub mod asked_tasks;
pub mod feature;

pub mod task;

use crate::feature::project::printable;
use crate::text::{distance, is_plain};

/// The most characters of a promise.
const LONGEST_PROMISE: usize = 200;

/// Returns why a token can be no promise, in words that follow the name of what was typed; `None` where it can.
pub fn refused_promise(token: &str) -> Option<String> {
    if token.trim().is_empty() {
        return Some("is empty: every answer would keep it".to_owned());
    }
    if token.trim() != token {
        return Some("begins or ends with a blank".to_owned());
    }
    if token.contains(['<', '>']) {
        return Some("holds `<` or `>`: give only the words between the tags".to_owned());
    }
    let is_one_line = is_plain(token) && token.chars().count() <= LONGEST_PROMISE;
    (!is_one_line).then(|| format!("is one line of at most {LONGEST_PROMISE} characters"))
}

/// Returns the number that a flag is given; an error in words.
fn whole_number(flag: &str, value: &str, least: u32) -> Result<u32, String> {
    // Digits only: `08` is eight, `0x8`, `-1` and `+1` are nothing.
    let is_digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse() {
        Ok(number) if is_digits && (least..=1_000_000).contains(&number) => Ok(number),
        _ => Err(format!(
            "`{flag}` needs a whole number from {least} to 1000000, not `{}`",
            printable(value)
        )),
    }
}

/// Returns which of these flags is meant by a mistyped one, as the end of a sentence; empty where none is near.
fn meant(flags: &str, typed: &str) -> String {
    let name = typed.trim_start_matches(['-', '–', '—']);
    let near = flags.split(' ').find(|known| distance(&known[2..], name) <= 3);
    near.map_or_else(String::new, |known| format!("; did you mean `{known}`?"))
}

/// Whether a word is made like the name of a feature: `001-login`.
fn is_like_feature(word: &str) -> bool {
    let title = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let title = title.strip_prefix('-').filter(|_| word.len() - title.len() >= 3);
    title.is_some_and(|title| title.starts_with(|letter: char| letter.is_ascii_alphabetic()))
}

/// Whether a word is made like a task's id, also with a letter for a digit: `T001`, `T0O1`, `t12`.
fn is_like_task(word: &str) -> bool {
    let Some(rest) = word.strip_prefix(['T', 't']) else { return false };
    let rest = rest.split(".F").next().unwrap_or_default();
    let is_near = |letter: char| letter.is_ascii_digit() || "oOlI".contains(letter);
    rest.contains(|letter: char| letter.is_ascii_digit()) && rest.chars().all(is_near)
}
