//! `spool review` as a person runs it, over readers that are small scripts.

mod answers;
#[cfg(target_os = "linux")]
mod hostile;
mod loops;
mod readers;
pub mod support;
