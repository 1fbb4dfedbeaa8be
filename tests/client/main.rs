//! The real Claude Code, driven end to end.

mod rehearsal;
mod support;
