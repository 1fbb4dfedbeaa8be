//! Results of earlier checks that still hold.

use std::path::Path;

use crate::engine::{Difference, Observation};
use crate::evidence::progress::{LookMoment, changed_since};
use crate::store::loops::Checked;

/// The results of the last checks, if one failed and nothing has happened since.
///
/// Files do not show every cause: any tool call asks for another run. The agent can write where the results are kept,
/// so a pass of all is never taken from there.
pub fn still_good(
    checked: Option<&Checked>,
    seen: &Observation,
    root: &Path,
    moment: LookMoment,
) -> Option<Checked> {
    let checked = checked.filter(|_| seen.tool_calls == Some(0) && !seen.more_calls)?;
    let results = &checked.results;
    // A review without a verdict says nothing about the work: it is made again.
    let is_unjudged = results.iter().any(|check| check.review.is_some_and(|review| !review.judged));
    if is_unjudged || results.iter().all(|result| result.passed) {
        return None;
    }
    let same = seen.fingerprint.work == checked.fingerprint.work
        && changed_since(root, checked.since, moment) == Difference::Same;
    same.then(|| checked.clone())
}
