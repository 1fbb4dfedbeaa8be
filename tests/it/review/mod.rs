//! `spool review` as a person runs it, over readers that are small scripts.

mod answers;
mod readers;
pub mod support;
