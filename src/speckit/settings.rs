//! `.claude/ralph-speckit.local.md`: a person's switch, in the file's front matter (spec 003, FR-3).

use crate::store::read::{self, Problem};
use std::path::Path;

/// The settings' path, relative to the project.
pub const SETTINGS: &str = ".claude/ralph-speckit.local.md";
/// The most that is read of it, in bytes.
const MOST: u64 = 1 << 16;

/// What a person has set for this project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether the loop may hold a session.
    pub enabled: bool,
    /// Why the file could not be used, `None` when it could or is not there.
    pub problem: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, problem: None }
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
    pub fn parse(text: &str) -> Self {
        let mut settings = Self::default();
        let mut lines = text.trim_start_matches('\u{feff}').lines().peekable();
        lines.next_if(|line| line.trim() == "---");
        for line in lines.take_while(|line| line.trim() != "---") {
            // Indented lines belong to a nested value and are no settings.
            let Some((key, value)) = line.split_once(':').filter(|_| !line.starts_with(' ')) else {
                continue;
            };
            if key.trim() == "enabled" {
                settings.enabled = !is_no(value);
            }
        }
        settings
    }
}

fn is_no(value: &str) -> bool {
    let value = value.split(" #").next().unwrap_or_default();
    let value = value.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
    matches!(value.as_str(), "false" | "no" | "off" | "0")
}
