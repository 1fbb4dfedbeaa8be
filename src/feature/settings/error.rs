//! The error of settings that cannot be used.

use std::fmt;

use crate::text;

/// Relative to the project.
pub const SETTINGS: &str = ".claude/ralph-speckit.local.md";
/// Why the settings cannot be used, where, and what to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsError {
    /// From 1; `None` for the whole file.
    pub line: Option<usize>,
    /// In lower case and without a full stop.
    pub what: String,
    /// In lower case and without a full stop.
    pub advice: String,
    /// The settings say `enabled: false` in spite of the error.
    pub is_off: bool,
    /// Hash of the file's bytes, or of the error without any: differs with the content.
    pub digest: u64,
}

impl SettingsError {
    pub fn at(line: usize, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into(), advice: advice.into(), ..Self::default() }
    }

    /// An error of the whole file.
    pub fn of_file(what: &str, advice: &str) -> Self {
        Self { what: text::line(what).into_owned(), advice: advice.to_owned(), ..Self::default() }
    }

    /// Place and fault, without the advice: `line 3: unknown key`.
    pub fn what(&self) -> String {
        self.line.map_or_else(|| self.what.clone(), |line| format!("line {line}: {}", self.what))
    }

    pub fn one_line(&self) -> String {
        self.to_string().replace('\n', "; ")
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        let break_before = if self.advice.is_empty() { "" } else { "\n" };
        write!(out, "`{SETTINGS}`{line}: {}{break_before}{}", self.what, self.advice)
    }
}
