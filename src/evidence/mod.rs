//! Evidence of work, gathered without starting a program: commits and files.

pub(crate) mod commits;
pub mod ignored;
pub(crate) mod index;
pub(crate) mod pattern;
pub(crate) mod progress;
pub mod tree;
