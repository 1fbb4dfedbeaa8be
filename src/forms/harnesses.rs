//! `spool ralph --list-harnesses --json`.

use serde::Serialize;

/// What `spool ralph --list-harnesses --json` prints: what each agent program can do for the runner.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HarnessesForm {
    /// The agent programs.
    pub harnesses: Vec<HarnessForm>,
}

/// What an agent program can do for the runner.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HarnessForm {
    /// The name that `--harness` takes.
    pub harness: String,
    /// The name that people know.
    pub title: String,
    /// The permission modes that `--permission-mode` takes; empty for none.
    pub permission_modes: Vec<String>,
    /// Whether `--allow` permits a tool.
    pub allow: bool,
    /// Whether `--deny` forbids a tool.
    pub deny: bool,
    /// Whether it can be held to reading, so that it can review.
    pub reviews: bool,
    /// When its tokens are known.
    pub tokens: TokensKnown,
    /// Whether it reports what a run cost.
    pub reports_cost: bool,
}

/// When the tokens of a run are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TokensKnown {
    /// While it runs, from its output or from its own record of the session.
    WhileItRuns,
    /// At its end.
    AtTheEnd,
    /// Never.
    Never,
}
