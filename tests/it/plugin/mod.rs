//! The plugin as it is installed: its files, its launchers, and the commands that put it in place.

mod build;
mod crates;
mod doctor;
mod launchers;
pub mod scratch;
mod setup;
mod tidy;
