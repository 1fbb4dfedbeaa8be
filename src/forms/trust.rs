//! `spool trust --list --json`.

use serde::Serialize;

/// What `spool trust --list --json` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrustForm {
    /// The files that are trusted, in all projects.
    pub trusted: Vec<TrustedForm>,
}

/// A file that is trusted as it was when a person said so.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrustedForm {
    /// The root of the project.
    pub project: String,
    /// The file, relative to it.
    pub file: String,
    /// The commands and settings that are trusted.
    pub commands: Vec<String>,
}
