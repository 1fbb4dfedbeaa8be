//! The real Claude Code, driven end to end.
