//! The steps of installing and removing, as plain data with descriptions.

use std::path::PathBuf;

use super::site::Places;
use crate::forms::setup::SetupStepName;
use crate::plugin::install_record::Registration;
use crate::plugin::status_line::settings_of;
use crate::plugin::{IDENTIFIER, MARKETPLACE, VERSION};

const COMMANDS: &str = "the commands /ralph-loop, /ulw-loop and /cancel-ralph";

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

/// The time of a description: before a step, or after the step.
#[derive(Debug, Clone, Copy)]
pub enum Tense {
    Would,
    Did,
}

impl InstallStep {
    /// The name for programs, and the line for people.
    pub fn describe(&self, places: &Places, tense: Tense) -> (SetupStepName, String) {
        let plugin = places.plugin.display();
        let in_client = format!("the plugin `{IDENTIFIER}` in Claude Code");
        let wrote = ("write", "wrote");
        let (name, (would, did), what) = match self {
            Self::WritePlugin { replaced } => {
                let instead = replaced.as_ref().map(|old| format!(", in place of {old}"));
                let instead = instead.unwrap_or_default();
                let what = format!("the plugin {VERSION} to `{plugin}`{instead}");
                (SetupStepName::WritePlugin, wrote, what)
            }
            Self::CopyPrograms => {
                let what = format!("`spool` and `ralph-hook` to `{}`", places.bin.display());
                (SetupStepName::CopyPrograms, ("copy", "copied"), what)
            }
            Self::WriteCommands(config) => {
                let what = format!("{COMMANDS} to `{}`", config.join("commands").display());
                (SetupStepName::WriteCommands, wrote, what)
            }
            Self::WriteStatusLine(config) => {
                let what = format!("the status line to `{}`", settings_of(config).display());
                (SetupStepName::WriteStatusLine, wrote, what)
            }
            Self::AddMarketplace => {
                let what = format!("the marketplace `{MARKETPLACE}` to Claude Code");
                (SetupStepName::AddMarketplace, ("add", "added"), what)
            }
            Self::Install => (SetupStepName::Install, ("install", "installed"), in_client),
            Self::Reinstall => (SetupStepName::Reinstall, ("reinstall", "reinstalled"), in_client),
            Self::Enable => (SetupStepName::Enable, ("switch on", "switched on"), in_client),
        };
        (name, sentence(tense, would, did, &what))
    }
}

impl RemovalStep {
    /// The name for programs, and the line for people; `None` for steps that only the install record knows.
    pub fn describe(&self, places: &Places, tense: Tense) -> Option<(SetupStepName, String)> {
        let (name, what) = match self {
            Self::Forget(_) => return None,
            Self::Uninstall(_) => {
                let what = format!("the plugin `{IDENTIFIER}` from Claude Code");
                let words = sentence(tense, "uninstall", "uninstalled", &what);
                return Some((SetupStepName::Uninstall, words));
            }
            Self::RemoveMarketplace(_) => {
                let what = format!("the marketplace `{MARKETPLACE}` from Claude Code");
                (SetupStepName::RemoveMarketplace, what)
            }
            Self::RemoveCopy(copy) => {
                (SetupStepName::RemoveCopy, format!("Claude Code's copy in `{}`", copy.display()))
            }
            Self::RemoveCommands(registration) => {
                let folder = registration.claude_folder.join("commands");
                let what = format!("{COMMANDS} from `{}`", folder.display());
                (SetupStepName::RemoveCommands, what)
            }
            Self::RemoveStatusLine(registration) => {
                let file = settings_of(&registration.claude_folder);
                let what = format!("the status line from `{}`", file.display());
                (SetupStepName::RemoveStatusLine, what)
            }
            Self::RemovePlugin => (
                SetupStepName::RemovePlugin,
                format!("the plugin from `{}`", places.plugin.display()),
            ),
            Self::RemovePrograms(_) => (
                SetupStepName::RemovePrograms,
                format!("the programs from `{}`", places.bin.display()),
            ),
            Self::RemoveInstallRecord => {
                (SetupStepName::RemoveInstallRecord, format!("`{}`", places.data.display()))
            }
        };
        Some((name, sentence(tense, "remove", "removed", &what)))
    }
}

fn sentence(tense: Tense, would: &str, did: &str, what: &str) -> String {
    match tense {
        Tense::Would => format!("would {would} {what}"),
        Tense::Did => format!("{did} {what}"),
    }
}
