//! What counts as work in a project, held against git itself.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]

mod ignored;
#[path = "../support/limited.rs"]
mod limited;
mod support;
mod tree;
