//! `spool doctor --json`.

use serde::Serialize;

/// What `spool doctor --json` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DoctorForm {
    /// Whether no check fails.
    pub ok: bool,
    /// What was looked at, in the order in which a person would fix things.
    pub checks: Vec<Finding>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FindingForm"))]
pub struct Finding {
    /// What was looked at; it stays the same.
    pub name: &'static str,
    /// How it came out.
    pub status: FindingStatus,
    /// What was found, in one line.
    pub found: String,
    /// What to do about it; null for nothing.
    pub next: Option<String>,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FindingWord"))]
#[serde(rename_all = "lowercase")]
pub enum FindingStatus {
    /// All right.
    Ok,
    /// A loop works, but not as a person may expect.
    Warn,
    /// A loop does not work.
    Fail,
}
