//! Ending a loop from outside of a stop.

pub mod cancel;
pub mod feature;
pub mod task;
