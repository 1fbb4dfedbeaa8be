//! The commands that `spool setup --user-commands` puts into a person's own folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::files::FILES;
use crate::hosts::claude::commands::{MARK, USER_COMMANDS, file_of, is_ours, skill_of};
use crate::store::write::{Flush, write_whole};

/// Returns nothing when every command can be put into this folder of Claude Code's settings; an
/// error that names what is in the way, and leaves it alone.
pub fn check(config: &Path) -> Result<()> {
    for name in USER_COMMANDS {
        let file = file_of(config, name);
        if file.symlink_metadata().is_ok() && !is_ours(&file) {
            bail!(
                "`{}` is there already, and `spool setup` did not put it there\nmove it away first, or use /speckit:{name} and leave --user-commands out",
                file.display()
            );
        }
        let skill = skill_of(config, name);
        if skill.symlink_metadata().is_ok() {
            bail!(
                "the skill `{}` has the name of the command /{name} and goes before it\nmove it away first, or use /speckit:{name} and leave --user-commands out",
                skill.display()
            );
        }
    }
    Ok(())
}

/// Returns nothing, after the commands are in this folder of Claude Code's settings.
pub fn write(config: &Path) -> Result<()> {
    check(config)?;
    let folder = config.join("commands");
    fs::create_dir_all(&folder)
        .with_context(|| format!("could not make the folder `{}`", folder.display()))?;
    for name in USER_COMMANDS {
        let file = file_of(config, name);
        write_whole(&file, content(name).as_bytes(), Flush::ToDisk)
            .with_context(|| format!("could not write `{}`", file.display()))?;
    }
    Ok(())
}

/// What became of the commands; those that were gone are in neither.
#[derive(Clone, Debug, Default)]
pub struct CommandsRemoval {
    /// The names of those that were removed.
    pub removed: Vec<&'static str>,
    /// The files that bear our mark no longer, and stay.
    pub kept: Vec<PathBuf>,
}

/// Removes the commands that still bear our mark, and returns what became of each.
pub fn remove(config: &Path) -> Result<CommandsRemoval> {
    let mut all = CommandsRemoval::default();
    for name in USER_COMMANDS {
        let file = file_of(config, name);
        if file.symlink_metadata().is_err() {
            continue;
        }
        if !is_ours(&file) {
            all.kept.push(file);
            continue;
        }
        fs::remove_file(&file).with_context(|| format!("could not remove `{}`", file.display()))?;
        all.removed.push(name);
    }
    Ok(all)
}

/// The plugin's own command, with our mark after it.
fn content(name: &str) -> String {
    let path = format!("commands/{name}.md");
    let file = FILES.iter().find(|file| file.path == path);
    let text = file.map(|file| String::from_utf8_lossy(file.content)).unwrap_or_default();
    format!("{}\n\n{MARK}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_the_plugins_own_with_the_mark() {
        for name in USER_COMMANDS {
            let text = content(name);
            assert!(text.starts_with("---\ndescription: "), "{text}");
            assert!(text.ends_with(&format!("\n\n{MARK}\n")), "{text}");
        }
    }
}
