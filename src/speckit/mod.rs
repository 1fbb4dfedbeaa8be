//! The speckit loop: a feature of a spec-kit project, driven to the end of its task list.

pub mod arm;
pub(crate) mod armed;
pub(crate) mod cancel;
pub(crate) mod ending;
pub(crate) mod messages;
pub mod reconcile;
pub(crate) mod status;
pub mod task_log;
