//! What a command that arms, pauses or ends a loop prints with `--json`.

use serde::Serialize;

use super::loops::LoopForm;

/// What `spool start`, `pause`, `resume`, `stop`, `adopt`, `block` and `ralph --add-context` print with `--json`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SteeredForm {
    /// The loop as it is now; null where `spool status` no longer shows it.
    pub r#loop: Option<LoopForm>,
    /// What was done, in the words that a person reads.
    pub words: String,
}
