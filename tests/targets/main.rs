//! What `spool ralph` makes of its arguments, its files and the changes of a project, before anything runs.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]
#![cfg(all(unix, feature = "cli"))]

mod asking;
mod choosing;
mod commands;
#[path = "../support/hearing.rs"]
mod hearing;
#[path = "../support/limited.rs"]
mod limited;
#[cfg(target_os = "linux")]
#[path = "../support/terminal.rs"]
mod screen;
mod settings;
mod support;
mod terminal;
