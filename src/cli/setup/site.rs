//! What installing and removing share: our folders, Claude Code, and what it knows of us.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use super::files::is_same_place;
use crate::cli::environment::Environment;
use crate::hosts::claude::commands::{USER_COMMANDS, file_of};
use crate::plugin::call::Advise;
use crate::plugin::client::{Client, InstalledPlugin, Marketplace};
use crate::plugin::install_record::{InstallRecord, Registration};
use crate::plugin::{IDENTIFIER, MARKETPLACE, assembly, install_record, programs, status_line};
use crate::store::write::remove_leftovers;
use crate::system::files::real_path;
use crate::world::WallTime;

/// The prefix of a program that is being copied.
pub const COPYING: &str = ".spool-copy-";

#[derive(Debug)]
pub struct Places {
    pub data: PathBuf,
    pub plugin: PathBuf,
    pub bin: PathBuf,
}

pub struct SetupSite<'a> {
    pub environment: &'a Environment,
    pub places: Places,
    /// Claude Code's folder of this user.
    pub config: PathBuf,
    claude: Option<PathBuf>,
}

impl<'a> SetupSite<'a> {
    /// Uses the named Claude Code, or the first on the `PATH`. Fails if the named one is missing.
    pub fn new(environment: &'a Environment, claude: Option<&Path>) -> Result<Self> {
        let data = environment.data_folder();
        let places = Places { plugin: data.join("plugin"), bin: data.join("bin"), data };
        let claude = match claude {
            Some(named) => Some(real_path(named).at("could not find the Claude Code `{}`", named)?),
            None => environment.claude(),
        };
        Ok(Self { environment, places, config: environment.claude_folder(), claude })
    }

    /// The Claude Code to call, with this `CLAUDE_CONFIG_DIR`.
    pub fn client(&self, config: Option<&Path>) -> Option<Client> {
        // One of our own folders, so that the settings of the project at hand play no part.
        let folder =
            if self.places.data.is_dir() { &self.places.data } else { &self.environment.home };
        self.claude.as_deref().map(|program| Client::new(program, config, folder))
    }

    /// The status line's command in Claude Code's settings.
    pub fn status_line(&self) -> String {
        status_line::command(&self.places.bin.join(programs::SPOOL))
    }

    /// What the record says about this user's configuration.
    pub fn registration<'r>(&self, record: &'r mut InstallRecord) -> &'r mut Registration {
        record.registration(self.environment.claude_config.as_deref(), &self.config)
    }

    /// The marketplace is the plugin's folder.
    pub fn is_our_marketplace(&self, known: &Marketplace) -> bool {
        let path = known.path.as_deref();
        known.name == MARKETPLACE
            && path.is_some_and(|path| is_same_place(path, &self.places.plugin))
    }

    /// Removes the leftovers of a killed `spool setup` after this age.
    pub fn sweep(&self, age: Duration) {
        assembly::remove_leftovers(&self.places.plugin, age);
        remove_leftovers(&self.places.data.join(install_record::FILE_NAME), age);
        for entry in fs::read_dir(&self.places.bin).into_iter().flatten().flatten() {
            let changed = entry.metadata().and_then(|meta| meta.modified()).map(WallTime::from);
            let is_ours = entry.file_name().to_string_lossy().starts_with(COPYING);
            if is_ours && changed.is_ok_and(|changed| changed.age() >= age) {
                // The next run removes what stays now.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Removes the leftovers of a killed `spool setup` in a person's own folder of Claude Code.
pub fn sweep_claude(config: &Path, age: Duration) {
    remove_leftovers(&status_line::settings_of(config), age);
    for name in USER_COMMANDS {
        remove_leftovers(&file_of(config, name), age);
    }
}

pub fn our_plugin(client: &Client) -> Result<Option<InstalledPlugin>> {
    Ok(client.plugins()?.into_iter().find(|plugin| plugin.id == IDENTIFIER))
}
