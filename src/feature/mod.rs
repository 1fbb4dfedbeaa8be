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
/// The name of a feature's state file (spec 003, FR-2).
pub const STATE: &str = ".speckit-state.json";
/// The name of a feature's progress notes; nothing here ever removes it (spec 003, AC-4.2).
pub const PROGRESS: &str = ".progress.md";
/// The name of the notes that the last iteration before a limit leaves for the next loop.
pub const HANDOFF: &str = "handoff.md";
/// The most that is read of a state file, in bytes.
pub const MOST_STATE: u64 = 1 << 20;
