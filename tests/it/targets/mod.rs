//! What `spool ralph` makes of its arguments, its files and the changes of a project, before anything runs.

mod asking;
mod choosing;
mod commands;
mod settings;
mod support;
mod terminal;
