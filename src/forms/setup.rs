//! `spool setup --json`.

use serde::Serialize;

/// What `spool setup --json` prints.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SetupForm {
    /// Whether nothing was done (`--dry-run`): the steps are what would be.
    pub dry_run: bool,
    /// Whether it was to remove what an earlier setup did.
    pub remove: bool,
    /// What was done, in this order; empty where nothing had to be.
    pub steps: Vec<SetupStepForm>,
    /// What was left as it is, in words.
    pub left: Vec<String>,
    /// Why Claude Code could not be told, with what to do next; null where it could.
    pub problem: Option<String>,
    /// What a person does next, in words; null for nothing.
    pub next: Option<String>,
}

/// A step of a setup.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SetupStepForm {
    /// Which step; it stays the same.
    pub name: SetupStepName,
    /// The same in words, with the files.
    pub words: String,
}

/// The steps of a setup and of its removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SetupStepName {
    /// The plugin's folder is written.
    WritePlugin,
    /// The two programs are copied.
    CopyPrograms,
    /// The commands without a prefix are written.
    WriteCommands,
    /// The status line is put into Claude Code's settings.
    WriteStatusLine,
    /// Claude Code gets to know the marketplace.
    AddMarketplace,
    /// Claude Code installs the plugin.
    Install,
    /// Claude Code installs the plugin again, because its copy is of another build.
    Reinstall,
    /// Claude Code switches the plugin on.
    Enable,
    /// Claude Code uninstalls the plugin.
    Uninstall,
    /// Claude Code forgets the marketplace.
    RemoveMarketplace,
    /// Claude Code's copy of the plugin is removed.
    RemoveCopy,
    /// The commands without a prefix are removed.
    RemoveCommands,
    /// The status line is taken out of Claude Code's settings.
    RemoveStatusLine,
    /// The plugin's folder is removed.
    RemovePlugin,
    /// The two programs are removed.
    RemovePrograms,
    /// The install record is removed.
    RemoveInstallRecord,
}
