//! The install record of `spool setup`: what was done for this user, so that exactly this can be undone.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::call::Advise;
use crate::store::read::{self, Problem};
use crate::store::write::{Flush, write_whole};

/// The install record's name in our folder in the user's data folder.
pub const FILE_NAME: &str = "setup.json";

/// The most that is read of it, in bytes.
const MOST: u64 = 1 << 20;

/// What `spool setup` did and did not yet undo; fields that this version does not know are kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InstallRecord {
    /// The version of this format: 1.
    pub version: u32,
    /// The version of the plugin that was written last.
    pub plugin_version: String,
    /// Folders above the plugin that were missing before, the outermost first.
    pub made_folders: Vec<PathBuf>,
    /// Names of the programs in `bin`.
    pub programs: Vec<String>,
    /// The configurations of Claude Code in which the plugin was registered.
    pub registrations: Vec<Registration>,
    /// What a later version noted.
    #[serde(flatten)]
    pub other: serde_json::Map<String, serde_json::Value>,
}

/// One configuration of Claude Code that knows the plugin through us.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Registration {
    /// `CLAUDE_CONFIG_DIR` as it was set; nothing when it was not.
    pub claude_config: Option<PathBuf>,
    /// The folder that this meant.
    pub claude_folder: PathBuf,
    /// Copies of the plugin that the client made, which it leaves behind.
    pub copies: Vec<PathBuf>,
    /// Whether its folder got the commands without the plugin's prefix.
    pub user_commands: bool,
    /// The folder of commands, where it was missing before.
    pub made_commands: Option<PathBuf>,
    /// What was put into its settings for the status line, letter for letter; empty for nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub status_line: String,
    /// What a later version noted.
    #[serde(flatten)]
    pub other: serde_json::Map<String, serde_json::Value>,
}

impl InstallRecord {
    /// Returns the install record in `folder`, or nothing where there is none; an unreadable one is an error and stays as it is.
    pub fn load(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE_NAME);
        let text = match read::read(&path, MOST) {
            Ok(content) => content.bytes,
            Err(Problem::Missing) => return Ok(None),
            Err(problem) => bail!("could not read `{}`: {problem}", path.display()),
        };
        let record: Self = serde_json::from_slice(&text)
            .with_context(|| format!("could not understand `{}`", path.display()))
            .advise("move it away, then run `spool setup` again")?;
        if record.version > 1 {
            bail!("`{}` was written by a newer `spool`\nuse that one", path.display());
        }
        Ok(Some(record))
    }

    /// Returns nothing, after the install record is written whole to `folder`.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE_NAME);
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        write_whole(&path, &text, Flush::ToDisk)
            .with_context(|| format!("could not write `{}`", path.display()))
    }

    /// Returns the registration of this configuration, added where there was none.
    pub fn registration(
        &mut self,
        claude_config: Option<&Path>,
        claude_folder: &Path,
    ) -> &mut Registration {
        let known = self
            .registrations
            .iter()
            .position(|registration| registration.claude_folder == claude_folder);
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
