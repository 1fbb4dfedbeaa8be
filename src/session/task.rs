//! A stop in a ralph loop (spec 002): what is observed, and what is said.

use super::arguments::task::PROMISE;
use super::context::StopSession;
use super::messages::ends::moved_message;
use super::messages::feature::checks_at_end;
use super::messages::landing::{self, HandoffPlace};
use super::messages::shortfall::{brief, short};
use super::messages::task as messages;
use super::observe::task as observe;
use crate::engine::{Contract, Observation, Shortfall, TerminalReason, Verdict};
use crate::hosts::{ContinueForm, HookAnswer};
use crate::session::pinned;
use crate::store::journal::Entry;
use crate::store::loops::Record;
use crate::store::names::{EndStatus, PromiseState};

/// Observes this stop and returns its contract, too. The record advances in transcript and commits.
pub fn observe(session: &mut StopSession<'_>) -> (Contract, Observation) {
    let StopSession { context, record, standing, .. } = session;
    if standing.pin().is_none() {
        pinned::without_commands(record, PROMISE);
    }
    let moment = context.moment(record);
    let seen = observe::observe(&context.project.root, context.event, record, moment);
    let contract = record.assignment.as_ref().map(|task| task.contract.clone()).unwrap_or_default();
    (contract, seen)
}

/// The verdict on one line, for the journal and `spool status`.
pub fn words(record: &Record, seen: &Observation, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Continue(missing) => brief(missing, ""),
        Verdict::Wait(_) => String::new(),
        Verdict::End(TerminalReason::Completed) => match messages::grounds(record) {
            grounds if !record.ledger.against.is_empty() => ["done ", &grounds].concat(),
            grounds if grounds.is_empty() => TerminalReason::Completed.to_string(),
            grounds => format!("{} ({grounds})", TerminalReason::Completed),
        },
        Verdict::End(reason) => match missing(record, seen) {
            none if none.is_empty() => reason.to_string(),
            missing => format!("{reason}; {missing}"),
        },
    }
}

/// The journal's entry with the fate of the promise.
pub fn with_promise(
    entry: Entry,
    record: &Record,
    contract: &Contract,
    seen: &Observation,
    verdict: &Verdict,
) -> Entry {
    let promise = match (verdict, seen.claimed) {
        _ if contract.token.is_none() => PromiseState::None,
        (Verdict::End(TerminalReason::Completed), _) => PromiseState::Accepted,
        (_, true) => PromiseState::Refused,
        (_, false) => PromiseState::Missing,
    };
    let status = match verdict {
        Verdict::End(reason) => messages::status(record, reason),
        _ => EndStatus::None,
    };
    Entry { status, promise, ..entry }
}

/// Sends the agent back to work.
pub fn continue_answer(
    session: &StopSession<'_>,
    missing: &[Shortfall],
    form: ContinueForm,
) -> HookAnswer {
    let mut reason = messages::go_on(&session.record, &session.folder, missing, form);
    if asks_for_handoff(session) {
        reason.push('\n');
        reason += landing::words(HandoffPlace::Words, form).trim_start();
    }
    let line = messages::progress(&session.record, missing);
    let quiet = session.context.settings.chosen.quiet();
    HookAnswer::block(&reason, if quiet { "" } else { &line }).log(&line)
}

/// The next iteration is the last one, and should leave a handoff.
pub fn asks_for_handoff(session: &StopSession<'_>) -> bool {
    let limit = session.record.ralph().and_then(|task| task.contract.guardrails.max_iterations);
    landing::is_asked(session.context.settings, limit, &session.record.ledger)
}

/// Says why the loop ended.
pub fn end_answer(
    session: &StopSession<'_>,
    seen: &Observation,
    reason: &TerminalReason,
) -> HookAnswer {
    let record = &session.record;
    let message = messages::end_message(record, reason, &missing(record, seen));
    let is_hidden = session.context.settings.chosen.quiet() && *reason == TerminalReason::Completed;
    let shown = if is_hidden { HookAnswer::silent() } else { HookAnswer::notify(&message) };
    shown.alert(&record.about, reason.name(), &message).log(&message)
}

/// Everything that was missing at an end short of completion, with the checks' words; empty for nothing.
fn missing(record: &Record, seen: &Observation) -> String {
    let reason = record.ledger.ended.as_ref().filter(|end| **end != TerminalReason::Completed);
    let (Some(assignment), Some(reason)) = (record.ralph(), reason) else {
        return String::new();
    };
    let is_limit = matches!(reason, TerminalReason::MaxIters { .. });
    let no_token = is_limit && assignment.contract.token.is_some() && !seen.claimed;
    let no_token = no_token.then(|| short(&Shortfall::NoToken, ""));
    let checked = checks_at_end(&assignment.contract.checks, seen.checks.as_deref());
    no_token.into_iter().chain(checked).collect::<Vec<_>>().join("; ")
}

/// The texts about an end between two stops: for the person, and for the log.
pub fn late_end_texts(record: &Record, reason: &TerminalReason) -> (String, String) {
    let message = moved_message(record).unwrap_or_else(|| {
        let left = record.words.strip_prefix(&*reason.to_string()).unwrap_or_default();
        messages::end_message(record, reason, left.trim_start_matches("; "))
    });
    (message.clone(), message)
}
