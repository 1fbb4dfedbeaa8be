//! `spool log --json`.

use serde::Serialize;

use super::loops::LoopDriver;
use super::plain::{JsonNumber, JsonTime, dollars, words};
use super::proofs::ProofsForm;
use super::receipt::ReceiptForm;
use super::runner::AgentShareForm;
use crate::store::journal::Entry;
use crate::store::names::{EndName, EndStatus, JournalEvent, PromiseState, VerdictName};

/// One line of `spool log --json`: what happened to a loop.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogForm {
    /// When it happened; null where that is not known.
    pub at: Option<JsonTime>,
    /// What happened.
    pub event: JournalEvent,
    /// What drives the loop.
    pub driver: LoopDriver,
    /// The session of the loop; null for a runner's, and before a session has it.
    pub session: Option<String>,
    /// The feature, the change, or the first words of the task.
    pub about: String,
    /// The iteration; null for none.
    pub iteration: Option<u32>,
    /// The place in the list, such as `3/50`; null for none.
    pub task: Option<String>,
    /// The verdict on a stop or an iteration; null for none.
    pub verdict: Option<VerdictName>,
    /// The name of the end; null while the loop lives.
    pub reason: Option<EndName>,
    /// The same end in fixed words, which some ends have; null for others.
    pub status: Option<EndStatus>,
    /// What became of the promise; null where none is asked for.
    pub promise: Option<PromiseState>,
    /// The check that begins, with its number; null for none.
    pub check: Option<String>,
    /// Tool calls of the whole loop, at its end; null elsewhere.
    pub tool_calls: Option<JsonNumber>,
    /// Tokens of the whole loop, at its end; null elsewhere.
    pub tokens: Option<JsonNumber>,
    /// Commits of the whole loop, at its end; null elsewhere.
    pub commits: Option<JsonNumber>,
    /// What each agent of a runner's loop did, at its end; empty elsewhere.
    pub agents: Vec<AgentShareForm>,
    /// Tokens of all reviews of the loop, beside those, at its end; null elsewhere.
    pub review_tokens: Option<JsonNumber>,
    /// Dollars that all reviews of the loop cost, at its end, as far as it is known; null elsewhere.
    pub review_cost_usd: Option<f64>,
    /// Whether a part of that is an estimate, by the prices that a person gave.
    pub review_cost_estimated: bool,
    /// Why, in words; null where there is nothing to say.
    pub words: Option<String>,
    /// How well the tasks of the loop are proved, at its end; null elsewhere, and where nothing is known of any task.
    pub proofs: Option<ProofsForm>,
    /// What was seen of the tasks that were ticked then.
    pub receipts: Vec<ReceiptForm>,
}

impl LogForm {
    /// `session` is `None` for a runner, and for a person's step in a terminal while no session has the loop.
    pub fn of(entry: &Entry, driver: LoopDriver, session: Option<&str>) -> Self {
        let some = |number: u64| Some(number.into()).filter(|_| number > 0);
        Self {
            at: JsonTime::of(entry.at),
            event: entry.event.clone(),
            driver,
            session: session.map(str::to_owned),
            about: entry.about.clone(),
            iteration: Some(entry.iteration).filter(|number| *number > 0),
            task: words(&entry.task),
            verdict: Some(entry.verdict.clone()).filter(|verdict| *verdict != VerdictName::None),
            reason: Some(entry.reason.clone()).filter(|reason| *reason != EndName::None),
            status: Some(entry.status.clone()).filter(|status| *status != EndStatus::None),
            promise: Some(entry.promise.clone()).filter(|promise| *promise != PromiseState::None),
            check: words(&entry.check),
            tool_calls: some(entry.tool_calls),
            tokens: some(entry.tokens),
            commits: some(entry.commits),
            agents: Vec::new(),
            review_tokens: some(entry.review_tokens),
            review_cost_usd: dollars(entry.review_cost),
            review_cost_estimated: entry.review_cost_estimated,
            words: words(&entry.words),
            proofs: None,
            receipts: Vec::new(),
        }
    }
}
