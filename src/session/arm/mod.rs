//! Arming a loop: of a feature, or of a task.

pub mod feature;
pub mod task;
