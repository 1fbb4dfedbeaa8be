//! `spool statusline --json`.

use serde::Serialize;

use super::loops::EndForm;

/// What `spool statusline --json` prints: the loop of one session on one line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatuslineForm {
    /// The line; null while no loop lives.
    pub line: Option<String>,
    /// How the loop of this session ended; null while it lives, and where it has none.
    pub end: Option<EndForm>,
}
