//! `.claude/ralph-speckit.local.md`: a person's switch and checks, in the file's front matter (spec 003, FR-3).

use std::path::Path;

use crate::engine::Check;
use crate::store::read::{self, Problem};

/// The settings' path, relative to the project.
pub const SETTINGS: &str = ".claude/ralph-speckit.local.md";
/// The most that is read of it, in bytes.
const MOST: u64 = 1 << 16;
/// Seconds that a check without a limit of its own has.
const CHECK_LIMIT: u64 = 300;

/// What a person has set for this project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether the loop may hold a session.
    pub enabled: bool,
    /// Commands that must pass before a feature counts as done.
    pub checks: Vec<Check>,
    /// Why the file could not be used, `None` when it could or is not there.
    pub problem: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, checks: Vec::new(), problem: None }
    }
}

impl Settings {
    /// Returns the settings of the project at `root`; without a usable file, the defaults.
    pub fn read(root: &Path) -> Self {
        match read::read(&root.join(SETTINGS), MOST) {
            Ok(content) => Self::parse(&String::from_utf8_lossy(&content.bytes)),
            Err(Problem::Missing) => Self::default(),
            Err(problem) => Self { problem: Some(problem.to_string()), ..Self::default() },
        }
    }

    /// Returns the settings in a text; keys stand between the two `---` lines, or alone in the file.
    ///
    /// `checks:` is a list of commands, or of `run:` with a `limit:` in seconds.
    pub fn parse(text: &str) -> Self {
        let mut settings = Self::default();
        let mut lines = text.trim_start_matches('\u{feff}').lines().peekable();
        lines.next_if(|line| line.trim() == "---");
        let mut in_checks = false;
        for line in lines.take_while(|line| line.trim() != "---") {
            let nested = line.starts_with([' ', '\t', '-']);
            if in_checks && nested {
                settings.take_check_line(line.trim());
                continue;
            }
            // Other indented lines belong to a nested value and are no settings.
            let Some((key, value)) = line.split_once(':').filter(|_| !nested) else {
                continue;
            };
            in_checks = key.trim() == "checks";
            if key.trim() == "enabled" {
                settings.enabled = !is_no(&scalar(value));
            }
        }
        settings.checks.retain(|check| !check.run.is_empty());
        settings
    }

    fn take_check_line(&mut self, line: &str) {
        let (item, rest) = match line.strip_prefix('-') {
            Some(rest) => (true, rest.trim()),
            None => (false, line),
        };
        if item {
            self.checks.push(Check { run: String::new(), limit_seconds: CHECK_LIMIT });
        }
        let Some(check) = self.checks.last_mut() else {
            return;
        };
        match rest.split_once(':') {
            Some(("run", value)) => check.run = scalar(value),
            Some(("limit", value)) => {
                let seconds = scalar(value);
                let seconds = seconds.trim_end_matches('s').trim().parse();
                check.limit_seconds = seconds.unwrap_or(CHECK_LIMIT).clamp(1, 1_500);
            }
            _ if item => check.run = scalar(rest),
            _ => {}
        }
    }
}

/// A value without its quotes, or without the comment behind it.
fn scalar(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some((quoted, _)) =
            value.strip_prefix(quote).and_then(|rest| rest.rsplit_once(quote))
        {
            return match quote {
                '"' => quoted.replace("\\\"", "\"").replace("\\\\", "\\"),
                _ => quoted.replace("''", "'"),
            };
        }
    }
    value.split(" #").next().unwrap_or_default().trim().to_owned()
}

fn is_no(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0")
}

#[cfg(test)]
mod checks_tests {
    use super::*;

    #[test]
    fn checks_are_commands_with_a_limit_of_their_own_or_the_usual_one() {
        let settings = Settings::parse(
            "---\nenabled: true\nchecks:\n  - cargo test --all # all of it\n  - run: \"npm test -- --grep \\\"a: b\\\"\"\n    limit: 60\n- 'sh ok.sh'\nother: x\n---\nchecks:\n  - not this\n",
        );
        let seen: Vec<_> =
            settings.checks.iter().map(|check| (check.run.as_str(), check.limit_seconds)).collect();
        assert_eq!(
            seen,
            [("cargo test --all", 300), ("npm test -- --grep \"a: b\"", 60), ("sh ok.sh", 300)]
        );
    }
}

#[cfg(test)]
mod tests;
