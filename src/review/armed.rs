//! What the specification asked for when the loop was armed, and does not ask for any more.

use std::time::Duration;

use super::form::{JudgedRequirement, RequirementVerdict};
use super::record::{Outcome, Review};
use crate::feature::project::{Feature, Project};
use crate::feature::requirements::{Requirement, requirements};
use crate::runner::git::Git;
use crate::session::proof::TaskProofs;

/// The longest look at the files.
const LOOK: Duration = Duration::from_secs(10);

/// Returns the requirements that the specification had in the commit on which a loop was armed and has not now, by their ids: the
/// agent may have taken them out.
pub fn gone(
    (project, feature): (&Project, &Feature),
    git: Option<&Git>,
    commit: Option<&str>,
    now: &[Requirement],
) -> Vec<String> {
    let path = format!("{}/spec.md", feature.relative);
    let then = git.zip(commit).and_then(|(git, commit)| git.file_at(commit, &path));
    let then = requirements(&then.unwrap_or_default()).into_iter().map(|it| it.id);
    let gone: Vec<String> = then.filter(|id| now.iter().all(|it| it.id != *id)).collect();
    if gone.is_empty() {
        return gone;
    }
    // A person may have changed it before the loop was armed, and not committed that.
    let proofs = TaskProofs::standing(project, feature).ok();
    let seen = proofs.map(|it| it.look(LOOK)).unwrap_or_default();
    let has_changed = seen.since_arming.iter().any(|file| file.path == path);
    if has_changed { gone } else { Vec::new() }
}

/// Fills in that these requirements are not met, because the specification at this path has them no more.
pub fn missed(review: &mut Review, gone: Vec<String>, path: &str) {
    let why = format!(
        "`{path}` had it when the loop was armed, and has not now: put it back; a person who wants less arms the loop again"
    );
    let verdict = RequirementVerdict::NotMet;
    let judged = |id| JudgedRequirement { id, verdict, evidence: Vec::new(), why: why.clone() };
    review.requirements = gone.into_iter().map(judged).collect();
    review.outcome = Outcome::NotPassed;
    review.exit_code = review.outcome.exit_code();
}
