//! The install record: what `spool setup` did for this user, so that exactly that can be undone.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::call::Advise;
use crate::store::read::{self, Problem};
use crate::store::write::{Flush, write_whole};

/// The file's name in our data folder.
pub const FILE_NAME: &str = "setup.json";

/// The longest record that is read, in bytes.
const MOST: u64 = 1 << 20;

/// All that `spool setup` did and has not undone yet. Fields of later versions are kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InstallRecord {
    /// Always 1.
    pub version: u32,
    pub plugin_version: String,
    /// New folders above the plugin, outermost first.
    pub made_folders: Vec<PathBuf>,
    /// The programs' names in `bin`.
    pub programs: Vec<String>,
    pub registrations: Vec<Registration>,
    #[serde(flatten)]
    pub other: serde_json::Map<String, serde_json::Value>,
}

/// A configuration of Claude Code that knows the plugin through us.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Registration {
    /// The unchanged `CLAUDE_CONFIG_DIR`.
    pub claude_config: Option<PathBuf>,
    /// The folder that Claude Code used.
    pub claude_folder: PathBuf,
    /// The client's copies of the plugin, which it leaves behind.
    pub copies: Vec<PathBuf>,
    /// The folder got the commands without the plugin's prefix.
    pub user_commands: bool,
    /// The commands' folder, if it is new.
    pub made_commands: Option<PathBuf>,
    /// The exact text that was put into the settings for the status line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub status_line: String,
    #[serde(flatten)]
    pub other: serde_json::Map<String, serde_json::Value>,
}

impl InstallRecord {
    /// An unreadable record is an error and stays.
    pub fn load(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE_NAME);
        let text = match read::read(&path, MOST) {
            Ok(content) => content.bytes,
            Err(Problem::Missing) => return Ok(None),
            Err(problem) => bail!("could not read `{}`: {problem}", path.display()),
        };
        let record: Self = serde_json::from_slice(&text)
            .at("could not understand `{}`", &path)
            .advise("move it away, then run `spool setup` again")?;
        if record.version > 1 {
            bail!("`{}` was written by a newer `spool`\nuse that one", path.display());
        }
        Ok(Some(record))
    }

    pub fn save(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE_NAME);
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        write_whole(&path, &text, Flush::ToDisk).at("could not write `{}`", &path)
    }

    /// Adds the registration if it is new.
    pub fn registration(
        &mut self,
        claude_config: Option<&Path>,
        claude_folder: &Path,
    ) -> &mut Registration {
        let is_it = |known: &Registration| known.claude_folder == claude_folder;
        let known = self.registrations.iter().position(is_it);
        let index = known.unwrap_or_else(|| {
            self.registrations.push(Registration {
                claude_config: claude_config.map(Path::to_owned),
                claude_folder: claude_folder.to_owned(),
                ..Registration::default()
            });
            self.registrations.len() - 1
        });
        &mut self.registrations[index]
    }
}
