//! Running a program on Linux and macOS: pipes, process groups, and who descends from whom.

pub mod beside;
pub mod family;
pub mod input;
pub mod pipes;
mod running;
pub mod shell;
pub mod supervise;
pub mod supervisor;
pub mod tree;
