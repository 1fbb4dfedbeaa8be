//! Claude Code's own formats: hook input and answer, and the transcript. Nobody else knows them.

pub(crate) mod answer;
pub mod commands;
pub mod input;
pub(crate) mod json;
mod scan;
pub mod transcript;
