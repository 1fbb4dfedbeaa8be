//! Checks of an earlier iteration whose results still hold.

use std::path::Path;

use crate::engine::{Difference, Observation};
use crate::evidence::progress::{LookMoment, changed_since};
use crate::store::loops::Checked;

/// Returns the results of the last run of the checks when one failed and nothing has happened since.
///
/// Not every cause shows in the files that are looked at: any tool call asks for another run. The results are
/// kept where the agent can write: that all have passed is never taken from there.
pub fn still_good(
    checked: Option<&Checked>,
    seen: &Observation,
    root: &Path,
    moment: LookMoment,
) -> Option<Checked> {
    let checked = checked.filter(|_| seen.tool_calls == Some(0) && !seen.more_calls)?;
    let results = &checked.results;
    // A review without a verdict says nothing of the work: it is made again.
    let is_unjudged = results.iter().any(|it| it.review.is_some_and(|review| !review.judged));
    if is_unjudged || results.iter().all(|result| result.passed) {
        return None;
    }
    let same = seen.fingerprint.work == checked.fingerprint.work
        && changed_since(root, checked.since, moment) == Difference::Same;
    same.then(|| checked.clone())
}
