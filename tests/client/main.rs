//! The real Claude Code, driven end to end.

mod packaging;
mod rehearsal;
mod support;
