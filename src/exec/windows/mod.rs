//! Running a program on Windows: pipes read by threads, and jobs, whose processes the system ends with the last handle.

pub mod family;
mod job;
mod pipes;
mod running;
pub mod shell;
pub mod supervise;
pub mod tree;
