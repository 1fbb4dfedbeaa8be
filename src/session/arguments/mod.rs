//! What was typed after a command that arms a loop.

pub mod feature;
pub mod scope;
pub mod task;
