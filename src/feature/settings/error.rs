//! What is wrong with the settings, and where.

use std::fmt;

use crate::text;

/// The settings' path, relative to the project.
pub const SETTINGS: &str = ".claude/ralph-speckit.local.md";
/// Why the settings cannot be used, where, and what to do about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsError {
    /// The line, from 1, `None` where the file as a whole is meant.
    pub line: Option<usize>,
    /// What is wrong, in lower case and without a full stop.
    pub what: String,
    /// What to do next, in lower case and without a full stop.
    pub advice: String,
    /// Whether the settings say `enabled: false` all the same.
    pub is_off: bool,
    /// Hash of the file's bytes, or of the error where there are none: tells one content from another.
    pub digest: u64,
}

impl SettingsError {
    /// Returns an error on a line.
    pub fn at(line: usize, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into(), advice: advice.into(), ..Self::default() }
    }

    /// Returns an error of the file as a whole.
    pub fn of_file(what: &str, advice: &str) -> Self {
        Self { what: text::line(what).into_owned(), advice: advice.to_owned(), ..Self::default() }
    }

    /// Returns where and what, without what to do about it, such as `line 3: unknown key`.
    pub fn what(&self) -> String {
        match self.line {
            Some(line) => format!("line {line}: {}", self.what),
            None => self.what.clone(),
        }
    }

    /// Returns the whole error on one line.
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
