//! What was typed after a command that arms a loop.

pub mod feature;
pub mod task;
