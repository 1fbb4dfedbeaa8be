//! The subcommands of `spool`, one file each.

pub mod doctor;
pub mod plugin;
pub mod setup;
pub mod surroundings;
