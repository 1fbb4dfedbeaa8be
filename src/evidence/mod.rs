//! Evidence of work, gathered without starting a program: commits and files.

pub mod commits;
pub mod ignored;
pub mod index;
pub mod pattern;
pub mod progress;
pub mod tree;
