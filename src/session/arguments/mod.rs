//! What was typed after a command that arms a loop.

pub mod feature;
pub mod scope;
pub mod task;

use crate::text::distance;

/// Returns which of these flags is meant by a mistyped one, as the end of a sentence; empty where none is near.
fn meant(flags: &[&str], typed: &str) -> String {
    let name = typed.trim_start_matches(['-', '–', '—']);
    let near = flags.iter().find(|known| distance(&known[2..], name) <= 3);
    near.map_or_else(String::new, |known| format!("; did you mean `{known}`?"))
}
