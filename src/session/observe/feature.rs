//! The observation of a stop in a feature's loop.

use super::{PAUSE, TurnTranscript, asked, waiting};
use crate::engine::promise::stands_alone;
use crate::engine::{Guardrails, Observation, UnchangedFiles, Waiting};
use crate::evidence::commits;
use crate::feature::SIGNAL;
use crate::feature::project::Project;
use crate::feature::snapshot::FeatureSnapshot;
use crate::hosts::HookEvent;
use crate::hosts::transcript::TranscriptPart;
use crate::store::due::name_of;
use crate::store::loops::Record;
use crate::store::pins::Pin;
use crate::world::{self, Deadline};

/// The observation without counts (see [`add_seen`]).
pub fn observe(snapshot: &FeatureSnapshot, event: &HookEvent, record: &mut Record) -> Observation {
    let mut claimed = stands_alone(&event.last_message, SIGNAL);
    // The list decides; the transcript is asked only without a list.
    if !claimed && snapshot.tasks.is_none() {
        let transcript = event.transcript.as_deref();
        claimed = transcript.is_some_and(|file| file.says(SIGNAL, record.transcript_from));
    }
    record.had_list |= snapshot.tasks.as_ref().is_some_and(|list| !list.tasks.is_empty());
    let fingerprint = snapshot.work_fingerprint();
    let approval = snapshot.state.awaits_approval().then_some(Waiting::Approval);
    Observation {
        work: snapshot.work(record.had_list),
        claimed,
        tool_calls: None,
        list: snapshot.tasks_hash(),
        fingerprint,
        files: UnchangedFiles::NotLooked,
        waiting: waiting(event, record, approval),
        attempt: Some(snapshot.attempt(snapshot.place(), record)),
        reported_iteration: snapshot.state.global_iteration(),
        elapsed_seconds: record.armed_at.age().as_secs(),
        reentered: event.reentered,
        ..Observation::default()
    }
}

/// Waits for a transcript without a tool call, if such a stop would end the loop.
pub fn wait_for_transcript(event: &HookEvent, record: &Record, deadline: Deadline) {
    let part = TurnTranscript::of(event, record, &Guardrails::default(), 0);
    if let Some(part) = part.filter(|part| part.is_last_idle) {
        part.wait(deadline, |_| false);
    }
}

/// The extension hooks that are due now. Notes the hooks that the transcript shows after `from`, and the converge
/// command if the agent was told to run it. Reads nothing once all have run. Waits for a transcript that lags if
/// nothing else is missing.
pub fn hooks_due(
    pin: &Pin,
    (event, deadline): (&HookEvent, Deadline),
    record: &mut Record,
    from: u64,
    done: bool,
) -> Vec<String> {
    let rails = Guardrails::default();
    let hooks = &pin.hooks;
    let is_asked = record.ledger.converging.asked.is_some() && !record.converge_ran;
    let converge = Some(name_of(&pin.converge)).filter(|_| is_asked);
    if let Some(part) = TurnTranscript::of(event, record, &rails, 0)
        && (is_asked || !hooks.still_due(&record.hooks_ran, true).is_empty())
    {
        let unread = TranscriptPart { from, ..part.unread };
        let part = TurnTranscript { unread, ..part };
        let patience = part.patience(deadline);
        loop {
            // A read after the end of the turn has everything.
            let is_whole = !(done || is_asked) || part.shows_end() || patience.is_over();
            let (mut ran, mut converge_ran) = (record.hooks_ran.clone(), !is_asked);
            for command in part.transcript.commands_run(from) {
                hooks.note(&mut ran, &command, done);
                converge_ran |= converge.as_ref() == Some(&name_of(&command));
            }
            if is_whole || (converge_ran && hooks.still_due(&ran, done).is_empty()) {
                record.hooks_ran = ran;
                record.converge_ran |= is_asked && converge_ran;
                break;
            }
            world::pause(PAUSE);
        }
    }
    hooks.still_due(&record.hooks_ran, done)
}

/// Adds what happened since the last stop: tool calls, tokens, commits, and a cancel that was typed meanwhile. The
/// record moves on in transcript and commits.
///
/// Counting is the most expensive part of a stop: only a session in its own loop does it.
pub fn add_seen(project: &Project, event: &HookEvent, record: &mut Record, seen: &mut Observation) {
    seen.commits = commits::counted(&project.root, record);
    let Some(part) = TurnTranscript::of(event, record, &Guardrails::default(), 0) else { return };
    let Some(activity) = part.activity() else { return };
    seen.waiting.extend(part.typed_cancel(&project.root, &activity, record));
    part.take(&activity, record, seen);
    let asked = asked(seen, &event.last_message).filter(|_| record.ledger.continued > 0);
    seen.waiting.extend(asked);
}
