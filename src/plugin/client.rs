//! The `claude` program: its place, its version, and its plugins.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::call::{Advise, call};
use super::{IDENTIFIER, MARKETPLACE};
use crate::exec::version::Version;

/// The oldest Claude Code that reads our whole `hooks.json` and bounds a stop hook as we expect.
pub const OLDEST: Version = Version(2, 1, 143);

/// A plugin in `claude plugin list --json`; unknown fields are ignored.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstalledPlugin {
    /// `name@marketplace`.
    pub id: String,
    pub version: Option<String>,
    /// Enabled in the folder where the client was asked.
    #[serde(default)]
    pub enabled: bool,
    /// The copy in the client's cache.
    pub install_path: Option<PathBuf>,
    /// The folder that a newer client really reads.
    pub read_from_folder: Option<PathBuf>,
    /// What the client could not load, in its own words.
    #[serde(default)]
    pub errors: Vec<String>,
}

/// A marketplace in `claude plugin marketplace list --json`; unknown fields are ignored.
#[derive(Debug, Clone, Deserialize)]
pub struct Marketplace {
    pub name: String,
    /// The folder of a marketplace in a folder.
    pub path: Option<PathBuf>,
}

/// An installed Claude Code with its configuration folder.
#[derive(Debug, Clone)]
pub struct Client {
    program: PathBuf,
    config: Option<PathBuf>,
    folder: PathBuf,
}

impl Client {
    /// Runs in `folder`, with `config` as `CLAUDE_CONFIG_DIR`.
    pub fn new(program: &Path, config: Option<&Path>, folder: &Path) -> Self {
        Self {
            program: program.to_owned(),
            config: config.map(Path::to_owned),
            folder: folder.to_owned(),
        }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    pub fn version(&self) -> Result<Version> {
        let at = self.program.display();
        let next = format!("is `{at}` an installed Claude Code? name another with --claude PATH");
        let said = self.ask(&["--version"]).advise(next)?;
        let unsaid = || format!("`{at}` does not say which version it is: {}", said.trim());
        Version::at_start(&said).with_context(unsaid)
    }

    /// Enabled and disabled ones.
    pub fn plugins(&self) -> Result<Vec<InstalledPlugin>> {
        self.ask_json(&["plugin", "list", "--json"])
    }

    pub fn marketplaces(&self) -> Result<Vec<Marketplace>> {
        self.ask_json(&["plugin", "marketplace", "list", "--json"])
    }

    pub fn add_marketplace(&self, folder: &Path) -> Result<()> {
        let words = ["plugin", "marketplace", "add", "--scope", "user"].map(OsStr::new);
        self.tell(&[&words[..], &[folder.as_os_str()]].concat())
    }

    pub fn remove_marketplace(&self) -> Result<()> {
        self.tell(&["plugin", "marketplace", "remove", MARKETPLACE])
    }

    /// Our plugin for this user.
    pub fn install(&self) -> Result<()> {
        self.tell(&["plugin", "install", "--scope", "user", IDENTIFIER])
    }

    /// Our plugin for this user.
    pub fn enable(&self) -> Result<()> {
        self.tell(&["plugin", "enable", "--scope", "user", IDENTIFIER])
    }

    /// Our plugin for this user. The option `--keep-data` keeps the plugin's own data folder.
    pub fn uninstall(&self, options: &[&str]) -> Result<()> {
        let words = ["plugin", "uninstall", "--scope", "user"];
        self.tell(&[&words[..], options, &[IDENTIFIER]].concat())
    }

    fn ask_json<T: for<'de> Deserialize<'de>>(&self, arguments: &[&str]) -> Result<T> {
        let answer = serde_json::from_str(&self.ask(arguments)?);
        let what = || format!("could not understand what `claude {}` answered", shown(arguments));
        answer.with_context(what).advise("update it with `claude update`")
    }

    fn tell(&self, arguments: &[impl AsRef<OsStr>]) -> Result<()> {
        self.ask(arguments).map(drop)
    }

    /// An error has the program's own words.
    fn ask(&self, arguments: &[impl AsRef<OsStr>]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder);
        match &self.config {
            Some(config) => command.env("CLAUDE_CONFIG_DIR", config),
            None => command.env_remove("CLAUDE_CONFIG_DIR"),
        };
        let answer = call(command, "")?;
        if answer.status.success() {
            return Ok(answer.output);
        }
        // While it works, the program prints little; its reason for a failure says more.
        let said = [&answer.errors, &answer.output].map(|text| text.trim());
        let said = said.into_iter().find(|text| !text.is_empty());
        bail!("`claude {}` failed: {}", shown(arguments), said.unwrap_or("it said nothing"));
    }
}

fn shown(arguments: &[impl AsRef<OsStr>]) -> String {
    let words: Vec<_> =
        arguments.iter().map(|argument| argument.as_ref().to_string_lossy()).collect();
    words.join(" ")
}
