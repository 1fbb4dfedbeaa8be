//! Loops inside a session, of both kinds: what becomes of a stop, from the event to the answer.

mod claim;
mod context;
mod evidence;
mod feature;
mod notices;
mod observe;
pub mod stop;
mod task;

pub use context::StopContext;
pub use notices::{switched_off, tampered, told};
