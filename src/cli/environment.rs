//! The process's environment, read in one place.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::exec::find::find;
use crate::feature::project::Project;
use crate::world;

/// The environment, the working folder and the running program, as plain values.
#[derive(Debug, Clone)]
pub struct Environment {
    /// `HOME`, an absolute path.
    pub home: PathBuf,
    /// `XDG_DATA_HOME`, or `~/.local/share`.
    pub data_home: PathBuf,
    /// `CLAUDE_CONFIG_DIR`, unchanged; without it the client uses `~/.claude`.
    pub claude_config: Option<PathBuf>,
    pub working_folder: PathBuf,
    pub program: PathBuf,
    pub managed_settings: PathBuf,
    /// Claude Code's variables that change its hooks.
    pub client_variables: Vec<(&'static str, String)>,
}

/// The variables that `doctor` looks at.
pub const CLIENT_VARIABLES: &[&str] =
    &["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"];

impl Environment {
    /// The first `claude` on the `PATH` that the project at hand does not bring along.
    pub fn claude(&self) -> Option<PathBuf> {
        let _left_out = Project::around(&self.working_folder);
        find("claude")
    }

    /// Fails without a home or a working folder.
    pub fn of_this_process() -> Result<Self> {
        let home = world::home().with_context(|| {
            format!(
                "the environment variable `{}` names no folder\nset it to your home folder",
                world::HOME
            )
        })?;
        let working_folder = env::current_dir().context("could not find the working folder")?;
        let managed = if cfg!(target_os = "macos") {
            "/Library/Application Support/ClaudeCode"
        } else if cfg!(windows) {
            r"C:\Program Files\ClaudeCode"
        } else {
            "/etc/claude-code"
        };
        let value = |name: &&'static str| Some((*name, world::variable(name)?));
        Ok(Self {
            data_home: world::folder("XDG_DATA_HOME")
                .unwrap_or_else(|| home.join(".local").join("share")),
            claude_config: world::variable("CLAUDE_CONFIG_DIR")
                .map(|value| working_folder.join(value)),
            working_folder,
            program: env::current_exe().context("could not find the running program")?,
            managed_settings: PathBuf::from(managed),
            client_variables: CLIENT_VARIABLES.iter().filter_map(value).collect(),
            home,
        })
    }

    /// Our folder in the user's data folder.
    pub fn data_folder(&self) -> PathBuf {
        self.data_home.join("ralph-speckit")
    }

    /// Claude Code's folder of settings.
    pub fn claude_folder(&self) -> PathBuf {
        self.claude_config.clone().unwrap_or_else(|| self.home.join(".claude"))
    }
}
