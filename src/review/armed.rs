//! The specification's demands at arming, and their changes since.

use std::collections::BTreeSet;

use super::form::{ReviewJudgement, ReviewRequirement};
use super::record::{Review, ReviewOutcome};
use crate::feature::requirements::{Requirement, requirements};
use crate::text;

/// The word of the caveats about a changed requirement.
pub const REWORDED: &str = "reworded since the loop was armed";
/// Reworded requirements shown to a person, and letters of each text.
const NAMED: usize = 10;
const TEXT: usize = 150;

/// Changes of the specification since arming.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecificationChanges {
    /// Ids of removed requirements, with a text that is no longer there.
    pub gone: Vec<(String, String)>,
    /// The specification at arming, if it was another one.
    pub then: Option<String>,
    pub reworded: Vec<Reworded>,
    /// The specification at arming was not kept.
    pub unknown: bool,
}

/// A requirement with another text than at arming.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reworded {
    pub id: String,
    /// The words that only the old text has.
    pub then: String,
    /// The words that only the new text has; empty for none.
    pub now: String,
}

/// The changes since arming: the agent may have made them.
pub fn changes(then: Option<&[u8]>, now: &[u8]) -> SpecificationChanges {
    let Some(bytes) = then else {
        return SpecificationChanges { unknown: true, ..SpecificationChanges::default() };
    };
    let then = (bytes != now).then(|| String::from_utf8_lossy(bytes).into_owned());
    SpecificationChanges { then, ..between(&requirements(bytes), &requirements(now)) }
}

fn between(then: &[Requirement], now: &[Requirement]) -> SpecificationChanges {
    let said_now: BTreeSet<&String> = now.iter().flat_map(|demand| &demand.texts).collect();
    let mut changes = SpecificationChanges::default();
    for old in then {
        // A scenario with a new number is still asked for.
        let lost = old.texts.iter().filter(|text| !said_now.contains(text));
        let lost = lost.map(String::as_str).collect::<Vec<_>>().join(" / ");
        let Some(new) = now.iter().find(|requirement| requirement.id == old.id) else {
            // Its words moved up into the place of those that are lost.
            let above = changes.reworded.last().filter(|_| lost.is_empty());
            changes.gone.push((old.id.clone(), above.map_or(lost, |above| above.then.clone())));
            continue;
        };
        if !lost.is_empty() {
            let is_new = |text: &&String| !old.texts.contains(text);
            let added: Vec<&str> = new.texts.iter().filter(is_new).map(String::as_str).collect();
            let (id, then, now) = (old.id.clone(), lost, added.join(" / "));
            changes.reworded.push(Reworded { id, then, now });
        }
    }
    changes
}

/// Shows the reworded requirements to a person.
pub fn note(review: &mut Review, changes: &SpecificationChanges, path: &str) {
    let reworded = &changes.reworded;
    if changes.unknown {
        review.caveats.push(format!(
            "what `{path}` said when the loop was armed was not kept: whether it asks for less now is not known"
        ));
    }
    if changes.then.is_some() && reworded.is_empty() {
        review.caveats.push(format!("`{path}` was changed since the loop was armed"));
    }
    review.reworded = reworded.iter().map(|requirement| requirement.id.clone()).collect();
    let words = |requirement: &Reworded| {
        let [then, now] = [&requirement.then, &requirement.now].map(|text| text::title(text, TEXT));
        format!("{} was {REWORDED}: \"{then}\" is \"{now}\" now", requirement.id)
    };
    review.caveats.extend(reworded.iter().take(NAMED).map(words));
    if let Some(more) = reworded.len().checked_sub(NAMED).filter(|more| *more > 0) {
        review.caveats.push(format!("{more} more requirements were {REWORDED}"));
    }
}

/// Judges these requirements as not met, because the specification no longer has them.
pub fn missed(review: &mut Review, gone: Vec<(String, String)>, path: &str) {
    let verdict = ReviewJudgement::NotMet;
    let judged = |(id, text): (String, String)| {
        let text = text::title(&text, TEXT);
        let why = format!(
            "`{path}` had it when the loop was armed, and has not now: put it back, \"{text}\"; a person who wants less arms the loop again"
        );
        ReviewRequirement { id, verdict, evidence: Vec::new(), why }
    };
    review.requirements = gone.into_iter().map(judged).collect();
    review.outcome = ReviewOutcome::NotPassed;
    review.exit_code = review.outcome.exit_code();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reworded(then: &str, now: &str) -> Vec<(String, String, String)> {
        let [then, now] = [then, now].map(|spec| requirements(spec.as_bytes()));
        let all = between(&then, &now).reworded.into_iter();
        all.map(|requirement| (requirement.id, requirement.then, requirement.now)).collect()
    }

    #[test]
    fn v15_lost_words_are_quoted() {
        let gone = |then: &str, now: &str| {
            let [then, now] = [then, now].map(|spec| requirements(spec.as_bytes()));
            between(&then, &now).gone
        };
        let story = "## User Story 1\nAcceptance Scenarios\n\n";
        let then = format!("{story}1. Given a\n2. Given b\n3. Given c\n4. Given d\n- FR-001: e\n");
        for (line, id, text) in [
            ("1. Given a\n", "US1.4", "Given a"),
            ("2. Given b\n", "US1.4", "Given b"),
            ("4. Given d\n", "US1.4", "Given d"),
            ("- FR-001: e\n", "FR-001", "- FR-001: e"),
        ] {
            let found = gone(&then, &then.replace(line, ""));
            assert_eq!(found, [(id.to_owned(), text.to_owned())], "{line}");
        }
    }

    #[test]
    fn other_words_are_seen() {
        let then = "Why: FR-001\n\n- **FR-001**: MUST log\n  each try\n- FR-002: MUST stay\n";
        let now = then.replace("each try", "some tries");
        let (old, new) = ("- FR-001: MUST log each try", "- FR-001: MUST log some tries");
        let wanted = vec![("FR-001".to_owned(), old.to_owned(), new.to_owned())];
        assert_eq!(reworded(then, &now), wanted);
        let same =
            then.replace("  each try", "\teach   try").replace("**", "") + "\nAs FR-001 says.\n";
        assert_eq!(reworded(then, &same), []);
        // What named it is left, what it asks for is not.
        let less = then.replace("- **FR-001**: MUST log\n  each try\n", "");
        assert_eq!(reworded(then, &less), [("FR-001".to_owned(), old.to_owned(), String::new())]);
        let story = "## User Story 1\nAcceptance Scenarios\n\n";
        let then = format!("{story}1. Given a\n2. Given b\n");
        let more = format!("{story}1. Given c\n2. Given a\n3. Given b\n");
        assert_eq!(reworded(&then, &more), []);
        // The text of another one stands in its place.
        let twice = format!("{story}1. Given b\n2. Given b\n");
        let wanted = ("US1.1".to_owned(), "Given a".to_owned(), "Given b".to_owned());
        assert_eq!(reworded(&then, &twice), [wanted]);
    }
}
