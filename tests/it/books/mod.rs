//! `spool task` and the books it keeps, driven as an agent and a person drive them: the real programs.

mod blocks;
mod by_hand;
mod checks;
mod crash;
mod crowd;
mod cycle;
mod failing;
#[cfg(unix)]
mod feature_folder;
mod full;
mod interrupted;
mod lists;
mod meant;
#[cfg(target_os = "linux")]
mod person;
mod projects;
mod proof;
mod properties;
mod receipts;
mod safety;
mod scoreboard;
mod short;
mod state;
pub mod support;
#[cfg(unix)]
mod trees;
