//! Slash commands without the plugin's prefix: files in a person's own folder, and which are ours.

use std::path::{Path, PathBuf};

use crate::store::read;
use crate::world;

/// What the plugin puts before its commands.
const PREFIX: &str = "speckit:";
/// The commands that a person may have without the plugin's prefix.
pub const USER_COMMANDS: [&str; 3] = ["cancel-ralph", "ralph-loop", "ulw-loop"];
/// Spec-kit's own implement command, as a skill and as a command; the first is its name here.
const SPEC_KIT: [&str; 2] = ["speckit-implement", "speckit.implement"];
/// What Claude Code calls the source of a skill or command in the project.
const PROJECT: &str = "projectSettings";
/// The last line of a command's file that is ours.
pub const MARK: &str =
    "<!-- Put here by `spool setup --user-commands`; `spool setup --remove` takes it away. -->";
/// What Claude Code calls the source of a command in a person's own folder.
const PERSON: &str = "userSettings";
/// The most that is read of a command's file, in bytes.
const MOST: u64 = 1 << 16;

/// Returns the name of our command without the plugin's prefix, or of spec-kit's own in the project; `None` for any other
/// command, also when it has the same name. `source` is where Claude Code found it.
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
    // A skill comes before a command of the same name: then it is the skill that was called.
    (is_ours(&file_of(&config, name)) && !skill_of(&config, name).exists()).then_some(name)
}

/// Returns name and arguments of our command in a line that was typed; `None` for any other line.
pub fn typed(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().strip_prefix('/')?;
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let ours = name.strip_prefix(PREFIX).or_else(|| USER_COMMANDS.contains(&name).then_some(name));
    Some((ours?, arguments.trim()))
}

/// Returns the file of a person's own command; `config` is where Claude Code keeps its settings.
pub fn file_of(config: &Path, name: &str) -> PathBuf {
    config.join("commands").join(format!("{name}.md"))
}

/// Returns the folder of a person's own skill of this name.
pub fn skill_of(config: &Path, name: &str) -> PathBuf {
    config.join("skills").join(name)
}

/// Returns whether a file is a command that we put there.
pub fn is_ours(file: &Path) -> bool {
    let content = read::read(file, MOST);
    content.is_ok_and(|content| content.bytes.trim_ascii_end().ends_with(MARK.as_bytes()))
}
