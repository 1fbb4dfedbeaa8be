//! `review.json`: a feature's last review, in its state folder.

use std::path::Path;

use crate::forms;
pub use crate::forms::review::{Review, ReviewOutcome};
use crate::mask::masked_text;
use crate::runner::state::state_folder;
use crate::store::read;
use crate::store::write::{Flush, write_private};
use anyhow::{Context, Result, anyhow};

/// Bytes read of the file.
const MOST: u64 = 16 << 20;
const NAME: &str = "review.json";

impl ReviewOutcome {
    /// The outcome within a sentence.
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

    /// The outcome says something about the work.
    pub fn is_verdict(self) -> bool {
        matches!(self, Self::Passed | Self::NotPassed)
    }

    /// The exit code. An interrupted review exits with 128 and its signal, not 130.
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

/// `None` for no review; an error names the file.
pub fn last(root: &Path, feature: &str) -> Result<Option<Review>> {
    let path = state_folder(root, feature).join(NAME);
    let unread = |why: String| {
        anyhow!("`{}` cannot be read: {why}\nreview again: it is written whole", path.display())
    };
    let found = read::read_if_there(&path, MOST).map_err(|problem| unread(problem.to_string()))?;
    let review = found.map(|content| Review::read(&content.bytes)).transpose();
    review.map_err(|error| unread(error.to_string()))
}

/// Writes a review whole, with keys masked; `folder` is the feature's state folder.
pub fn write(folder: &Path, review: &mut Review) -> Result<()> {
    hide_keys(review);
    let path = folder.join(NAME);
    let text = forms::document(review)? + "\n";
    write_private(&path, text.as_bytes(), Flush::ToDisk).with_context(|| {
        format!("`{}` cannot be written\nmake it writable, then review again", path.display())
    })
}

fn hide_keys(review: &mut Review) {
    let evidence = review.requirements.iter_mut().map(|judged| &mut judged.evidence);
    let all = evidence.chain(review.findings.iter_mut().map(|found| &mut found.evidence)).flatten();
    for text in all.flat_map(|item| [&mut item.quote, &mut item.command]) {
        hide(text);
    }
    review.requirements.iter_mut().for_each(|judged| hide(&mut judged.why));
    review.findings.iter_mut().for_each(|found| hide(&mut found.finding));
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
    fn an_unknown_form_is_named() {
        for (text, why) in [
            ("{}", "it does not say how the review ended"),
            (r#"{"version": 3, "outcome": "passed"}"#, "version 3 is of a newer program"),
        ] {
            assert_eq!(Review::read(text.as_bytes()).unwrap_err().to_string(), why);
        }
    }

    #[test]
    fn pass_alone_has_code_0() {
        let mut words: Vec<&str> = ALL.iter().map(|outcome| outcome.words()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), ALL.len());
        for outcome in ALL {
            assert_eq!(outcome.exit_code() == 0, outcome == ReviewOutcome::Passed, "{outcome:?}");
            assert!(!(1..=2).contains(&outcome.exit_code()), "{outcome:?}");
        }
    }
}
