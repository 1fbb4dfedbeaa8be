//! Evidence of work, gathered without starting a program: commits and files.

pub mod commits;
pub mod tree;
