//! The runner: a fresh agent process each iteration, from the outside, judged by the same engine.

pub(crate) mod capture;
pub(crate) mod console;
pub(crate) mod driver;
pub(crate) mod exit;
pub(crate) mod git;
pub mod harness;
pub(crate) mod inhibitor;
pub(crate) mod live_line;
pub(crate) mod messages;
pub(crate) mod monitor;
pub mod options;
pub(crate) mod prices;
pub mod process;
pub(crate) mod prompt;
pub mod report;
pub mod requests;
pub(crate) mod screen;
pub(crate) mod script;
pub mod signals;
pub mod state;
pub mod story;
pub(crate) mod summary;
pub mod target;
pub(crate) mod task_list;
pub(crate) mod tokens;
pub(crate) mod worktree;
