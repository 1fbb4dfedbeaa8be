//! The real `ralph-hook` program, asked as Claude Code asks it.

mod spec_000;
mod spec_003;
mod support;
mod traps;
