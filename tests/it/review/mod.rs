//! `spool review` as a person runs it, over readers that are small scripts.

mod answers;
mod loops;
mod readers;
pub mod support;
