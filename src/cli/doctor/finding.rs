//! One check's result, for people and programs.

pub use crate::forms::doctor::{Finding, FindingStatus};
use crate::text;

impl Finding {
    pub fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: FindingStatus::Ok, found: found.into(), next: None }
    }

    /// Worth knowing; `next` is what to do.
    pub fn warn(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, status: FindingStatus::Warn, found: found.into(), next: Some(next.into()) }
    }

    /// Keeps a loop from working; `next` is what to do.
    pub fn fail(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, status: FindingStatus::Fail, found: found.into(), next: Some(next.into()) }
    }
}

/// One line, without control characters.
pub fn one_line(text: &str) -> String {
    text::line(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_steers_nothing() {
        assert_eq!(one_line("a\u{1b}[2J\n\tb\u{7}  c"), "a�[2J b� c");
    }
}
