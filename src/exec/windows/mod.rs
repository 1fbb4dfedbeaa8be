//! Running a program on Windows: threads read the pipes, and a job ends with its last handle.

pub mod family;
mod job;
mod pipes;
mod running;
pub mod shell;
pub mod supervise;
pub mod tree;
