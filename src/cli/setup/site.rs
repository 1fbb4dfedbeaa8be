//! What installing and removing both look at: our folders, Claude Code, and what it has of us.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::files::is_same_place;
use crate::cli::environment::Environment;
use crate::exec::find::find;
use crate::hosts::claude::commands::{USER_COMMANDS, file_of};
use crate::plugin::client::{Client, InstalledPlugin, Marketplace};
use crate::plugin::{IDENTIFIER, MARKETPLACE, assembly, install_record, programs, status_line};
use crate::store::write::remove_leftovers;
use crate::system::files::real_path;
use crate::world::WallTime;

/// How the name of a program begins while it is being copied.
pub const COPYING: &str = ".spool-copy-";

/// Where everything lies.
#[derive(Debug)]
pub struct Places {
    pub data: PathBuf,
    pub plugin: PathBuf,
    pub bin: PathBuf,
}

/// The environment of one setup.
pub struct SetupSite<'a> {
    pub environment: &'a Environment,
    pub places: Places,
    claude: Option<PathBuf>,
}

impl<'a> SetupSite<'a> {
    /// Returns the site with the Claude Code that is named, or the first on `PATH`; an error when the named one is missing.
    pub fn new(environment: &'a Environment, claude: Option<&Path>) -> Result<Self> {
        let data = environment.data_folder();
        let places = Places { plugin: data.join("plugin"), bin: data.join("bin"), data };
        let claude = match claude {
            Some(named) => Some(real_path(named).with_context(|| {
                format!("could not find the Claude Code `{}`", named.display())
            })?),
            None => find("claude"),
        };
        Ok(Self { environment, places, claude })
    }

    /// Returns the Claude Code to call, with this `CLAUDE_CONFIG_DIR`, when there is one.
    pub fn client(&self, config: Option<&Path>) -> Option<Client> {
        // In a folder of ours, so that the settings of the project at hand are neither read nor changed.
        let folder =
            if self.places.data.is_dir() { &self.places.data } else { &self.environment.home };
        self.claude.as_deref().map(|program| Client::new(program, config, folder))
    }

    /// Returns the command of the status line that is put into Claude Code's settings.
    pub fn status_line(&self) -> String {
        status_line::command(&self.places.bin.join(programs::SPOOL))
    }

    /// Returns whether a marketplace of Claude Code is the plugin's folder.
    pub fn is_our_marketplace(&self, known: &Marketplace) -> bool {
        let path = known.path.as_deref();
        known.name == MARKETPLACE
            && path.is_some_and(|path| is_same_place(path, &self.places.plugin))
    }

    /// Removes what an earlier `spool setup` left that was killed while it wrote, once it was left alone for this long.
    pub fn sweep(&self, age: Duration) {
        assembly::remove_leftovers(&self.places.plugin, age);
        remove_leftovers(&self.places.data.join(install_record::FILE_NAME), age);
        for entry in fs::read_dir(&self.places.bin).into_iter().flatten().flatten() {
            let changed = entry.metadata().and_then(|meta| meta.modified()).map(WallTime::from);
            let is_ours = entry.file_name().to_string_lossy().starts_with(COPYING);
            if is_ours && changed.is_ok_and(|changed| changed.age() >= age) {
                // It is only litter: what cannot be removed now is removed the next time.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Removes the parts of files that a killed `spool setup` left in a person's own folder of Claude Code.
pub fn sweep_claude(config: &Path, age: Duration) {
    remove_leftovers(&status_line::settings_of(config), age);
    for name in USER_COMMANDS {
        remove_leftovers(&file_of(config, name), age);
    }
}

/// Returns our plugin as Claude Code lists it.
pub fn our_plugin(client: &Client) -> Result<Option<InstalledPlugin>> {
    Ok(client.plugins()?.into_iter().find(|plugin| plugin.id == IDENTIFIER))
}
