//! Loops inside a session, of both kinds: what becomes of a stop, from the event to the answer.

mod claim;
mod context;
mod feature;
mod notices;
pub mod stop;
mod task;

pub use context::StopContext;
pub use notices::{switched_off, tampered, told};
