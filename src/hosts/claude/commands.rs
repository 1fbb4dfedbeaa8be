//! Slash commands without the plugin's prefix: files in a person's own folder. Some are ours.

use std::path::{Path, PathBuf};

use crate::store::read;
use crate::world;

const PREFIX: &str = "speckit:";
/// The commands that a person may have without the plugin's prefix.
pub const USER_COMMANDS: [&str; 3] = ["cancel-ralph", "ralph-loop", "ulw-loop"];
/// Spec-kit's own implement command, as a skill and as a command. We use the first name for both.
const SPEC_KIT: [&str; 2] = ["speckit-implement", "speckit.implement"];
/// Claude Code's name for the project as a source.
const PROJECT: &str = "projectSettings";
/// The last line of our own command files.
pub const MARK: &str =
    "<!-- Put here by `spool setup --user-commands`; `spool setup --remove` takes it away. -->";
/// Claude Code's name for a person's own folder as a source.
const PERSON: &str = "userSettings";
/// The longest command file that is read, in bytes.
const MOST: u64 = 1 << 16;

/// The name without the plugin's prefix, if the command is ours or spec-kit's own in the project. A foreign command may
/// have the same name, so `source` counts.
pub fn ours<'a>(name: &'a str, source: &str) -> Option<&'a str> {
    if let Some(name) = name.strip_prefix(PREFIX) {
        return Some(name);
    }
    if SPEC_KIT.contains(&name) && source == PROJECT {
        return Some(SPEC_KIT[0]);
    }
    let config = world::folder("CLAUDE_CONFIG_DIR")
        .or_else(|| world::home().map(|home| home.join(".claude")));
    let config = config.filter(|_| USER_COMMANDS.contains(&name) && source == PERSON)?;
    // A skill takes precedence over a command of the same name.
    (is_ours(&file_of(&config, name)) && !skill_of(&config, name).exists()).then_some(name)
}

/// The name and arguments of our command in a typed line.
pub fn typed(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().strip_prefix('/')?;
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let ours = name.strip_prefix(PREFIX).or_else(|| USER_COMMANDS.contains(&name).then_some(name));
    Some((ours?, arguments.trim()))
}

/// `config` is Claude Code's folder of settings.
pub fn file_of(config: &Path, name: &str) -> PathBuf {
    config.join("commands").join(format!("{name}.md"))
}

pub fn skill_of(config: &Path, name: &str) -> PathBuf {
    config.join("skills").join(name)
}

/// The file ends with our mark.
pub fn is_ours(file: &Path) -> bool {
    let content = read::read(file, MOST);
    content.is_ok_and(|content| content.bytes.trim_ascii_end().ends_with(MARK.as_bytes()))
}
