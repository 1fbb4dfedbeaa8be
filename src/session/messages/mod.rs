//! What a loop says, to the agent and to people.

pub mod feature;
pub mod task;
