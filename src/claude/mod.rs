//! Claude Code's own formats: hook input and answer, and the transcript. Nobody else knows them.

pub mod answer;
pub mod commands;
pub mod input;
pub mod json;
mod scan;
pub mod transcript;
