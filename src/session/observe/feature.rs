//! One stop in a feature's loop as an observation for the engine.

use super::{turn_end, typed_cancel};
use crate::engine::promise::stands_alone;
use crate::engine::{Guardrails, Observation, UnchangedFiles, Waiting, is_last_idle_stop};
use crate::evidence::commits;
use crate::feature::SIGNAL;
use crate::feature::project::Project;
use crate::feature::snapshot::FeatureSnapshot;
use crate::hosts::claude::input::Event;
use crate::hosts::claude::transcript::lag::wait_while;
use crate::hosts::claude::transcript::{Calls, Tail};
use crate::store::loops::Record;
use crate::world::{self, Deadline};

/// Returns the observation of one stop; nothing is counted yet (see [`add_seen`]).
pub fn observe(
    project: &Project,
    snapshot: &FeatureSnapshot,
    event: &Event,
    record: &mut Record,
) -> Observation {
    let mut claimed = stands_alone(event.last_message(), SIGNAL);
    // The list decides where there is one; the transcript is asked only where there is none.
    if !claimed && snapshot.tasks.is_none() {
        let path = event.transcript();
        let tail = path.and_then(|path| Tail::read_for_signal(&path, record.transcript_from));
        claimed = tail.is_some_and(|tail| tail.says(SIGNAL));
    }
    record.had_list |= snapshot.tasks.as_ref().is_some_and(|list| !list.tasks.is_empty());
    let fingerprint = snapshot.work_fingerprint(project);
    Observation {
        work: snapshot.work(record.had_list),
        claimed,
        tool_calls: None,
        fingerprint,
        files: UnchangedFiles::NotLooked,
        waiting: waiting(snapshot, event, record),
        attempt: Some(snapshot.attempt(snapshot.place(), record)),
        reported_iteration: snapshot.state.global_iteration(),
        elapsed_seconds: world::now().saturating_sub(record.armed_at) / 1000,
        reentered: event.held(),
        ..Observation::default()
    }
}

/// Waits, half a second at most, for a transcript that shows no tool call yet where a stop without one would
/// end the loop.
pub fn wait_for_transcript(event: &Event, record: &Record, deadline: Deadline) {
    let Some(path) =
        event.transcript().filter(|_| is_last_idle_stop(&Guardrails::default(), &record.ledger))
    else {
        return;
    };
    wait_while(deadline, || {
        let calls = Calls::since(&path, record.transcript_read, record.last_message, 0);
        calls.is_some_and(|calls| calls.count == Some(0))
            && !turn_end(event, record).is_shown(&path, record.transcript_read)
    });
}

/// Adds what happened since the last stop: tool calls, tokens, commits, and a cancel that was typed
/// meanwhile; moves the record's places in transcript and commits on.
///
/// Counting is the dearest part of a stop, and only a session at its own loop needs it.
pub fn add_seen(project: &Project, event: &Event, record: &mut Record, seen: &mut Observation) {
    seen.commits = commits::counted(&project.root, record);
    let Some(path) = event.transcript() else {
        return;
    };
    let from = record.transcript_read;
    let Some(calls) = Calls::since(&path, from, record.last_message, 0) else {
        return;
    };
    seen.waiting.extend(typed_cancel(&calls.typed_ahead, record));
    // A transcript that lags has no calls yet, and does not say that there were none: it is read again at
    // the next stop.
    let unseen = calls.count == Some(0)
        && is_last_idle_stop(&Guardrails::default(), &record.ledger)
        && !turn_end(event, record).is_shown(&path, from);
    if unseen {
        return;
    }
    record.transcript_read = calls.read_up_to;
    record.last_message = calls.last;
    seen.tool_calls = calls.count;
    seen.tokens = calls.tokens.all;
    seen.written_tokens = calls.tokens.written;
}

fn waiting(snapshot: &FeatureSnapshot, event: &Event, record: &Record) -> Vec<Waiting> {
    let paused = record.pause().map(|pause| Waiting::Paused(pause.words()));
    let approval = snapshot.state.awaits_approval().then_some(Waiting::Approval);
    let background = event.background().into_iter().map(Waiting::Background);
    paused.into_iter().chain(approval).chain(background).collect()
}
