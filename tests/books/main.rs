//! `spool task` and the books it keeps, driven as an agent and a person drive them: the real programs.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]

mod by_hand;
mod checks;
mod crash;
mod crowd;
mod cycle;
mod failing;
mod full;
#[path = "../process/hearing.rs"]
mod hearing;
mod interrupted;
mod lists;
mod projects;
mod proof;
mod properties;
mod safety;
mod short;
mod state;
mod support;
mod trees;
