//! Loops inside a session, of both kinds: from a stop to its answer, and the commands that arm, pause and end a loop.

pub(crate) mod adopt;
pub mod arguments;
pub(crate) mod arm;
pub(crate) mod cancel;
mod claim;
mod context;
pub(crate) mod end;
mod feature;
pub(crate) mod life;
pub(crate) mod messages;
mod notices;
mod observe;
pub(crate) mod pause;
pub(crate) mod pinned;
#[cfg(feature = "cli")]
pub(crate) mod report;
pub(crate) mod stop;
mod task;
pub mod task_log;
pub(crate) mod view;

pub(crate) use context::StopContext;
#[cfg(feature = "cli")]
pub(crate) use context::waited_for;
pub(crate) use notices::{PATIENCE, tell};
