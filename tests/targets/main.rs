//! What `spool ralph` makes of its arguments, its files and the changes of a project, before anything runs.

#![cfg(all(unix, feature = "cli"))]

mod asking;
mod choosing;
mod commands;
mod settings;
mod support;
mod terminal;
