//! The real `ralph-hook` program, asked as Claude Code asks it.

mod arming;
mod checklists;
mod continuing;
mod crowd;
mod driven;
mod excluding;
mod extensions;
mod hazards;
mod input;
mod lag;
mod lines;
mod litter;
pub mod outcome;
mod partner;
mod paths;
mod pinned;
mod private;
mod properties;
mod shown;
mod spec_000;
mod spec_003;
mod statusline;
pub mod support;
pub mod transcript;
mod traps;
mod undone;
mod unopened;
