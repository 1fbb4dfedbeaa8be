//! The runner: a fresh agent process each iteration, from the outside, judged by the same engine.

pub mod books;
pub mod capture;
pub mod doubts;
pub mod drive;
pub mod ends;
pub mod eyes;
pub mod files;
pub mod git;
pub mod harness;
pub mod options;
pub mod process;
pub mod prompt;
pub mod proofs;
pub mod report;
pub mod requests;
pub mod screen;
pub mod script;
pub mod signals;
pub mod target;
pub mod tokens;
pub mod words;
pub mod work;
