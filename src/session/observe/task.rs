//! One stop in a task's loop as an observation for the engine.

use std::path::Path;

use super::{turn_end, typed_cancel};
use crate::engine::promise::promise;
use crate::engine::{
    Difference, Observation, Promise, UnchangedFiles, Waiting, Work, is_last_idle_stop,
};
use crate::evidence::commits;
use crate::evidence::progress::{LookMoment, changed_since};
use crate::hosts::claude::input::Event;
use crate::hosts::claude::transcript::lag::wait_while;
use crate::hosts::claude::transcript::{Calls, Tail};
use crate::store::loops::{Assignment, Record};
use crate::world::{self, Deadline};

/// Waits, half a second at most, for a transcript that does not show yet what the event tells: the
/// work behind a promise, the final text where the event has none, or any tool call where a stop without
/// one would end the loop.
pub fn wait_for_transcript(event: &Event, record: &Record, deadline: Deadline) {
    let (Some(assignment), Some(path)) = (record.ralph(), event.transcript()) else {
        return;
    };
    let told = event.last_message();
    let in_question = |calls: Option<Calls>| {
        let (count, failed) = calls.map_or((None, 0), |calls| (calls.count, calls.failed));
        let enough = count.unwrap_or(0).saturating_sub(failed) >= needed_calls(record, assignment);
        told.is_empty()
            || (!enough && promised(assignment, told) == Promise::Kept)
            || (count == Some(0)
                && is_last_idle_stop(&assignment.contract.guardrails, &record.ledger))
    };
    wait_while(deadline, || {
        in_question(calls_since(&path, record, assignment))
            && !turn_end(event, record).is_shown(&path, record.transcript_read)
    });
}

/// Returns the observation of one stop, and moves the record's place in the transcript on.
pub fn observe(root: &Path, event: &Event, record: &mut Record, moment: LookMoment) -> Observation {
    let Some(assignment) = record.assignment.clone() else {
        return Observation::default();
    };
    let path = event.transcript();
    let mut said = event.last_message().to_owned();
    if said.is_empty() {
        let tail = path.as_deref().and_then(|path| Tail::read(path, record.transcript_read));
        said = tail.and_then(|tail| tail.last_text()).unwrap_or_default();
    }
    let calls = path.as_deref().and_then(|path| calls_since(path, record, &assignment));
    let tool_calls = calls.as_ref().and_then(|calls| calls.count);
    let promised = promised(&assignment, &said);
    let claimed = promised == Promise::Kept;
    let unseen = !claimed && tool_calls == Some(0) && {
        is_last_idle_stop(&assignment.contract.guardrails, &record.ledger)
            && path.is_some_and(|path| {
                !turn_end(event, record).is_shown(&path, record.transcript_read)
            })
    };
    let failed_calls = calls.as_ref().map_or(0, |calls| calls.failed);
    let more_calls = calls.as_ref().is_some_and(|calls| calls.more);
    // A part that does not show the end of the turn yet is read again at the next stop.
    let counted = calls.as_ref().filter(|_| !unseen);
    record.transcript_read = counted.map_or(record.transcript_read, |calls| calls.read_up_to);
    record.last_message = counted.map_or(record.last_message, |calls| calls.last);
    let tokens = counted.map(|calls| calls.tokens).unwrap_or_default();
    let typed = calls.map(|calls| calls.typed_ahead).unwrap_or_default();
    let fingerprint = commits::fingerprint(root);
    let unsure = claimed && (tool_calls.is_none() || more_calls || record.ledger.more_calls);
    let since_arming = match unsure {
        true if fingerprint.work_changed_since(Some(&assignment.start)) => Difference::Changed,
        true => changed_since(root, record.marks.start, moment),
        false => Difference::Unknown,
    };
    Observation {
        work: Work::Untold,
        claimed,
        promise: promised,
        // A transcript that lags has no calls yet, and does not say that there were none.
        tool_calls: tool_calls.filter(|_| !unseen),
        failed_calls,
        more_calls,
        tokens: tokens.all,
        written_tokens: tokens.written,
        commits: commits::counted(root, record),
        since_arming,
        fingerprint,
        files: UnchangedFiles::NotLooked,
        waiting: waiting(event, record, &typed),
        elapsed_seconds: world::now().saturating_sub(record.armed_at) / 1000,
        reentered: event.held(),
        ..Observation::default()
    }
}

/// What the agent did since the last stop; as many calls are counted as the promise still needs.
fn calls_since(path: &Path, record: &Record, assignment: &Assignment) -> Option<Calls> {
    let needed = needed_calls(record, assignment);
    Calls::since(path, record.transcript_read, record.last_message, needed)
}

/// How many more calls the promise needs behind it; one that was denied or failed is no work.
fn needed_calls(record: &Record, assignment: &Assignment) -> u64 {
    let worked = record.ledger.tool_calls.saturating_sub(record.ledger.failed_calls);
    assignment.contract.min_tool_calls.saturating_sub(worked)
}

fn waiting(event: &Event, record: &Record, typed: &[String]) -> Vec<Waiting> {
    let paused = record.pause().map(|pause| Waiting::Paused(pause.words()));
    let background = event.background().into_iter().map(Waiting::Background);
    paused.into_iter().chain(background).chain(typed_cancel(typed, record)).collect()
}

/// Returns what a text says of the assignment's promise.
fn promised(assignment: &Assignment, text: &str) -> Promise {
    promise(assignment.contract.token.as_deref(), assignment.promise_match, text)
}
