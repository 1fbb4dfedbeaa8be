//! `spool review` as a person runs it, over readers that are small scripts.

mod answers;
mod armed;
#[cfg(target_os = "linux")]
mod hostile;
mod limits;
mod loops;
mod packet;
mod readers;
mod rewrites;
pub mod support;
