//! Files: read with bounds, written whole, locked where two writers can meet.

pub mod closing;
pub mod journal;
pub mod lock;
pub mod loops;
pub mod pausing;
pub mod pins;
pub mod read;
pub mod settled;
pub mod trust;
pub mod undo;
pub mod write;
