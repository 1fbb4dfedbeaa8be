//! The steps of an installation and of a removal as plain data, and how they are described.

use std::path::PathBuf;

use super::site::Places;
use crate::forms::setup::SetupStepName;
use crate::plugin::install_record::Registration;
use crate::plugin::status_line::settings_of;
use crate::plugin::{IDENTIFIER, MARKETPLACE, VERSION};

const COMMANDS: &str = "the commands /ralph-loop, /ulw-loop and /cancel-ralph";

/// One thing that installs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallStep {
    WritePlugin { replaced: Option<String> },
    CopyPrograms,
    WriteCommands(PathBuf),
    WriteStatusLine(PathBuf),
    AddMarketplace,
    Install,
    Reinstall,
    Enable,
}

/// One thing that removes what was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemovalStep {
    Uninstall(Registration),
    RemoveMarketplace(Registration),
    RemoveCopy(PathBuf),
    RemoveCommands(Registration),
    RemoveStatusLine(Registration),
    Forget(Registration),
    RemovePlugin,
    RemovePrograms(Vec<String>),
    RemoveInstallRecord,
}

/// Whether a step is described before or after it happened.
#[derive(Debug, Clone, Copy)]
pub enum Tense {
    Would,
    Did,
}

impl InstallStep {
    /// Returns its name, as programs read it.
    pub fn name(&self) -> SetupStepName {
        match self {
            Self::WritePlugin { .. } => SetupStepName::WritePlugin,
            Self::CopyPrograms => SetupStepName::CopyPrograms,
            Self::WriteCommands(_) => SetupStepName::WriteCommands,
            Self::WriteStatusLine(_) => SetupStepName::WriteStatusLine,
            Self::AddMarketplace => SetupStepName::AddMarketplace,
            Self::Install => SetupStepName::Install,
            Self::Reinstall => SetupStepName::Reinstall,
            Self::Enable => SetupStepName::Enable,
        }
    }

    /// Returns the step as one line for the screen.
    pub fn describe(&self, places: &Places, tense: Tense) -> String {
        let plugin = places.plugin.display();
        let in_client = format!("the plugin `{IDENTIFIER}` in Claude Code");
        let (would, did, what) = match self {
            Self::WritePlugin { replaced } => {
                let replaced = replaced.as_ref();
                let instead = replaced.map_or_else(String::new, |it| format!(", in place of {it}"));
                ("write", "wrote", format!("the plugin {VERSION} to `{plugin}`{instead}"))
            }
            Self::CopyPrograms => {
                let bin = places.bin.display();
                ("copy", "copied", format!("`spool` and `ralph-hook` to `{bin}`"))
            }
            Self::WriteCommands(config) => {
                let folder = config.join("commands");
                ("write", "wrote", format!("{COMMANDS} to `{}`", folder.display()))
            }
            Self::WriteStatusLine(config) => {
                let file = settings_of(config);
                ("write", "wrote", format!("the status line to `{}`", file.display()))
            }
            Self::AddMarketplace => {
                ("add", "added", format!("the marketplace `{MARKETPLACE}` to Claude Code"))
            }
            Self::Install => ("install", "installed", in_client),
            Self::Reinstall => ("reinstall", "reinstalled", in_client),
            Self::Enable => ("switch on", "switched on", in_client),
        };
        sentence(tense, would, did, &what)
    }
}

impl RemovalStep {
    /// Returns the step's name and its line for the screen; nothing for what only our install record knows.
    pub fn describe(&self, places: &Places, tense: Tense) -> Option<(SetupStepName, String)> {
        let name = match self {
            Self::Forget(_) => return None,
            Self::Uninstall(_) => SetupStepName::Uninstall,
            Self::RemoveMarketplace(_) => SetupStepName::RemoveMarketplace,
            Self::RemoveCopy(_) => SetupStepName::RemoveCopy,
            Self::RemoveCommands(_) => SetupStepName::RemoveCommands,
            Self::RemoveStatusLine(_) => SetupStepName::RemoveStatusLine,
            Self::RemovePlugin => SetupStepName::RemovePlugin,
            Self::RemovePrograms(_) => SetupStepName::RemovePrograms,
            Self::RemoveInstallRecord => SetupStepName::RemoveInstallRecord,
        };
        let (would, did, what) = match self {
            Self::Forget(_) => return None,
            Self::Uninstall(_) => {
                ("uninstall", "uninstalled", format!("the plugin `{IDENTIFIER}` from Claude Code"))
            }
            Self::RemoveMarketplace(_) => {
                ("remove", "removed", format!("the marketplace `{MARKETPLACE}` from Claude Code"))
            }
            Self::RemoveCopy(copy) => {
                ("remove", "removed", format!("Claude Code's copy in `{}`", copy.display()))
            }
            Self::RemoveCommands(registration) => {
                let folder = registration.claude_folder.join("commands");
                ("remove", "removed", format!("{COMMANDS} from `{}`", folder.display()))
            }
            Self::RemoveStatusLine(registration) => {
                let file = settings_of(&registration.claude_folder);
                ("remove", "removed", format!("the status line from `{}`", file.display()))
            }
            Self::RemovePlugin => {
                ("remove", "removed", format!("the plugin from `{}`", places.plugin.display()))
            }
            Self::RemovePrograms(_) => {
                ("remove", "removed", format!("the programs from `{}`", places.bin.display()))
            }
            Self::RemoveInstallRecord => {
                ("remove", "removed", format!("`{}`", places.data.display()))
            }
        };
        Some((name, sentence(tense, would, did, &what)))
    }
}

fn sentence(tense: Tense, would: &str, did: &str, what: &str) -> String {
    match tense {
        Tense::Would => format!("would {would} {what}"),
        Tense::Did => format!("{did} {what}"),
    }
}
