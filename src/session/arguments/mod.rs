//! A person's words after a command that arms a loop.

pub mod asked_tasks;
pub mod feature;
pub mod flags;
pub mod task;

/// A word in the form of a feature's name: `001-login`.
fn is_like_feature(word: &str) -> bool {
    let title = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let title = title.strip_prefix('-').filter(|_| word.len() - title.len() >= 3);
    title.is_some_and(|title| title.starts_with(|letter: char| letter.is_ascii_alphabetic()))
}

/// A word in the form of a task's id, also with a letter for a digit: `T001`, `T0O1`, `t12`.
fn is_like_task(word: &str) -> bool {
    let Some(rest) = word.strip_prefix(['T', 't']) else { return false };
    let rest = rest.split(".F").next().unwrap_or_default();
    let is_near = |letter: char| letter.is_ascii_digit() || "oOlI".contains(letter);
    rest.contains(|letter: char| letter.is_ascii_digit()) && rest.chars().all(is_near)
}
