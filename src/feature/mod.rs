//! A feature of a spec-kit project: where it is, its settings, its state file.

pub mod checklists;
pub mod converge;
pub mod extensions;
pub(crate) mod lists;
pub mod project;
pub mod requirements;
pub mod settings;
pub(crate) mod snapshot;
pub mod state;

/// The line that claims completion (spec 003).
pub const SIGNAL: &str = "ALL_TASKS_COMPLETE";
/// A feature's state file (spec 003, FR-2).
pub const STATE: &str = ".speckit-state.json";
/// A feature's progress notes; nothing here ever removes them (spec 003, AC-4.2).
pub const PROGRESS: &str = ".progress.md";
/// The notes of the last iteration before a limit, for the next loop.
pub const HANDOFF: &str = "handoff.md";
/// Bytes of a state file.
pub const MOST_STATE: u64 = 1 << 20;
