//! How one check came out, as people and programs read it.

pub use crate::forms::doctor::{Finding, FindingStatus};
use crate::text;

impl Finding {
    /// Returns a finding with nothing to do.
    pub fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: FindingStatus::Ok, found: found.into(), next: None }
    }

    /// Returns a finding that a person should know, and what to do.
    pub fn warn(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, status: FindingStatus::Warn, found: found.into(), next: Some(next.into()) }
    }

    /// Returns a finding that keeps a loop from working, and what to do.
    pub fn fail(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, status: FindingStatus::Fail, found: found.into(), next: Some(next.into()) }
    }
}

/// Returns the text in one line, without what could steer a terminal.
pub fn one_line(text: &str) -> String {
    text::line(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_elsewhere_cannot_steer_a_terminal() {
        assert_eq!(one_line("a\u{1b}[2J\n\tb\u{7}  c"), "a�[2J b� c");
    }
}
