//! `review.json`: what the last review of a feature came to, kept in its state folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};

use super::form::{ReviewFinding, ReviewRequirement};
pub use crate::forms::review::ReviewOutcome;
use crate::mask::masked_text;
use crate::runner::state::state_folder;
use crate::store::read::{self, Problem};
use crate::store::write::{Flush, write_private};
use crate::world::WallTime;

/// The version of the file.
const VERSION: u32 = 1;
/// The most of the file that is read, in bytes.
const MOST: u64 = 16 << 20;
/// Its name.
const NAME: &str = "review.json";

impl ReviewOutcome {
    /// Returns how it is said in a sentence about a review.
    pub fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NotPassed => "not passed",
            Self::UnusableAnswer => "no pass: the answer cannot be used",
            Self::InventedEvidence => "no pass: evidence is not there",
            Self::TreeChanged => "no pass: the work changed meanwhile",
            Self::TimeLimit => "no pass: the reader was over its time",
            Self::TokenLimit => "no pass: the reader was over its tokens",
            Self::OutputLimit => "no pass: the reader printed more than it may",
            Self::UsageLimit => "no pass: a usage limit",
            Self::ReaderFailed => "no pass: the agent program failed",
            Self::Interrupted => "no pass: interrupted",
        }
    }

    /// Returns whether it says something of the work.
    pub fn is_verdict(self) -> bool {
        matches!(self, Self::Passed | Self::NotPassed)
    }

    /// Returns the exit code; that of an interrupted one is 128 and the number of its signal instead of 130.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::NotPassed => 3,
            Self::UnusableAnswer => 4,
            Self::InventedEvidence => 5,
            Self::TreeChanged => 6,
            Self::TimeLimit => 7,
            Self::TokenLimit | Self::OutputLimit => 8,
            Self::ReaderFailed => 9,
            Self::UsageLimit => 10,
            Self::Interrupted => 130,
        }
    }
}

/// One review.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Review {
    /// Version of this file's form.
    pub version: u32,
    /// The feature.
    pub feature: String,
    /// The finished tasks that it is about; empty for all of the work.
    pub tasks: Vec<String>,
    /// When it began.
    pub began_at: WallTime,
    /// Seconds it took.
    pub seconds: f64,
    /// The agent program that read.
    pub harness: String,
    /// Its version, as far as it is known.
    pub harness_version: String,
    /// The model that answered, or was asked for; empty where neither is known.
    pub model: String,
    /// Whether it was held to reading by its own tools.
    pub read_only: bool,
    /// The commit from which on changes were shown; empty where none is known.
    pub base: String,
    /// How that was found.
    pub since: String,
    /// How it ended.
    pub outcome: ReviewOutcome,
    /// Its exit code.
    pub exit_code: u8,
    /// Why there is no verdict on the work, a line each.
    pub problems: Vec<String>,
    /// What was said of each requirement; empty where there is no usable answer.
    pub requirements: Vec<ReviewRequirement>,
    /// The ids of those that read differently than when the loop was armed.
    pub reworded: Vec<String>,
    /// What else was found, the worst first.
    pub findings: Vec<ReviewFinding>,
    /// What changed meanwhile: files from the root of the project, and commits.
    pub changed: Vec<String>,
    /// What a person should know although it does not speak against the work.
    pub caveats: Vec<String>,
    /// The tokens that it used, `None` where nothing says.
    pub tokens: Option<u64>,
    /// What it cost, in millionths of a dollar, `None` where nothing says.
    pub cost: Option<u64>,
    /// Whether that is an estimate, by the prices that a person gave.
    pub cost_estimated: bool,
    /// The file with all that the agent program printed.
    pub log: String,
}

/// Returns where the last review of a feature is kept.
fn record_path(root: &Path, feature: &str) -> PathBuf {
    state_folder(root, feature).join(NAME)
}

/// Returns the last review of a feature, `None` where there was none; an error names the file.
pub fn last(root: &Path, feature: &str) -> Result<Option<Review>> {
    let path = record_path(root, feature);
    let unread = |why: String| {
        anyhow!("`{}` cannot be read: {why}\nreview again: it is written whole", path.display())
    };
    match read::read(&path, MOST) {
        Err(Problem::Missing) => Ok(None),
        Err(problem) => Err(unread(problem.to_string())),
        Ok(content) => {
            let review = serde_json::from_slice(&content.bytes);
            review.map(Some).map_err(|error| unread(error.to_string()))
        }
    }
}

/// Writes a review whole, without what looks like a key; `folder` is the state folder of the feature.
pub fn write(folder: &Path, review: &mut Review) -> Result<()> {
    review.version = VERSION;
    hide_keys(review);
    let path = folder.join(NAME);
    let mut bytes = serde_json::to_vec_pretty(review)?;
    bytes.push(b'\n');
    write_private(&path, &bytes, Flush::ToDisk).with_context(|| {
        format!("`{}` cannot be written\nmake it writable, then review again", path.display())
    })
}

fn hide_keys(review: &mut Review) {
    let evidence = review.requirements.iter_mut().map(|it| &mut it.evidence);
    let evidence = evidence.chain(review.findings.iter_mut().map(|it| &mut it.evidence)).flatten();
    for text in evidence.flat_map(|it| [&mut it.quote, &mut it.command]) {
        hide(text);
    }
    review.requirements.iter_mut().for_each(|it| hide(&mut it.why));
    review.findings.iter_mut().for_each(|it| hide(&mut it.finding));
    review.problems.iter_mut().for_each(hide);
}

fn hide(text: &mut String) {
    if let std::borrow::Cow::Owned(hidden) = masked_text(text) {
        *text = hidden;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ReviewOutcome; 11] = [
        ReviewOutcome::Passed,
        ReviewOutcome::NotPassed,
        ReviewOutcome::UnusableAnswer,
        ReviewOutcome::InventedEvidence,
        ReviewOutcome::TreeChanged,
        ReviewOutcome::TimeLimit,
        ReviewOutcome::TokenLimit,
        ReviewOutcome::OutputLimit,
        ReviewOutcome::ReaderFailed,
        ReviewOutcome::UsageLimit,
        ReviewOutcome::Interrupted,
    ];

    #[test]
    fn every_outcome_has_words_and_only_a_pass_has_code_0() {
        let mut words: Vec<&str> = ALL.iter().map(|it| it.words()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), ALL.len());
        for outcome in ALL {
            assert_eq!(outcome.exit_code() == 0, outcome == ReviewOutcome::Passed, "{outcome:?}");
            assert!(!(1..=2).contains(&outcome.exit_code()), "{outcome:?}");
        }
    }
}
