//! What tests of several folders use.

pub mod hearing;
pub mod limited;
pub mod scratch;
#[cfg(target_os = "linux")]
pub mod terminal;
pub mod witness;
