//! What tests of several folders use.

pub mod amounts;
pub mod dice;
pub mod has;
pub mod hearing;
#[cfg(target_os = "linux")]
pub mod hostile_words;
#[cfg(target_os = "linux")]
pub mod instructions;
pub mod left_out;
pub mod limited;
#[cfg(target_os = "linux")]
pub mod memory;
#[cfg(unix)]
pub mod moments;
pub mod schema;
pub mod scratch;
pub mod system;
pub mod terminal;
pub mod witness;
pub mod work;
