//! `spool review --json`, and `review.json`.

use serde::de::Error;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::VERSION;
use super::plain::{JsonNumber, JsonTime, or_null, words};
use crate::engine::fields::name_of;
use crate::world::WallTime;

/// What `spool review --json` prints, and what `review.json` keeps of it: the review that has ended, or with `--last` the one before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(!default))]
#[serde(default)]
pub struct Review {
    /// The feature.
    pub feature: String,
    /// The finished tasks that it is about; empty for all of the work.
    pub tasks: Vec<String>,
    /// When it began.
    pub began_at: Option<JsonTime>,
    /// Seconds it took.
    pub seconds: f64,
    /// The agent program that read.
    pub harness: String,
    /// Its version; null where it is not known.
    pub harness_version: Option<String>,
    /// The model that answered, or was asked for; null where neither is known.
    pub model: Option<String>,
    /// Whether it was held to reading by its own tools.
    pub read_only: bool,
    /// The commit from which on changes were shown; null where none is known.
    pub base: Option<String>,
    /// How that was found.
    pub since: String,
    /// How it ended.
    pub outcome: ReviewOutcome,
    /// The exit code.
    pub exit_code: u8,
    /// Why there is no verdict on the work, a sentence each.
    pub problems: Vec<String>,
    /// What was said of each requirement; empty where there is no usable answer.
    pub requirements: Vec<ReviewRequirement>,
    /// What else was found, the worst first.
    pub findings: Vec<ReviewFinding>,
    /// What changed while the reader was at work: files from the root of the project, and commits.
    pub changed: Vec<String>,
    /// What a person should know although it does not speak against the work.
    pub caveats: Vec<String>,
    /// The ids of requirements that read differently in spec.md than when the loop was armed; the caveats have both texts.
    pub reworded: Vec<String>,
    /// The tokens that it used; null where nothing says.
    pub tokens: Option<JsonNumber>,
    /// What it cost in dollars; null where nothing tells.
    pub cost_usd: Option<f64>,
    /// Whether that is an estimate, by the prices that a person gave.
    pub cost_estimated: bool,
    /// The file with all that the agent program printed.
    pub log: String,
    /// When a usage limit is lifted, in seconds since the Unix epoch; `None` where nothing tells.
    #[serde(skip)]
    pub resets_at: Option<u64>,
}

impl Review {
    /// Reads version 1, too: milliseconds, millionths of a dollar and empty texts.
    pub fn read(bytes: &[u8]) -> serde_json::Result<Self> {
        let mut fields: Value = serde_json::from_slice(bytes)?;
        if let Some(newer) = fields["version"].as_u64().filter(|one| *one > VERSION.into()) {
            return Err(Error::custom(format!("version {newer} is of a newer program")));
        }
        if fields["outcome"].is_null() {
            return Err(Error::custom("it does not say how the review ended"));
        }
        if let Some(began_at) = fields["began_at"].as_u64().map(WallTime::from_millis) {
            fields["began_at"] = json!(JsonTime::of(began_at));
            fields["cost_usd"] = json!(fields["cost"].as_u64().map(|micros| micros as f64 / 1e6));
            for name in ["harness_version", "model", "base"] {
                fields[name] = json!(fields[name].as_str().and_then(words));
            }
        }
        serde_json::from_value(fields)
    }
}

/// The last review of a feature in short; `spool review --last --json` has all of it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LastReview {
    /// When it began.
    pub began_at: Option<JsonTime>,
    /// How it ended.
    pub outcome: ReviewOutcome,
    /// How many requirements are met; 0 where there is no usable answer, or where all of them are left for later tasks.
    pub met: JsonNumber,
    /// How many were judged, without those that are left for later tasks.
    pub requirements: JsonNumber,
    /// The agent program that read.
    pub harness: String,
    /// The model that answered, or was asked for; null where neither is known.
    pub model: Option<String>,
    /// The tokens that it used; null where nothing says.
    pub tokens: Option<JsonNumber>,
    /// What it cost in dollars; null where nothing tells.
    pub cost_usd: Option<f64>,
    /// Whether that is an estimate, by the prices that a person gave.
    pub cost_estimated: bool,
    /// The same in words.
    pub words: String,
}

/// How a review ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReviewOutcome {
    /// Every requirement is met, with evidence that is there, and no finding is high or critical.
    Passed,
    /// A requirement is not met or cannot be told, or a finding is high or critical.
    NotPassed,
    /// The answer does not have the form that was asked for.
    UnusableAnswer,
    /// The answer names evidence that is not there.
    InventedEvidence,
    /// Files or commits changed while the reader was at work.
    TreeChanged,
    /// The reader was over its time.
    TimeLimit,
    /// The reader was over its tokens.
    TokenLimit,
    /// The reader printed more than it may.
    OutputLimit,
    /// A usage limit of the agent program.
    UsageLimit,
    /// The agent program failed.
    #[default]
    ReaderFailed,
    /// A person or a signal ended it.
    Interrupted,
}

/// What was said of one requirement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(!deny_unknown_fields))]
#[serde(deny_unknown_fields)]
pub struct ReviewRequirement {
    /// Its id.
    pub id: String,
    /// Whether it is met.
    pub verdict: ReviewJudgement,
    /// Why, in the reader's words; null where it says nothing.
    #[serde(default, with = "or_null")]
    #[cfg_attr(test, schemars(!default, with = "Option<String>"))]
    pub why: String,
    /// What shows it.
    #[serde(default)]
    #[cfg_attr(test, schemars(!default))]
    pub evidence: Vec<ReviewEvidence>,
}

/// Whether a requirement is met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReviewJudgement {
    /// It is met.
    Met,
    /// It is not met.
    #[serde(alias = "not met")]
    NotMet,
    /// The reader cannot tell.
    #[default]
    #[serde(alias = "cannot tell")]
    CannotTell,
    /// Tasks that are still open build it; only where a part of the work is reviewed.
    Later,
}

impl ReviewJudgement {
    /// The words for a person, which a reader writes, too.
    pub fn words(self) -> String {
        name_of(self).replace('_', " ")
    }
}

/// Something that was found besides the requirements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(!deny_unknown_fields))]
#[serde(deny_unknown_fields)]
pub struct ReviewFinding {
    /// What it is.
    pub finding: String,
    /// How bad it is.
    pub severity: ReviewSeverity,
    /// Where it shows.
    #[serde(default)]
    #[cfg_attr(test, schemars(!default))]
    pub evidence: Vec<ReviewEvidence>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReviewSeverity {
    /// It can stay.
    Low,
    /// It should be fixed.
    #[default]
    Medium,
    /// It has to be fixed: no pass.
    High,
    /// It does harm: no pass.
    Critical,
}

/// A line of a file, or a command whose output the reader was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(!default, !deny_unknown_fields))]
#[serde(default, deny_unknown_fields)]
pub struct ReviewEvidence {
    /// The file, from the root of the project; null for a command.
    #[serde(with = "or_null")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub file: String,
    /// The line, from 1; null for a command.
    #[serde(with = "or_null")]
    #[cfg_attr(test, schemars(with = "Option<JsonNumber>"))]
    pub line: JsonNumber,
    /// What stands on it; null for a command, or where nothing is quoted.
    #[serde(with = "or_null")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub quote: String,
    /// The command; null for a file.
    #[serde(with = "or_null")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub command: String,
}
