//! The plugin: its files, its folder, its programs, and how Claude Code gets to know it.

pub(crate) mod assembly;
pub(crate) mod call;
pub mod client;
pub mod files;
pub(crate) mod install_record;
pub(crate) mod programs;
pub mod status_line;
pub mod user_commands;

pub use assembly::assemble;
pub use programs::Programs;

/// The plugin's name, which begins its commands: `/speckit:implement`.
pub const NAME: &str = "speckit";

/// Claude Code's name for the folder that offers the plugin.
pub const MARKETPLACE: &str = "ralph-speckit";

/// The plugin's full name in Claude Code's registry.
pub const IDENTIFIER: &str = "speckit@ralph-speckit";

/// The version of the plugin and of its programs.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
