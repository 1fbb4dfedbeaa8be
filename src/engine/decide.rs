//! The one place that continues or ends a loop.
//!
//! The guards stand in the order of their trial: demands of a person, state that stayed unreadable, the evidence of
//! completion, waiting, tasks that have left the list twice, the guardrails, and only then "continue".

use super::contract::{Check, Contract, Guardrails, WithoutWork};
use super::converge;
use super::fingerprint::Hasher;
use super::ledger::Ledger;
use super::observation::{
    Attempt, CheckResult, Demand, Difference, NO_CHECK, Observation, UnchangedFiles, Waiting, Work,
};
use super::promise::Promise;
use super::review::{self, SAME_FAILURE};
use super::verdict::{BudgetUnit, Obstacle, Shortfall, Stall, TerminalReason, Verdict};

/// Denied attempts that an end names.
const DENIED: usize = 3;
/// Denied attempts that are kept of one iteration.
pub const MOST_DENIED: usize = 50;

/// The longest run of iterations without a look at the files.
pub const UNSEEN: u32 = 32;
/// Unchanged iterations before the first look at the files.
const COMPARED: u32 = 3;
/// The doubt about a claim if the agent's work cannot be seen.
const UNSEEN_WORK: &str = "there is no record to read, and no changed file was seen";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub verdict: Verdict,
    pub ledger: Ledger,
}

/// True if the checks have to run before `decide` can judge.
///
/// Checks cost time, so they run only when everything else says "done" (spec 000). They do not run while the loop
/// waits, unless the agent claims to be done. A ticked list is a claim as well, but not in a pause: the person talks
/// with the agent, and each answer is a stop. A person who typed a command to end the loop does not wait for checks.
pub(super) fn wants_checks(contract: &Contract, ledger: &Ledger, seen: &Observation) -> bool {
    let may_run = !contract.checks.is_empty()
        && seen.checks.is_none()
        && seen.demand.is_none()
        && seen.tampered.is_empty()
        && seen.unproved.is_empty()
        && !seen.waiting.iter().any(|one| matches!(one, Waiting::Typed(_)))
        && (seen.claimed
            || (seen.work != Work::Untold && !is_paused(seen))
            || waits(ledger, seen).is_none());
    let after = if may_run { count(ledger, seen) } else { return false };
    !checks_now(contract, &after, seen).is_empty()
        && shortfalls_before_checks(contract, &after, seen).is_empty()
}

/// True if the review waits for the converge command, which may find more to do.
pub(super) fn converges_first(contract: &Contract, ledger: &Ledger, seen: &Observation) -> bool {
    !contract.converge.is_empty()
        && converge::due(contract, count(ledger, seen).converging, seen).is_some()
}

/// The checks that can run now: only commands while the converge command is due.
fn checks_now<'a>(contract: &'a Contract, after: &Ledger, seen: &Observation) -> &'a [Check] {
    match converge::due(contract, after.converging, seen) {
        Some(_) => Contract::commands_and_review(&contract.checks).0,
        None => &contract.checks,
    }
}

/// True if a finished part has to be reviewed now. A review costs money and helps the next tasks, so none is made while
/// the loop waits, or if the loop ends.
pub(super) fn wants_review(contract: &Contract, ledger: &Ledger, seen: &Observation) -> bool {
    let has_review = contract.checks.last().is_some_and(Check::is_review);
    let is_asked = has_review && seen.finished.is_some() && seen.checks.is_none();
    is_asked
        && seen.failed.is_none()
        && seen.tampered.is_empty()
        && matches!(decide(contract, ledger, seen).verdict, Verdict::Continue(_))
}

/// True if an end short of completion still needs the checks. A person who ended the loop by hand does not wait for
/// them.
pub(super) fn wants_final_checks(
    contract: &Contract,
    verdict: &Verdict,
    seen: &Observation,
) -> bool {
    let Verdict::End(reason) = verdict else { return false };
    let by_hand = matches!(
        reason,
        TerminalReason::Completed
            | TerminalReason::Cancelled
            | TerminalReason::Stopped
            | TerminalReason::Blocked { by: Obstacle::FolderGone, .. }
    );
    let has_commands = !Contract::commands_and_review(&contract.checks).0.is_empty();
    !by_hand && has_commands && !contract.no_final_check && seen.checks.is_none()
}

/// True if `decide` needs a look at the files: the loop would end for want of progress, or the agent would be warned,
/// and a changed file would prevent that.
///
/// A look takes long in a large project. A look also happens after [`COMPARED`] unchanged iterations, for a later
/// comparison of contents, and every [`UNSEEN`] iterations, because the times of no more are remembered.
pub(super) fn wants_files(contract: &Contract, ledger: &Ledger, seen: &Observation) -> bool {
    if seen.files != UnchangedFiles::NotLooked || seen.demand.is_some() {
        return false;
    }
    let (after, rails) = (count(ledger, seen), &contract.guardrails);
    let unchanged = after.unchanged;
    let many = unchanged == COMPARED || (unchanged > 0 && unchanged.is_multiple_of(UNSEEN));
    let unseen_calls = seen.tool_calls.is_none() && after.idle_stops >= rails.max_idle_stops;
    unchanged.saturating_add(1) >= rails.max_unchanged || many || unseen_calls
}

/// True if one more stop without a tool call would end the loop: the record must then show all calls.
pub fn is_last_idle_stop(rails: &Guardrails, ledger: &Ledger) -> bool {
    ledger.idle_stops.saturating_add(1) >= rails.max_idle_stops
}

pub(super) fn decide(contract: &Contract, ledger: &Ledger, seen: &Observation) -> Decision {
    let after = count(ledger, seen);
    let mut after = count_failure(ledger, after, seen);
    if let Some(demand) = &seen.demand {
        return end(after, ended_by(demand));
    }
    // The agent was shown once how to recover; the same bytes again end the loop.
    if after.unreadable.is_some() && after.unreadable == ledger.unreadable {
        return end(after, TerminalReason::CorruptState);
    }
    let missing = shortfalls(contract, &after, seen);
    if missing.is_empty() {
        let (against, checked) = (seen.against.clone(), !contract.checks.is_empty());
        let after = Ledger { against, checked, ..after };
        return end(after, TerminalReason::Completed);
    }
    if let Some(waiting) = waits(ledger, seen) {
        return Decision { verdict: Verdict::Wait(waiting), ledger: waited(ledger, &after, seen) };
    }
    // The agent was told once; only a person can drop the tasks.
    after.left_list = has_only_left_list(&missing);
    if after.left_list && ledger.left_list {
        let need = format!("{}; put back what is to be done", seen.tampered);
        return end(after, TerminalReason::Blocked { need, by: Obstacle::Other });
    }
    if let Some(reason) = guardrail(contract, &after, seen) {
        return end(after, reason);
    }
    go_on(after, seen, missing)
}

fn has_only_left_list(missing: &[Shortfall]) -> bool {
    matches!(missing, [Shortfall::Tampered(tampered)] if !tampered.removed.is_empty())
}

/// The end by time alone, also between two iterations.
pub fn time_is_up(contract: &Contract, elapsed_seconds: u64) -> Option<TerminalReason> {
    let limit = contract.guardrails.max_seconds.filter(|limit| elapsed_seconds >= *limit)?;
    Some(TerminalReason::TimedOut { limit })
}

/// The end by iterations, time or budget, also before the first iteration of a continued loop.
pub fn limit_is_up(
    contract: &Contract,
    after: &Ledger,
    elapsed_seconds: u64,
) -> Option<TerminalReason> {
    let iterations = contract.guardrails.max_iterations;
    let iterations = iterations.filter(|limit| after.iterations >= *limit);
    iterations
        .map(|limit| TerminalReason::MaxIters { limit })
        .or_else(|| time_is_up(contract, elapsed_seconds))
        .or_else(|| budget_is_up(contract, after))
}

/// The end by a used up budget, also between two iterations.
pub fn budget_is_up(contract: &Contract, after: &Ledger) -> Option<TerminalReason> {
    let Guardrails { max_tokens, max_cost, .. } = contract.guardrails;
    let budgets = [
        (after.all_tokens(), max_tokens, BudgetUnit::Tokens),
        (after.all_cost(), max_cost, BudgetUnit::Money),
    ];
    budgets.into_iter().find_map(|(used, limit, unit)| {
        let limit = limit.filter(|limit| used >= *limit)?;
        Some(TerminalReason::Budget { used, limit, unit })
    })
}

/// Only a person can bring the change's folder back.
pub fn change_is_gone(folder: &str) -> TerminalReason {
    folder_is_gone("change", folder)
}

/// Nothing can be read or written in the project's folder.
pub fn project_is_gone(folder: &str) -> TerminalReason {
    folder_is_gone("project", folder)
}

fn folder_is_gone(whose: &str, folder: &str) -> TerminalReason {
    let need = format!("the folder of the {whose}, `{folder}`, is gone");
    TerminalReason::Blocked { need, by: Obstacle::FolderGone }
}

/// A link stands in place of the change's folder: its target is not the folder that the loop began with.
pub fn change_is_a_link(folder: &str) -> TerminalReason {
    let need = format!(
        "the folder of the change, `{folder}`, is behind a link now: nothing there is read or written"
    );
    TerminalReason::Blocked { need, by: Obstacle::Other }
}

/// The end by a wait for a usage limit. `seconds` sums all waits in a row, the next one included; `words` tell the end
/// of the limit.
pub fn waits_too_long(contract: &Contract, seconds: u64, words: &str) -> Option<TerminalReason> {
    contract.guardrails.max_limit_wait.filter(|most| seconds > *most)?;
    Some(TerminalReason::UsageLimit { why: words.to_owned() })
}

/// The ledger of a waiting loop: unchanged, except for the cost of a run that met a usage limit, and of a review.
fn waited(before: &Ledger, after: &Ledger, seen: &Observation) -> Ledger {
    // At a reader's limit the run is counted with the verdict that comes.
    let is_run = seen.checks.is_none()
        && seen.waiting.iter().any(|one| matches!(one, Waiting::UsageLimit(_)));
    let (tokens, cost) =
        if is_run { (after.tokens, after.cost) } else { (before.tokens, before.cost) };
    // A pause may have come while a review ran.
    Ledger {
        tokens,
        cost,
        review_tokens: after.review_tokens,
        review_cost: after.review_cost,
        review_cost_estimated: after.review_cost_estimated,
        ..before.clone()
    }
}

/// The ledger with this iteration.
fn count(before: &Ledger, seen: &Observation) -> Ledger {
    let earlier = before.fingerprint.as_ref();
    let work_changed = seen.fingerprint.work_changed_since(earlier);
    let calls = seen.tool_calls.unwrap_or(0);
    let idle = calls == 0 && !work_changed;
    let failed = seen.failed.is_some();
    let got_further = work_changed || seen.fingerprint.tree_changed_since(earlier);
    // A failed run says nothing about the work: counts in a row stay, unless something changed.
    let in_a_row = |so_far: u32, once_more: bool| match once_more {
        true if failed => so_far,
        true => so_far.saturating_add(1),
        false => 0,
    };
    // A list without tasks stands still, whatever changes beside it.
    let is_empty = is_empty_list(&seen.work);
    let is_still = is_empty || (!work_changed && may_be_still(before, seen));
    let unchanged = in_a_row(before.unchanged, is_still);
    let mut idle_stops = in_a_row(before.idle_stops, idle);
    // Where tool calls cannot be seen, changed files prove them.
    if seen.tool_calls.is_none() {
        // By the files, the agent may have been idle in at most so many iterations.
        let most = match seen.files {
            UnchangedFiles::InFingerprint if seen.fingerprint.tree_changed_since(earlier) => 0,
            UnchangedFiles::Still(iterations) if earlier.is_some() => iterations,
            _ => u32::MAX,
        };
        idle_stops = idle_stops.min(most);
    }
    Ledger {
        iterations: before.iterations.saturating_add(1).max(seen.reported_iteration),
        idle_stops,
        unchanged: match seen.files {
            UnchangedFiles::Still(iterations) if !is_empty => unchanged.min(iterations),
            _ => unchanged,
        },
        commitless: in_a_row(before.commitless, seen.commits == Some(0)),
        // A failure after some progress begins a new row.
        failures: if failed && !got_further { before.failures.saturating_add(1) } else { 0 },
        denied: match (seen.denied.is_empty(), got_further || seen.commits.unwrap_or(0) > 0) {
            (false, false) => before.denied.saturating_add(1),
            // A run that failed before its first attempt says nothing about denials.
            (true, false) if failed => before.denied,
            _ => 0,
        },
        commits: before.commits.saturating_add(seen.commits.unwrap_or(0)),
        tokens: before.tokens.saturating_add(seen.tokens),
        cost: before.cost.saturating_add(seen.cost),
        tool_calls: before.tool_calls.saturating_add(calls),
        failed_calls: before.failed_calls.saturating_add(seen.failed_calls.min(calls)),
        answered: before.answered || seen.answered,
        more_calls: before.more_calls || seen.more_calls,
        written_tokens: before.written_tokens.saturating_add(seen.written_tokens),
        settled: earlier.is_some() && !work_changed,
        fingerprint: Some(seen.after_checks.unwrap_or(seen.fingerprint)),
        unreadable: match seen.work {
            Work::Unreadable { hash } => Some(hash),
            _ => None,
        },
        converging: before.converging.counted(seen),
        ..before.clone()
    }
}

fn is_empty_list(work: &Work) -> bool {
    matches!(work, Work::List { done: 0, open: 0 })
}

/// No file is known to have changed in this iteration.
fn may_be_still(before: &Ledger, seen: &Observation) -> bool {
    match seen.files {
        UnchangedFiles::InFingerprint => {
            seen.fingerprint.tree_is_that_of(before.fingerprint.as_ref())
        }
        UnchangedFiles::NotLooked => before.settled,
        UnchangedFiles::Unknown => false,
        UnchangedFiles::Still(iterations) => iterations > 0 && before.settled,
    }
}

/// Counts the failed checks of this iteration; checks that did not run say nothing.
fn count_failure(before: &Ledger, mut after: Ledger, seen: &Observation) -> Ledger {
    let Some(results) = &seen.checks else { return after };
    review::count(before, &mut after, results);
    // A review without a verdict neither repeats a failure nor ends a row of them.
    if results.iter().any(|result| result.review.is_some_and(|review| !review.judged)) {
        return after;
    }
    let failure = failure_of(results);
    if let (Some(part), None) = (&seen.finished, failure) {
        after.reviewed.extend_from_slice(&part.marks);
    }
    after.same_failure = match (failure, after.failure) {
        (None, _) => 0,
        (now, before) if now == before => after.same_failure.saturating_add(1),
        _ => 1,
    };
    after.failure = failure;
    after
}

/// A hash over the failed checks and their output without digits: times and counts differ in every run of the same
/// failure. For a review only the verdicts count: its reader finds other words each time.
fn failure_of(results: &[CheckResult]) -> Option<u64> {
    let mut failed = results.iter().filter(|result| !result.passed).peekable();
    failed.peek()?;
    let hash = failed.fold(Hasher::default(), |hash, result| {
        if let Some(review) = result.review {
            return hash.with(result.run.as_bytes()).with_number(review.verdicts);
        }
        let digit = |byte: &u8| byte.is_ascii_digit();
        let tail: Vec<u8> = result.tail.bytes().filter(|byte| !digit(byte)).collect();
        hash.with(result.run.as_bytes()).with(result.outcome.as_bytes()).with(&tail)
    });
    Some(hash.finish())
}

/// The reason of an end on demand.
pub fn ended_by(demand: &Demand) -> TerminalReason {
    match demand {
        Demand::Blocked(need) => {
            TerminalReason::Blocked { need: need.clone(), by: Obstacle::Other }
        }
        Demand::Cancelled => TerminalReason::Cancelled,
        Demand::Stopped => TerminalReason::Stopped,
        Demand::HarnessFailed(why) => TerminalReason::HarnessFailed { why: why.clone() },
        Demand::TaskFailed(Attempt { task, used, limit }) => {
            TerminalReason::TaskFailed { task: task.clone(), used: *used, limit: *limit }
        }
    }
}

/// Everything that is missing; empty means done.
fn shortfalls(contract: &Contract, after: &Ledger, seen: &Observation) -> Vec<Shortfall> {
    let mut missing = shortfalls_before_checks(contract, after, seen);
    if !seen.tampered.is_empty() {
        missing.push(Shortfall::Tampered(seen.tampered.clone()));
    }
    if !seen.unproved.is_empty() {
        missing.push(Shortfall::Unproved(seen.unproved.clone()));
    }
    // The review of a part says nothing about the rest: it alone never ends a loop.
    let of_part = seen.finished.is_some() && seen.checks.is_some();
    if !missing.is_empty() && !of_part {
        return missing;
    }
    let (checks, converge) =
        (checks_now(contract, after, seen), converge::due(contract, after.converging, seen));
    if checks.is_empty() {
        missing.extend(converge);
        return missing;
    }
    match &seen.checks {
        None => vec![Shortfall::ChecksNotRun],
        Some(results) => {
            let failed = results.iter().filter(|result| !result.passed);
            missing.extend(failed.cloned().map(|result| match result.review {
                Some(review) if !review.judged => Shortfall::NotReviewed(result),
                _ => Shortfall::CheckFailed(result),
            }));
            if missing.is_empty() {
                let is_short = of_part || results.len() < checks.len();
                missing.extend(if is_short { Some(Shortfall::ChecksNotRun) } else { converge });
            }
            if after.same_failure >= SAME_FAILURE && missing.iter().any(is_failed) {
                missing.push(Shortfall::SameFailure { times: after.same_failure });
            }
            missing
        }
    }
}

fn is_failed(shortfall: &Shortfall) -> bool {
    matches!(shortfall, Shortfall::CheckFailed(_))
}

fn shortfalls_before_checks(
    contract: &Contract,
    after: &Ledger,
    seen: &Observation,
) -> Vec<Shortfall> {
    let mut missing = shortfalls_of_work(contract, after, seen);
    if !seen.hooks_due.is_empty() && !matches!(seen.work, Work::Unreadable { .. }) {
        missing.push(Shortfall::HooksDue(seen.hooks_due.clone()));
    }
    missing
}

fn shortfalls_of_work(contract: &Contract, after: &Ledger, seen: &Observation) -> Vec<Shortfall> {
    match &seen.work {
        Work::Unreadable { .. } => vec![Shortfall::Unreadable],
        work if is_empty_list(work) => vec![Shortfall::EmptyList],
        Work::List { open: 0, .. } => too_early(contract, after),
        Work::List { .. } if seen.claimed => vec![Shortfall::ClaimedWithOpenTasks],
        Work::Counter { index, total } if *total > 0 && index >= total => {
            too_early(contract, after)
        }
        Work::Counter { .. } if seen.claimed => claim_shortfalls(contract, after, seen),
        Work::List { .. } | Work::Counter { .. } => vec![Shortfall::OpenTasks],
        Work::Untold
            if contract.token.is_some() && !seen.claimed && seen.promise == Promise::Mentioned =>
        {
            vec![Shortfall::PromiseNotMade]
        }
        Work::Untold if contract.token.is_some() && !seen.claimed => vec![Shortfall::NoToken],
        Work::Untold if contract.token.is_some() => claim_shortfalls(contract, after, seen),
        Work::Untold if contract.checks.is_empty() => vec![Shortfall::NoToken],
        Work::Untold => too_early(contract, after),
    }
}

/// Reasons against a claim that only words support.
fn claim_shortfalls(contract: &Contract, after: &Ledger, seen: &Observation) -> Vec<Shortfall> {
    let mut missing: Vec<_> = without_work(contract, after, seen).into_iter().collect();
    missing.extend(too_early(contract, after));
    missing
}

/// The work gate (spec 002). If tool calls cannot be seen, changed files or commits count as work. Without these, or
/// with doubts about the claim, the agent is asked once and believed the second time.
fn without_work(contract: &Contract, after: &Ledger, seen: &Observation) -> Option<Shortfall> {
    if contract.without_work != WithoutWork::Reject {
        return None;
    }
    // A denied or failed call is no work.
    let calls = after.tool_calls.saturating_sub(after.failed_calls);
    let needed = contract.min_tool_calls;
    if calls < needed && seen.tool_calls.is_some() && !after.more_calls {
        return Some(Shortfall::NoWork { calls, needed });
    }
    // Checks decide in spite of doubts, which the end tells.
    let doubts = if contract.checks.is_empty() { seen.against.as_str() } else { "" };
    let against = match seen.since_arming {
        Difference::Changed => doubts,
        _ if calls < needed => UNSEEN_WORK,
        _ => doubts,
    };
    let is_asked = after.unseen_claims == 0 && !matches!(against, "" | NO_CHECK);
    is_asked.then(|| Shortfall::UnseenWork(against.to_owned()))
}

fn too_early(contract: &Contract, after: &Ledger) -> Vec<Shortfall> {
    let first = contract.min_iterations;
    if after.iterations < first { vec![Shortfall::TooEarly { first }] } else { Vec::new() }
}

/// What the stop waits for; `None` for nothing.
pub fn waits(before: &Ledger, seen: &Observation) -> Option<Vec<Waiting>> {
    if unproven(before, seen) {
        return Some(vec![Waiting::Unproven]);
    }
    if seen.work == (Work::Counter { index: 0, total: 0 }) {
        return Some(vec![Waiting::NoTasks]);
    }
    (!seen.waiting.is_empty()).then(|| seen.waiting.clone())
}

fn is_paused(seen: &Observation) -> bool {
    seen.waiting.iter().any(|one| matches!(one, Waiting::Paused(_)))
}

/// A blocked turn reached a loop that never blocked it: another hook did, and a second block could go round forever
/// (spec 003, AC-2.4).
fn unproven(before: &Ledger, seen: &Observation) -> bool {
    seen.reentered && before.iterations == 0 && before.fingerprint.is_none()
}

fn guardrail(contract: &Contract, after: &Ledger, seen: &Observation) -> Option<TerminalReason> {
    let rails = &contract.guardrails;
    if let Some(need) = review::needs_person(after, seen) {
        return Some(TerminalReason::Blocked { need, by: Obstacle::Other });
    }
    if let Some(attempt) = &seen.attempt
        && attempt.used > attempt.limit
    {
        return Some(ended_by(&Demand::TaskFailed(attempt.clone())));
    }
    if let Some(reason) = limit_is_up(contract, after, seen.elapsed_seconds) {
        return Some(reason);
    }
    if rails.max_denied.is_some_and(|limit| after.denied >= limit) {
        let need = permission(after.denied, &seen.denied);
        return Some(TerminalReason::Blocked { need, by: Obstacle::Denial });
    }
    if let (Some(limit), Some(why)) = (rails.max_failures, &seen.failed)
        && after.failures >= limit
    {
        let times = after.failures;
        return Some(TerminalReason::HarnessFailed {
            why: format!("{times} runs in a row failed, the last one: {why}"),
        });
    }
    if let (Some(limit), Some(why), false) = (rails.max_unanswered, &seen.failed, after.answered)
        && after.failures >= limit
    {
        let times = after.failures;
        return Some(TerminalReason::HarnessFailed {
            why: format!("the first {times} runs failed without one answer, the last one: {why}"),
        });
    }
    if after.idle_stops >= rails.max_idle_stops {
        let times = after.idle_stops;
        return Some(TerminalReason::NoProgress { stall: Stall::NoToolCall, times });
    }
    if let Some(limit) = rails.max_commitless
        && after.commitless >= limit
    {
        let times = after.commitless;
        return Some(TerminalReason::NoProgress { stall: Stall::NoCommit, times });
    }
    if after.unchanged >= rails.max_unchanged {
        let times = after.unchanged;
        let is_empty = is_empty_list(&seen.work);
        let stall = if is_empty { Stall::EmptyList } else { Stall::SameFingerprint };
        return Some(TerminalReason::NoProgress { stall, times });
    }
    None
}

/// The request to a person: allow what the agent was denied.
fn permission(times: u32, denied: &[String]) -> String {
    let named = some_denied(denied, DENIED, MOST_DENIED);
    format!("allow what it was denied in {times} iterations that changed nothing: {named}")
}

/// The first `named` denials on one line, and the number of the others. A full list of `kept` may stand for more.
pub fn some_denied(denied: &[String], named: usize, kept: usize) -> String {
    let list = denied.iter().take(named).map(String::as_str).collect::<Vec<_>>().join(", ");
    let least = if denied.len() < kept { "" } else { "at least " };
    match denied.len().saturating_sub(named) {
        0 => list,
        more => format!("{list} and {least}{more} more"),
    }
}

fn go_on(mut after: Ledger, seen: &Observation, missing: Vec<Shortfall>) -> Decision {
    after.continued = after.continued.saturating_add(1);
    if seen.claimed {
        after.refused_claims = after.refused_claims.saturating_add(1);
    }
    if missing.iter().any(|shortfall| matches!(shortfall, Shortfall::UnseenWork(_))) {
        after.unseen_claims = after.unseen_claims.saturating_add(1);
    }
    let converges = matches!(missing[..], [Shortfall::ConvergeDue(_)]);
    after.converging.asked = converges.then_some(seen.list);
    Decision { verdict: Verdict::Continue(missing), ledger: after }
}

fn end(mut after: Ledger, reason: TerminalReason) -> Decision {
    after.ended = Some(reason.clone());
    Decision { verdict: Verdict::End(reason), ledger: after }
}

#[cfg(test)]
mod promise_tests;
#[cfg(test)]
mod review_tests;
#[cfg(test)]
mod runner_tests;
#[cfg(test)]
mod tests;
