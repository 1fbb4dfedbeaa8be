//! The real `ralph-hook` program, asked as Claude Code asks it.

mod arming;
mod beside;
mod brevity;
mod checklists;
mod checks;
mod clear;
mod continuing;
mod converge;
mod crowd;
mod driven;
mod excluding;
mod extensions;
#[cfg(unix)]
mod hazards;
mod input;
mod lag;
mod landing;
mod lines;
mod litter;
mod notify;
pub mod outcome;
mod part;
mod partner;
mod paths;
mod pinned;
#[cfg(unix)]
mod private;
mod progress;
mod properties;
mod reviews;
mod spec_000;
mod spec_003;
mod spec_kit;
mod statusline;
pub mod support;
pub mod transcript;
mod traps;
mod undone;
mod unopened;
mod worktree;
