//! The runner: a fresh agent process each iteration, from the outside, judged by the same engine.

pub mod books;
pub mod capture;
pub mod drive;
pub mod files;
pub mod git;
pub mod harness;
pub mod options;
pub mod process;
pub mod prompt;
pub mod requests;
pub mod screen;
pub mod target;
pub mod tokens;
pub mod work;
