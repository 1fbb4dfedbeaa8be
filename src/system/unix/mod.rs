//! Linux and macOS.

pub mod files;
pub mod folders;
pub mod input;
pub mod names;
pub mod processes;
#[cfg(feature = "cli")]
pub mod signals;
#[cfg(feature = "cli")]
pub mod terminal;
