//! The plugin as it is installed: its files, its launchers, and the commands that put it in place.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]
#![cfg(feature = "cli")]

mod build;
mod crates;
mod doctor;
mod launchers;
#[path = "../support/limited.rs"]
mod limited;
mod scratch;
mod setup;
mod tidy;
