//! How one check came out, as people and programs read it.

use crate::forms::doctor::{FindingForm, FindingWord};
use crate::text;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingStatus {
    /// All right.
    Ok,
    /// A loop works, but not as a person may expect.
    Warn,
    /// A loop does not work.
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at; stable, for programs.
    pub name: &'static str,
    /// How it came out.
    pub status: FindingStatus,
    /// What was found, in one line.
    pub found: String,
    /// What to do about it.
    pub next: Option<String>,
}

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

impl From<&Finding> for FindingForm {
    fn from(finding: &Finding) -> Self {
        let status = match finding.status {
            FindingStatus::Ok => FindingWord::Ok,
            FindingStatus::Warn => FindingWord::Warn,
            FindingStatus::Fail => FindingWord::Fail,
        };
        let Finding { name, found, next, .. } = finding;
        Self { name, status, found: found.clone(), next: next.clone() }
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
