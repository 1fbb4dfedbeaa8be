//! The runner: a fresh agent process each iteration, from the outside, judged by the same engine.

pub mod books;
pub(crate) mod capture;
pub(crate) mod doubts;
pub(crate) mod drive;
pub(crate) mod ends;
pub(crate) mod files;
pub(crate) mod git;
pub mod harness;
pub(crate) mod monitor;
pub mod options;
pub mod process;
pub(crate) mod prompt;
pub(crate) mod proofs;
pub mod report;
pub mod requests;
pub(crate) mod screen;
pub(crate) mod script;
pub mod signals;
pub mod target;
pub(crate) mod tokens;
pub(crate) mod words;
pub(crate) mod work;
