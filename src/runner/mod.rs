//! The runner: a fresh agent process each iteration, from the outside, judged by the same engine.

pub mod books;
pub mod drive;
pub mod harness;
pub mod options;
pub mod process;
pub mod prompt;
pub mod requests;
pub mod screen;
pub mod signals;
pub mod target;
pub mod tokens;
