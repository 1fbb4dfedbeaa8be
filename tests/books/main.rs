//! `spool task` and the books it keeps, driven as an agent and a person drive them: the real programs.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]

mod by_hand;
mod checks;
mod crash;
mod crowd;
mod cycle;
mod failing;
mod full;
#[path = "../support/hearing.rs"]
mod hearing;
mod interrupted;
#[path = "../support/limited.rs"]
mod limited;
mod lists;
#[cfg(target_os = "linux")]
mod person;
mod projects;
mod proof;
mod properties;
mod safety;
#[cfg(target_os = "linux")]
#[path = "../support/terminal.rs"]
mod screen;
mod short;
mod state;
mod support;
mod trees;
