//! The observation of a stop in a ralph loop.

use std::borrow::Cow;
use std::path::Path;

use super::{TurnTranscript, asked, waiting};
use crate::engine::promise::promise;
use crate::engine::{Observation, Promise, UnchangedFiles, Work};
use crate::evidence::commits;
use crate::evidence::progress::{LookMoment, changed_since};
use crate::hosts::HookEvent;
use crate::judge::promised::{against, left_open};
use crate::session::pinned::promise_judge;
use crate::store::loops::{Assignment, Record};
use crate::world::Deadline;

/// Waits for a transcript that does not yet have what the event says: the work behind a promise, the final text if the
/// event lacks it, or any tool call if a stop without one would end the loop.
pub fn wait_for_transcript(event: &HookEvent, record: &Record, deadline: Deadline) {
    let Some(assignment) = record.ralph() else { return };
    let Some(part) = turn(event, record, assignment) else { return };
    let said = &event.last_message;
    part.wait(deadline, |activity| {
        let worked = activity.and_then(|all| all.count?.checked_sub(all.failed)).unwrap_or(0);
        said.is_empty()
            || (worked < part.unread.needed && promised(assignment, said) == Promise::Kept)
    });
}

/// Observes this stop. The record advances in transcript and commits.
pub fn observe(
    root: &Path,
    event: &HookEvent,
    record: &mut Record,
    moment: LookMoment,
) -> Observation {
    let Some(assignment) = record.assignment.clone() else { return Observation::default() };
    let mut said = Cow::Borrowed(event.last_message.as_str());
    if said.is_empty()
        && let Some(transcript) = &event.transcript
    {
        said = transcript.last_text(record.transcript_read).unwrap_or_default().into();
    }
    let promised = promised(&assignment, &said);
    let claimed = promised == Promise::Kept;
    let mut seen = Observation {
        work: Work::Untold,
        claimed,
        promise: promised,
        files: UnchangedFiles::NotLooked,
        waiting: waiting(event, record, None),
        elapsed_seconds: record.armed_at.age().as_secs(),
        reentered: event.reentered,
        ..Observation::default()
    };
    if let Some(mut part) = turn(event, record, &assignment)
        && let Some(activity) = part.activity()
    {
        // A promise is judged by the existing calls, and does not end the loop as an idle stop.
        part.is_last_idle &= !claimed;
        seen.waiting.extend(part.typed_cancel(root, &activity, record));
        seen.failed_calls = activity.failed;
        seen.more_calls = activity.more;
        part.take(&activity, record, &mut seen);
        let asked = asked(&seen, &said).filter(|_| record.ledger.continued > 0);
        seen.waiting.extend(asked);
    }
    let is_checked = !assignment.contract.checks.is_empty();
    let unseen = seen.tool_calls.is_none() || seen.more_calls || record.ledger.more_calls;
    if claimed && (!is_checked || unseen) {
        let by_times = || changed_since(root, record.marks.start, moment);
        let judge = promise_judge(root, record).ok();
        let about = (root, assignment.task.as_str());
        (seen.since_arming, seen.against) = against(judge.as_ref(), about, moment.time(), by_times);
    }
    if is_checked {
        seen.against = left_open(root, &assignment.task);
    }
    seen.commits = commits::counted(root, record);
    seen
}

/// This stop's part of the transcript. Calls are counted up to the number that the promise still needs. A denied or
/// failed call is not work.
fn turn<'a>(
    event: &'a HookEvent,
    record: &Record,
    assignment: &Assignment,
) -> Option<TurnTranscript<'a>> {
    let contract = &assignment.contract;
    let worked = record.ledger.tool_calls.saturating_sub(record.ledger.failed_calls);
    let needed = contract.min_tool_calls.saturating_sub(worked);
    TurnTranscript::of(event, record, &contract.guardrails, needed)
}

fn promised(assignment: &Assignment, text: &str) -> Promise {
    promise(assignment.contract.token.as_deref(), assignment.promise_match, text)
}
