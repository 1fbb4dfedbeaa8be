//! What kept the last iteration from being the last one, reported to the next.

use std::fmt::Write;

use super::material::Material;
use crate::engine::promise::marker;
use crate::engine::{CheckResult, Shortfall, Tampered};
use crate::feature::project::printable;
use crate::session::messages::feature::quoted;

/// The most characters of failing output in one prompt.
const OUTPUT: usize = 4_000;
/// The most failed checks that are reported.
const CHECKS: usize = 4;
/// The most task ids that are named.
const IDS: usize = 20;

/// Writes what was missing and what the driver has to say; nothing when there is nothing.
pub fn write(text: &mut String, material: &Material<'_>) {
    let mut lines: Vec<String> = material.remarks.to_vec();
    let promise = material.contract.token.as_deref().map(marker).unwrap_or_default();
    lines.extend(material.missing.iter().filter_map(|one| explained(one, &promise)));
    let failed: Vec<&CheckResult> = material.missing.iter().filter_map(failure).collect();
    if lines.is_empty() && failed.is_empty() {
        return;
    }
    text.push_str("\n# What the last iteration left open\n\n");
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
    for result in failed.iter().take(CHECKS) {
        let _ = writeln!(text, "- This check failed ({}): `{}`", result.outcome, result.run);
        let most = OUTPUT / failed.len().min(CHECKS);
        let skipped = result.tail.chars().count().saturating_sub(most);
        let tail: String = result.tail.chars().skip(skipped).collect();
        if !tail.is_empty() {
            let _ = write!(text, "  The end of its output:\n{}", quoted(&tail));
        }
    }
    if failed.len() > CHECKS {
        let _ = writeln!(text, "- {} more checks failed.", failed.len() - CHECKS);
    }
    if !failed.is_empty() {
        text.push_str("- Repair the work, never the check.\n");
    }
}

/// A sentence on one thing that was missing; failed checks are reported by themselves.
fn explained(shortfall: &Shortfall, promise: &str) -> Option<String> {
    Some(match shortfall {
        Shortfall::CheckFailed(_) | Shortfall::ChecksNotRun => return None,
        Shortfall::OpenTasks => "Tasks are open.".to_owned(),
        Shortfall::ClaimedWithOpenTasks => {
            "It said that all is done, but tasks are open. The list decides.".to_owned()
        }
        Shortfall::EmptyList => {
            "The task list holds no task, so nothing tells when the work is done. Write the tasks into it, one `- [ ]` line each.".to_owned()
        }
        Shortfall::Tampered(tampered) => changed(tampered),
        Shortfall::NoToken if promise.is_empty() => "Nothing said that the work is done.".to_owned(),
        Shortfall::NoToken => format!("It ended without {promise}."),
        Shortfall::PromiseNotMade => format!(
            "It wrote {promise}, but in code, in quotation marks, in a sentence that denies it, or not where it has to be. When the work really is done, write it alone on the last line."
        ),
        Shortfall::NoWork { calls: 0, .. } => {
            "It promised that all is done, but no tool had been called: the work itself has to be done.".to_owned()
        }
        Shortfall::NoWork { calls, needed } => format!(
            "It promised that all is done after {calls} tool calls, and at least {needed} are expected: the work itself has to be done."
        ),
        Shortfall::UnseenWork => format!(
            "It promised that all is done, but no file and no commit has changed. If the work really is done, write {promise} again."
        ),
        Shortfall::TooEarly { first } => format!(
            "All seemed done, but the loop continues until iteration {first}: look for what is missing or wrong."
        ),
        Shortfall::SameFailure { times } => format!(
            "The same check has failed in the same way {times} times in a row. Try another way."
        ),
        Shortfall::Unreadable => "The task list cannot be read. Repair the file.".to_owned(),
    })
}

fn changed(tampered: &Tampered) -> String {
    let ids = |ids: &[String]| {
        let shown: Vec<String> = ids.iter().take(IDS).map(|id| printable(id)).collect();
        let more = if ids.len() > IDS { ", …" } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    let mut words = String::new();
    if !tampered.removed.is_empty() {
        let _ =
            write!(words, "Open tasks were taken out of the list: {}. ", ids(&tampered.removed));
    }
    if !tampered.reworded.is_empty() {
        let _ = write!(words, "Open tasks were reworded: {}. ", ids(&tampered.reworded));
    }
    words.push_str("Put them back unless that was asked for: a task is done by doing it.");
    words
}

fn failure(shortfall: &Shortfall) -> Option<&CheckResult> {
    if let Shortfall::CheckFailed(result) = shortfall { Some(result) } else { None }
}
