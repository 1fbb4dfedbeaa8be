//! The real `ralph-hook` program, asked as Claude Code asks it.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]

mod arming;
mod crowd;
mod driven;
mod hazards;
mod input;
mod lag;
#[path = "../support/limited.rs"]
mod limited;
mod lines;
mod litter;
mod outcome;
mod partner;
mod paths;
mod pinned;
mod private;
mod properties;
mod spec_000;
mod spec_003;
mod support;
mod transcript;
mod traps;
mod undone;
mod unopened;
