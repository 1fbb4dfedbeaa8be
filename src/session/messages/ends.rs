//! Texts about the end of a feature's loop, for people and the log.

use std::fmt::Write;

use super::feature::{file_name, limited, open_tasks};
use super::shortfall::{converged, ids};
use super::{AFTER_COMPLETED, NextStep, person};
use crate::checks::noted_by_reviews;
use crate::engine::scope::in_runs;
use crate::engine::{CheckResult, TerminalReason};
use crate::evidence::task_list::TASKS;
use crate::feature::PROGRESS;
use crate::feature::lists::others_in_words;
use crate::feature::project::printable;
use crate::feature::snapshot::{FeatureSnapshot, TaskPosition};
use crate::store::loops::Record;
use crate::store::names::{ArmedBy, EndName};
use crate::text;

/// Characters of task names that a person is told to type again.
const TYPED: usize = 60;

/// A loop that no person armed ends by its list, and no tick is judged.
const BY_NOBODY: &str = "on the agent's word alone: no person armed it";

/// One line for the log: why the loop ended.
pub fn end_line(snapshot: &FeatureSnapshot, reason: &TerminalReason) -> String {
    match reason {
        TerminalReason::MaxIters { limit } => format!(
            "ERROR: Maximum global iterations ({limit}) reached. {} of feature {} is kept as it is; see {PROGRESS}, then run /speckit:implement to continue",
            TASKS, snapshot.feature.name
        ),
        TerminalReason::CorruptState => {
            format!(
                "ERROR: {} of feature {} is still corrupt",
                file_name(snapshot),
                snapshot.feature.name
            )
        }
        _ => {
            let (name, why) = (reason.name(), plain(reason));
            format!("Loop ended ({name}) for feature {}: {why}", snapshot.feature.name)
        }
    }
}

/// For a person, after an end short of completion: why, how far, what next.
///
/// `left` is what was missing besides the list: failed checks, hooks of extensions.
pub fn end_message(
    snapshot: &FeatureSnapshot,
    record: &Record,
    reason: &TerminalReason,
    left: Option<&str>,
) -> String {
    let place = snapshot.place();
    let mut why = plain(reason);
    if let Some(left) = left {
        why.push_str("; ");
        why.push_str(&text::line(left));
    }
    let mut next = what_next(snapshot, Some(record), reason);
    if snapshot.tasks.as_ref().is_some_and(|list| list.open().next().is_some()) {
        let open = open_tasks(snapshot);
        let _ = write!(next, "\nOpen: {}", open.split_once(": ").map_or(&*open, |(_, ids)| ids));
    }
    let name = EndName::of(reason);
    let parts = [&*person::more_than(&name, &why), &place.words()];
    limited(person::ended(record, &name.in_words(), parts, &next))
}

/// For the person of a plugin, when everything is done.
pub fn completed_message(snapshot: &FeatureSnapshot, record: &Record) -> String {
    person::ended(record, "done", [&snapshot.place().words(), worth(record)], "")
}

/// What else is said of an end: that nobody armed a finished loop, or what converge found; empty for nothing.
pub fn worth(record: &Record) -> &'static str {
    match (&record.ledger.ended, &record.armed_by) {
        (Some(TerminalReason::Completed), ArmedBy::Session | ArmedBy::Claim) => BY_NOBODY,
        _ => converged(record.ledger.converging),
    }
}

/// Tasks that were open under this loop and are gone from its list; `None` for none.
pub fn gone_tasks(record: &Record) -> Option<String> {
    let gone = &record.gone_tasks;
    let tasks = text::counted_as(gone.len(), "task was", "tasks were");
    let told = || format!("{tasks} open before and gone from {TASKS} at the end: {}", ids(gone));
    (!gone.is_empty()).then(told)
}

/// Open boxes of the lists that do not count; `None` for none. With named tasks, the others were left out on purpose.
pub fn uncounted(snapshot: &FeatureSnapshot) -> Option<String> {
    let own = snapshot.tasks.as_ref()?.uncounted();
    let others = others_in_words(&snapshot.feature.folder).filter(|_| !snapshot.place().named);
    let all: Vec<String> = own.into_iter().chain(others).collect();
    (!all.is_empty()).then(|| text::line(&all.join("; ")).into_owned())
}

/// For the person, when the list is done, but tasks are gone, other boxes are open, or the review has notes.
pub fn doubtful_message(
    snapshot: &FeatureSnapshot,
    record: &Record,
    checks: &[CheckResult],
) -> Option<String> {
    let (gone, open) = (gone_tasks(record), uncounted(snapshot));
    let next = match (&gone, &open) {
        (Some(_), _) => COMPARE,
        (None, Some(_)) => LOOK,
        (None, None) => READ,
    };
    let place = snapshot.place().words();
    let done = if gone.is_some() { "every task that is left is done" } else { &place };
    let but: Vec<String> = gone.into_iter().chain(open).chain(noted_by_reviews(checks)).collect();
    let words = format!("{done}, but {}", but.join("; "));
    let parts = [&words, worth(record)];
    (!but.is_empty()).then(|| limited(person::ended(record, "done", parts, next)))
}

/// For a session whose loop another one adopted; `None` otherwise.
pub fn moved_message(record: &Record) -> Option<String> {
    let to = Some(printable(&record.moved_to)).filter(|to| !to.is_empty())?;
    let why = format!("session {to} has taken this loop over, this one may stop");
    Some(person::ended(record, "ended (stopped)", [&why, ""], ""))
}

/// For a person, when the loop ended and its feature cannot be found.
pub fn end_without_files(record: &Record) -> String {
    let end = record.ledger.ended.as_ref().map_or(EndName::Stopped, EndName::of);
    person::ended(record, &end.in_words(), [&printable(&record.words), ""], "")
}

/// For a person, when the state file is gone and tasks are open.
pub fn gone_message(record: &Record, place: TaskPosition) -> String {
    let done = if place.total > 0 { place.words() } else { String::new() };
    let why = ["its state file is gone", &done];
    person::ended(
        record,
        "ended (cancelled)",
        why,
        &format!("{}.", again(&record.about, Some(record))),
    )
}

/// The reason on one line: an agent's words about what it needs may hold anything.
fn plain(reason: &TerminalReason) -> String {
    text::line(&reason.to_string()).into_owned()
}

/// For a person, when tasks are gone from a finished list.
const COMPARE: &str = "compare the list with an earlier one (`git diff`): nobody has proved that their work is there.";

/// For a person, when boxes are open that do not count.
const LOOK: &str =
    "look at these lines: a task that counts is a line such as `- [ ] T001 Create the project`.";

/// For a person, when the review has notes.
const READ: &str = "read the whole review: `spool review --last`.";

/// How to continue after all boxes are ticked: only with checks, a command arms a loop for such a list.
const REST: &str = "have the rest done in the session, or, with checks, type /speckit:implement: every box is ticked";

/// How to continue: the command that armed the loop, with its feature and its tasks. Another feature may be current by then.
fn again(feature: &str, record: Option<&Record>) -> String {
    let asked = record.and_then(|record| record.asked.as_deref());
    let by_outline = asked.is_some_and(|asked| asked.by_outline);
    let tasks = asked.map(|asked| in_runs(&asked.tasks)).filter(|tasks| !tasks.is_empty());
    let (command, before) = if by_outline {
        ("spec-kit's implement command".to_owned(), " for ")
    } else {
        (format!("/speckit:implement {}", printable(feature)), " ")
    };
    let tasks = tasks.map(|tasks| match tasks.chars().count() {
        ..=TYPED => [before, &printable(&tasks)].concat(),
        _ => " for the same tasks".to_owned(),
    });
    format!("continue with {command}{}", tasks.unwrap_or_default())
}

/// The person's next step after the end of a feature's loop, behind "Next: ".
pub fn after_end(
    snapshot: &FeatureSnapshot,
    record: Option<&Record>,
    reason: &TerminalReason,
) -> String {
    let has_gone_tasks = record.is_some_and(|record| !record.gone_tasks.is_empty());
    match reason {
        TerminalReason::Completed if has_gone_tasks => COMPARE.to_owned(),
        TerminalReason::Completed => AFTER_COMPLETED.to_owned(),
        _ => person::behind_next(&what_next(snapshot, record, reason)),
    }
}

fn what_next(
    snapshot: &FeatureSnapshot,
    record: Option<&Record>,
    reason: &TerminalReason,
) -> String {
    let (feature, all_done) = (&snapshot.feature.name, snapshot.all_done());
    if *reason == TerminalReason::CorruptState {
        return format!(
            "Run /speckit:implement {} (keeps the broken file aside and starts again) or /speckit:cancel.",
            printable(feature)
        );
    }
    let mut again = if all_done { REST.to_owned() } else { again(feature, record) };
    if let Some(id) = snapshot.gone.first() {
        let id = printable(id);
        return format!(
            "Put back what is to be done, or: `spool task drop {id} \"why\"`. Then {again}."
        );
    }
    let is_dropped = record.is_some_and(|record| !record.gone_tasks.is_empty());
    if all_done && is_dropped && matches!(reason, TerminalReason::Blocked { .. }) {
        return AFTER_COMPLETED.to_owned();
    }
    if !snapshot.not_proved.is_empty() {
        let opened = text::title(&in_runs(&snapshot.not_proved), TYPED);
        again = format!("{again}, which opens {} again", printable(&opened));
    }
    match reason {
        // Another limit does not help a list without open tasks.
        TerminalReason::MaxIters { .. } if all_done => {
            format!("Look at what was done, then {again}.")
        }
        _ => NextStep { again: &again, look_at: "the task and at .progress.md" }.after(reason),
    }
}
