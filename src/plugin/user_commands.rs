//! The commands that `spool setup --user-commands` puts into a person's own folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::call::Advise;
use super::files::FILES;
use crate::hosts::claude::commands::{MARK, USER_COMMANDS, file_of, is_ours, skill_of};
use crate::store::write::{Flush, write_whole};

/// An error names a foreign file or skill in the way.
pub fn check(config: &Path) -> Result<()> {
    for name in USER_COMMANDS {
        let file = file_of(config, name);
        let skill = skill_of(config, name);
        let (file_at, skill_at) = (file.display(), skill.display());
        let what = if file.symlink_metadata().is_ok() && !is_ours(&file) {
            format!("`{file_at}` is there already, and `spool setup` did not put it there")
        } else if skill.symlink_metadata().is_ok() {
            format!("the skill `{skill_at}` has the name of the command /{name} and goes before it")
        } else {
            continue;
        };
        bail!("{what}\nmove it away first, or use /speckit:{name} and leave --user-commands out");
    }
    Ok(())
}

pub fn write(config: &Path) -> Result<()> {
    check(config)?;
    let folder = config.join("commands");
    fs::create_dir_all(&folder).at("could not make the folder `{}`", &folder)?;
    for name in USER_COMMANDS {
        let file = file_of(config, name);
        write_whole(&file, content(name).as_bytes(), Flush::ToDisk)
            .at("could not write `{}`", &file)?;
    }
    Ok(())
}

/// Missing commands are in neither list.
#[derive(Clone, Debug, Default)]
pub struct CommandsRemoval {
    pub removed: Vec<&'static str>,
    /// Files without our mark.
    pub kept: Vec<PathBuf>,
}

/// Removes only commands with our mark.
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
        fs::remove_file(&file).at("could not remove `{}`", &file)?;
        all.removed.push(name);
    }
    Ok(all)
}

/// The plugin's own command, with our mark at its end.
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
    fn commands_bear_the_mark() {
        for name in USER_COMMANDS {
            let text = content(name);
            assert!(text.starts_with("---\ndescription: "), "{text}");
            assert!(text.ends_with(&format!("\n\n{MARK}\n")), "{text}");
        }
    }
}
