//! One engine that decides whether a loop goes on, and the drivers that ask it.

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod plugin;
