//! Brings a killed runner's files in order, at the start of the next run.

use std::path::Path;

use super::document::{EndedIterations, ReadState};
use super::history;
use super::loop_state::{Iteration, LoopState, LoopStatus, in_seconds};
use super::time::{iso, time_of};
use crate::forms::spent::{Spent, in_dollars, micros};
use crate::store::journal::Entry;
use crate::store::names::{EndName, JournalEvent, VerdictName};
use crate::world::{self, WallTime};

/// Why an iteration has no end of its own.
pub const KILLED: &str = "its runner was killed, or the machine went down";

/// The remains of a killed runner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recovered {
    pub pid: u32,
    /// When it was recovered.
    pub at: WallTime,
    /// The start of the run.
    pub run_started_at: String,
    /// The runner's iteration, as it is recorded now; `None` between two iterations.
    pub iteration: Option<Iteration>,
    /// The history has that iteration already: the runner was killed right after writing it.
    pub(super) is_in_history: bool,
}

/// Ends the state that was read from `state.json`; `None` if nothing is to be repaired.
///
/// `complete` adds the known facts about the iteration in which the runner was killed, unless that iteration has an
/// end. It returns the use of a review in the iteration.
pub(super) fn recover(
    folder: &Path,
    old: &mut ReadState,
    complete: impl FnOnce(&mut Iteration, &LoopState) -> Spent,
) -> Option<Recovered> {
    if old.state.status.is_over() && old.running.is_none() {
        return None;
    }
    let seen = sign_of_life(folder, old);
    let run = old.state.started_at.clone();
    let mut is_in_history = false;
    let mut review = Spent::default();
    let iteration = old.running.take().map(|mut iteration| {
        // The runner may have been killed between two writes: then the history has the iteration's end. The number
        // alone identifies no iteration: the next one reuses the number of one that did not count.
        let is_it = |last: &history::Past| {
            let (one, other) = (&last.iteration, &iteration);
            last.run_started_at == run && one.n == other.n && one.started == other.started
        };
        if let Some(mut last) = history::last(folder).filter(is_it) {
            is_in_history = true;
            review = complete(&mut last.iteration, &old.state);
            return last.iteration;
        }
        let began = time_of(&iteration.started).unwrap_or(seen);
        iteration.seconds = in_seconds(seen.since(began));
        iteration.interrupted = true;
        KILLED.clone_into(&mut iteration.words);
        review = complete(&mut iteration, &old.state);
        iteration.ended = Some(iso(seen));
        iteration
    });
    if let Some(iteration) = &iteration {
        count_in(&mut old.state, iteration);
        let in_shares = old.state.agents.iter().map(|share| u64::from(share.runs)).sum::<u64>();
        // The history may lack this iteration, so it is counted apart.
        let past = history::of_run(folder, &run);
        let others = past.iter().filter(|past| past.started != iteration.started);
        if in_shares < others.count() as u64 + 1 {
            old.state.add_share(iteration);
        }
        old.state.count_review(review);
    }
    if !old.state.status.is_over() {
        let state = &mut old.state;
        state.ran_seconds += unwritten_seconds(state, seen);
        state.status = LoopStatus::Stopped;
        state.ended_at = iso(seen);
        "stopped".clone_into(&mut state.reason);
        state.doing.clear();
        state.waits_until = 0;
        state.words = match &iteration {
            Some(iteration) if iteration.interrupted => {
                format!("the runner did not outlive iteration {}", iteration.n)
            }
            _ => "the runner was killed, or the machine went down".to_owned(),
        };
    }
    let (pid, at) = (old.state.pid, world::now());
    Some(Recovered { pid, at, run_started_at: run, iteration, is_in_history })
}

/// Seconds of the runner after its last write of the state. At most the limit of an iteration, because the wall clock
/// may have been set.
fn unwritten_seconds(state: &LoopState, seen: WallTime) -> f64 {
    let written = time_of(&state.updated_at).unwrap_or(seen);
    let seconds = seen.since(written).as_millis() as f64 / 1000.0;
    let limit = state.iteration_timeout_min * 60.0;
    if limit > 0.0 { seconds.min(limit) } else { seconds }
}

/// Counts the use of an iteration whose runner was killed before it counted.
fn count_in(state: &mut LoopState, iteration: &Iteration) {
    // An iteration at a usage limit has used something, but is not counted as an iteration.
    if iteration.verdict == VerdictName::Wait {
        state.current_iteration = state.current_iteration.min(iteration.n.saturating_sub(1));
    }
    let ledger = &mut state.ledger;
    ledger.tokens = ledger.tokens.saturating_add(iteration.tokens_used);
    ledger.cost = ledger.cost.saturating_add(micros(iteration.cost_usd.unwrap_or_default()));
    // The state may have counted this iteration already, so its totals come from the ledger.
    let (tokens, cost) = (ledger.tokens, ledger.cost);
    state.count(iteration);
    (state.total_tokens, state.total_cost_usd) = (tokens, in_dollars(cost));
}

impl Recovered {
    /// The interrupted iteration, for another run's list.
    pub(super) fn for_next_run(&self) -> Option<Iteration> {
        let mut iteration = self.iteration.clone().filter(|iteration| iteration.interrupted)?;
        iteration.more.insert("run_started_at".to_owned(), self.run_started_at.clone().into());
        Some(iteration)
    }

    /// The entry for the journal.
    pub(super) fn entry(&self, change: &str, words: &str) -> Entry {
        let iteration = self.iteration.as_ref().map_or(0, |iteration| iteration.n);
        Entry {
            at: self.at,
            verdict: VerdictName::End,
            reason: EndName::Stopped,
            ..Entry::now(JournalEvent::Interrupted, change, iteration, words)
        }
    }
}

/// The iterations of an ended run, with the recovered one in its place.
pub(super) fn repaired(
    document: &ReadState,
    recovered: Option<&Recovered>,
) -> std::io::Result<EndedIterations> {
    let mut ended = EndedIterations { left_out: document.left_out, ..EndedIterations::default() };
    let left = recovered.and_then(|recovered| recovered.iteration.as_ref());
    let number = left.map(|iteration| iteration.n);
    for iteration in &document.iterations {
        // An iteration of an even earlier run has that run's name, so its number is no clash.
        let replaced =
            Some(iteration.n) == number && !iteration.more.contains_key("run_started_at");
        if !replaced && iteration.ended.is_some() {
            ended.push(iteration)?;
        }
    }
    if let Some(iteration) = left {
        ended.push(iteration)?;
    }
    Ok(ended)
}

/// The runner's last sign of life: a write of its state, or its agent's output.
fn sign_of_life(folder: &Path, old: &ReadState) -> WallTime {
    let written = time_of(&old.state.updated_at).unwrap_or_default();
    let began = old.running.as_ref().and_then(|one| time_of(&one.started)).unwrap_or_default();
    let log = old.running.as_ref().map(|iteration| iteration.log.as_str()).unwrap_or_default();
    let log = log.strip_prefix("logs/").filter(|name| super::folder::is_change_id(name));
    let printed = log.and_then(|name| folder.join("logs").join(name).symlink_metadata().ok());
    let printed =
        printed.and_then(|meta| meta.modified().ok()).map(WallTime::from).unwrap_or_default();
    written.max(began).max(printed).min(world::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaping_clock_uses_one_limit() {
        let seen = WallTime::from_seconds(1_795_305_912);
        let unwritten = |minutes, hours: u64| {
            let written = WallTime::from_millis(seen.millis() - hours * 3_600_000);
            let updated_at = iso(written);
            let state =
                LoopState { updated_at, iteration_timeout_min: minutes, ..LoopState::default() };
            unwritten_seconds(&state, seen).to_string()
        };
        assert_eq!(unwritten(90.0, 1), "3600");
        assert_eq!(unwritten(90.0, 9), "5400");
        assert_eq!(unwritten(0.0, 9), "32400");
        // It was set back.
        let state = LoopState { updated_at: iso(seen), ..LoopState::default() };
        assert!(unwritten_seconds(&state, WallTime::from_seconds(5)) <= 0.0);
    }
}
