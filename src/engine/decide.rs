//! The one place where a loop is continued or ended.
//!
//! The guards stand in the order in which they are tried: demands of a person, state that stayed
//! unreadable, the evidence of completion, what is waited for, the guardrails, and only then "go on".

use super::contract::{Contract, WithoutWork};
use super::fingerprint::Hasher;
use super::ledger::Ledger;
use super::observation::{Change, CheckResult, Demand, Observation, Waiting, Work};
use super::verdict::{Shortfall, Stall, TerminalReason, Verdict};

/// Iterations in a row with the same failure after which the agent is told to try another way.
const SAME_FAILURE: u32 = 3;

/// A verdict and the ledger as it stands after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What the driver has to say.
    pub verdict: Verdict,
    /// What the loop remembers from now on; the same as before for [`Verdict::Wait`].
    pub ledger: Ledger,
}

/// Returns whether the contract's checks have to be run before `decide` can judge this observation.
///
/// They are dear, so they run only when everything else says "done" (spec 000), and not while
/// something is waited for, unless the agent claims to be done.
pub fn wants_checks(contract: &Contract, ledger: &Ledger, seen: &Observation) -> bool {
    !contract.checks.is_empty()
        && seen.checks.is_none()
        && seen.demand.is_none()
        && seen.tampered.is_empty()
        && (seen.claimed || seen.work != Work::Untold || waits(ledger, seen).is_none())
        && shortfalls_before_checks(contract, &count(ledger, seen), seen).is_empty()
}

/// Returns the verdict on one iteration and the ledger after it.
pub fn decide(contract: &Contract, ledger: &Ledger, seen: &Observation) -> Judgement {
    let after = count(ledger, seen);
    let after = count_failure(after, seen.checks.as_deref());
    if let Some(demand) = &seen.demand {
        return end(after, demanded(demand));
    }
    // The agent was told once how to recover; the same bytes again end the loop.
    if after.unreadable.is_some() && after.unreadable == ledger.unreadable {
        return end(after, TerminalReason::CorruptState);
    }
    let missing = shortfalls(contract, &after, seen);
    if missing.is_empty() {
        return end(after, TerminalReason::Completed);
    }
    if let Some(waiting) = waits(ledger, seen) {
        return Judgement { verdict: Verdict::Wait(waiting), ledger: ledger.clone() };
    }
    if let Some(reason) = guardrail(contract, &after, seen) {
        return end(after, reason);
    }
    go_on(after, seen, missing)
}

/// The ledger with this iteration counted in.
fn count(before: &Ledger, seen: &Observation) -> Ledger {
    let earlier = before.fingerprint.as_ref();
    let work_changed = seen.fingerprint.work_changed_since(earlier);
    let calls = seen.tool_calls.unwrap_or(0);
    // Where nobody can tell whether tools were called, changed files say that they were.
    let unseen_but_busy = seen.tool_calls.is_none() && seen.fingerprint.tree_changed_since(earlier);
    let idle = calls == 0 && !work_changed && !unseen_but_busy;
    let unchanged = !work_changed && seen.fingerprint.tree_is_that_of(earlier);
    Ledger {
        iterations: before.iterations.saturating_add(1).max(seen.reported_iteration),
        idle_stops: if idle { before.idle_stops.saturating_add(1) } else { 0 },
        unchanged: if unchanged { before.unchanged.saturating_add(1) } else { 0 },
        tool_calls: before.tool_calls.saturating_add(calls),
        more_calls: before.more_calls || seen.more_calls,
        fingerprint: Some(seen.after_checks.unwrap_or(seen.fingerprint)),
        unreadable: match seen.work {
            Work::Unreadable { hash } => Some(hash),
            _ => None,
        },
        ..before.clone()
    }
}

/// The ledger with the failed checks of this iteration counted in; checks that did not run say nothing.
fn count_failure(mut after: Ledger, checks: Option<&[CheckResult]>) -> Ledger {
    let Some(results) = checks else {
        return after;
    };
    let failure = failure_of(results);
    after.same_failure = match (failure, after.failure) {
        (None, _) => 0,
        (now, before) if now == before => after.same_failure.saturating_add(1),
        _ => 1,
    };
    after.failure = failure;
    after
}

/// A hash over the failed checks and what they said, digits left out: times and counts differ in
/// every run of the same failure.
fn failure_of(results: &[CheckResult]) -> Option<u64> {
    let mut failed = results.iter().filter(|result| !result.passed).peekable();
    failed.peek()?;
    let hash = failed.fold(Hasher::default(), |hash, result| {
        let digit = |byte: &u8| byte.is_ascii_digit();
        let tail: Vec<u8> = result.tail.bytes().filter(|byte| !digit(byte)).collect();
        hash.with(result.run.as_bytes()).with(result.outcome.as_bytes()).with(&tail)
    });
    Some(hash.finish())
}

fn demanded(demand: &Demand) -> TerminalReason {
    match demand {
        Demand::Blocked(need) => TerminalReason::Blocked { need: need.clone() },
        Demand::Cancelled => TerminalReason::Cancelled,
        Demand::Stopped => TerminalReason::Stopped,
        Demand::HarnessFailed(why) => TerminalReason::HarnessFailed { why: why.clone() },
    }
}

/// What keeps the work from being done; nothing means done.
fn shortfalls(contract: &Contract, after: &Ledger, seen: &Observation) -> Vec<Shortfall> {
    let mut missing = shortfalls_before_checks(contract, after, seen);
    if !seen.tampered.is_empty() {
        missing.push(Shortfall::Tampered(seen.tampered.clone()));
    }
    if !missing.is_empty() || contract.checks.is_empty() {
        return missing;
    }
    match &seen.checks {
        None => vec![Shortfall::ChecksNotRun],
        Some(results) => {
            let failed = results.iter().filter(|result| !result.passed);
            missing.extend(failed.cloned().map(Shortfall::CheckFailed));
            if after.same_failure >= SAME_FAILURE {
                missing.push(Shortfall::SameFailure { times: after.same_failure });
            }
            missing
        }
    }
}

fn shortfalls_before_checks(
    contract: &Contract,
    after: &Ledger,
    seen: &Observation,
) -> Vec<Shortfall> {
    match &seen.work {
        Work::Unreadable { .. } => vec![Shortfall::Unreadable],
        Work::List { done: 0, open } if open.is_empty() => vec![Shortfall::EmptyList],
        Work::List { open, .. } if open.is_empty() => Vec::new(),
        Work::List { .. } if seen.claimed => vec![Shortfall::ClaimedWithOpenTasks],
        Work::Counter { index, total } if *total > 0 && index >= total => Vec::new(),
        Work::Counter { .. } if seen.claimed => claim_shortfalls(contract, after, seen),
        Work::List { .. } | Work::Counter { .. } => vec![Shortfall::OpenTasks],
        Work::Untold if contract.token.is_some() && !seen.claimed => vec![Shortfall::NoToken],
        Work::Untold if contract.token.is_some() => claim_shortfalls(contract, after, seen),
        Work::Untold if contract.checks.is_empty() => vec![Shortfall::NoToken],
        Work::Untold => too_early(contract, after),
    }
}

/// What keeps a claim that nothing but words supports from being believed.
fn claim_shortfalls(contract: &Contract, after: &Ledger, seen: &Observation) -> Vec<Shortfall> {
    let mut missing: Vec<_> = without_work(contract, after, seen).into_iter().collect();
    missing.extend(too_early(contract, after));
    missing
}

/// The work gate (spec 002). Where tool calls cannot be seen, changed files or commits are work, and
/// without them the agent is asked once and believed when it says so again.
fn without_work(contract: &Contract, after: &Ledger, seen: &Observation) -> Option<Shortfall> {
    let (calls, needed) = (after.tool_calls, contract.min_tool_calls);
    if contract.without_work != WithoutWork::Reject || calls >= needed {
        return None;
    }
    if seen.tool_calls.is_some() && !after.more_calls {
        return Some(Shortfall::NoWork { calls, needed });
    }
    let believed = seen.since_arming == Change::Changed || after.unseen_claims > 0;
    (!believed).then_some(Shortfall::UnseenWork)
}

fn too_early(contract: &Contract, after: &Ledger) -> Vec<Shortfall> {
    let first = contract.min_iterations;
    if after.iterations < first { vec![Shortfall::TooEarly { first }] } else { Vec::new() }
}

fn waits(before: &Ledger, seen: &Observation) -> Option<Vec<Waiting>> {
    if unproven(before, seen) {
        return Some(vec![Waiting::Unproven]);
    }
    if seen.work == (Work::Counter { index: 0, total: 0 }) {
        return Some(vec![Waiting::NoTasks]);
    }
    (!seen.waiting.is_empty()).then(|| seen.waiting.clone())
}

/// Whether a held turn reached a loop that never held it: somebody else did, and blocking again
/// could go round for ever (spec 003, AC-2.4).
fn unproven(before: &Ledger, seen: &Observation) -> bool {
    seen.reentered && before.iterations == 0 && before.fingerprint.is_none()
}

fn guardrail(contract: &Contract, after: &Ledger, seen: &Observation) -> Option<TerminalReason> {
    let rails = &contract.guardrails;
    if let Some(attempt) = &seen.attempt
        && attempt.used > attempt.limit
    {
        return Some(TerminalReason::TaskFailed {
            task: attempt.task.clone(),
            used: attempt.used,
            limit: attempt.limit,
        });
    }
    if let Some(limit) = rails.max_iterations
        && after.iterations >= limit
    {
        return Some(TerminalReason::MaxIters { limit });
    }
    if let Some(limit) = rails.max_seconds
        && seen.elapsed_seconds >= limit
    {
        return Some(TerminalReason::TimedOut { limit });
    }
    if after.idle_stops >= rails.max_idle_stops {
        let times = after.idle_stops;
        return Some(TerminalReason::NoProgress { stall: Stall::NoToolCall, times });
    }
    if after.unchanged >= rails.max_unchanged {
        let times = after.unchanged;
        return Some(TerminalReason::NoProgress { stall: Stall::SameFingerprint, times });
    }
    None
}

fn go_on(mut after: Ledger, seen: &Observation, missing: Vec<Shortfall>) -> Judgement {
    after.continued = after.continued.saturating_add(1);
    if seen.claimed {
        after.refused_claims = after.refused_claims.saturating_add(1);
    }
    if missing.contains(&Shortfall::UnseenWork) {
        after.unseen_claims = after.unseen_claims.saturating_add(1);
    }
    Judgement { verdict: Verdict::Continue(missing), ledger: after }
}

fn end(mut after: Ledger, reason: TerminalReason) -> Judgement {
    after.ended = Some(reason.clone());
    Judgement { verdict: Verdict::End(reason), ledger: after }
}

#[cfg(test)]
mod promise_tests {
    use super::*;
    use crate::engine::{Check, Fingerprint};

    fn promising() -> Contract {
        Contract { token: Some("DONE".to_owned()), min_tool_calls: 1, ..Contract::default() }
    }

    fn checked(contract: Contract) -> Contract {
        let run = "cargo test".to_owned();
        Contract { checks: vec![Check { run, limit_seconds: 60 }], ..contract }
    }

    fn claim(tool_calls: Option<u64>) -> Observation {
        Observation { claimed: true, tool_calls, ..Observation::default() }
    }

    fn result(passed: bool, tail: &str) -> CheckResult {
        CheckResult {
            run: "cargo test".to_owned(),
            passed,
            outcome: "exit code 1".to_owned(),
            tail: tail.to_owned(),
        }
    }

    fn missing(contract: &Contract, ledger: &Ledger, seen: &Observation) -> Vec<Shortfall> {
        match decide(contract, ledger, seen).verdict {
            Verdict::Continue(missing) => missing,
            other => panic!("not continued: {other:?}"),
        }
    }

    #[test]
    fn the_work_gate() {
        use Shortfall::{NoWork, UnseenWork};
        let none = NoWork { calls: 0, needed: 1 };
        let ledger = Ledger::default();
        let asked = Ledger { unseen_claims: 1, ..Ledger::default() };
        let cut = Ledger { more_calls: true, ..Ledger::default() };
        let changed = |seen: Observation| Observation { since_arming: Change::Changed, ..seen };
        for (name, ledger, seen, refused) in [
            ("a call is work", &ledger, claim(Some(1)), None),
            ("no call is none", &ledger, claim(Some(0)), Some(none.clone())),
            (
                "changed files do not excuse what was seen",
                &ledger,
                changed(claim(Some(0))),
                Some(none),
            ),
            ("nothing tells", &ledger, claim(None), Some(UnseenWork)),
            ("nothing tells, files changed", &ledger, changed(claim(None)), None),
            ("nothing tells, said again", &asked, claim(None), None),
            ("a part was too long to read", &cut, claim(Some(0)), Some(UnseenWork)),
        ] {
            let verdict = decide(&promising(), ledger, &seen).verdict;
            let expected = match refused {
                Some(shortfall) => Verdict::Continue(vec![shortfall]),
                None => Verdict::End(TerminalReason::Completed),
            };
            assert_eq!(verdict, expected, "{name}");
        }
    }

    #[test]
    fn a_claim_that_nobody_can_see_through_is_refused_once() {
        let first = decide(&promising(), &Ledger::default(), &claim(None));
        assert_eq!(first.ledger.unseen_claims, 1);
        let second = decide(&promising(), &first.ledger, &claim(None));
        assert_eq!(second.verdict, Verdict::End(TerminalReason::Completed));
    }

    #[test]
    fn warn_and_accept_let_a_claim_without_work_through() {
        for without_work in [WithoutWork::Warn, WithoutWork::Accept] {
            let contract = Contract { without_work, ..promising() };
            let verdict = decide(&contract, &Ledger::default(), &claim(Some(0))).verdict;
            assert_eq!(verdict, Verdict::End(TerminalReason::Completed));
        }
    }

    #[test]
    fn a_promise_on_the_last_allowed_iteration_is_a_completion() {
        let mut contract = promising();
        contract.guardrails.max_iterations = Some(3);
        let ledger = Ledger { iterations: 2, ..Ledger::default() };
        let verdict = decide(&contract, &ledger, &claim(Some(1))).verdict;
        assert_eq!(verdict, Verdict::End(TerminalReason::Completed));
        let silent = Observation { tool_calls: Some(1), ..Observation::default() };
        let verdict = decide(&contract, &ledger, &silent).verdict;
        assert_eq!(verdict, Verdict::End(TerminalReason::MaxIters { limit: 3 }));
    }

    #[test]
    fn checks_outrank_the_promise_and_decide_alone_without_one() {
        let ledger = Ledger::default();
        let failed = Observation { checks: Some(vec![result(false, "")]), ..claim(Some(1)) };
        let named = missing(&checked(promising()), &ledger, &failed);
        assert_eq!(named, [Shortfall::CheckFailed(result(false, ""))]);
        let alone = checked(Contract::default());
        let quiet = Observation { tool_calls: Some(0), ..Observation::default() };
        assert!(wants_checks(&alone, &ledger, &quiet));
        let passed = Observation { checks: Some(vec![result(true, "")]), ..quiet };
        let verdict = decide(&alone, &ledger, &passed).verdict;
        assert_eq!(verdict, Verdict::End(TerminalReason::Completed));
    }

    #[test]
    fn checks_do_not_run_before_a_claim_nor_while_agents_are_at_work() {
        let ledger = Ledger::default();
        let quiet = Observation { tool_calls: Some(1), ..Observation::default() };
        assert!(!wants_checks(&checked(promising()), &ledger, &quiet));
        let waiting = vec![Waiting::Background("subagent".to_owned())];
        let waiting = Observation { waiting, ..quiet };
        assert!(!wants_checks(&checked(Contract::default()), &ledger, &waiting));
        assert!(wants_checks(&checked(promising()), &ledger, &claim(Some(1))));
        assert!(!wants_checks(&checked(promising()), &ledger, &claim(Some(0))));
    }

    #[test]
    fn the_third_failure_of_the_same_kind_asks_for_another_way() {
        let contract = checked(promising());
        let mut ledger = Ledger::default();
        let mut told = Vec::new();
        for tail in
            ["1 of 9 failed in 0.1 s", "1 of 9 failed in 0.3 s", "1 of 9 failed in 0.2 s", "other"]
        {
            let seen = Observation { checks: Some(vec![result(false, tail)]), ..claim(Some(1)) };
            let judged = decide(&contract, &ledger, &seen);
            let Verdict::Continue(missing) = judged.verdict else { panic!("it ended") };
            told.push(missing.contains(&Shortfall::SameFailure { times: 3 }));
            ledger = judged.ledger;
        }
        assert_eq!(told, [false, false, true, false]);
        assert_eq!(ledger.same_failure, 1);
    }

    #[test]
    fn a_minimum_of_iterations_holds_also_without_a_promise() {
        let contract = Contract { min_iterations: 2, ..checked(Contract::default()) };
        let quiet = Observation { tool_calls: Some(1), ..Observation::default() };
        assert!(!wants_checks(&contract, &Ledger::default(), &quiet));
        let named = missing(&contract, &Ledger::default(), &quiet);
        assert_eq!(named, [Shortfall::TooEarly { first: 2 }]);
    }

    #[test]
    fn what_checks_write_is_no_progress_of_the_agent() {
        let with = |work| Fingerprint { work, ..Fingerprint::default() };
        let seen = Observation {
            fingerprint: with(1),
            after_checks: Some(with(2)),
            checks: Some(vec![result(false, "")]),
            ..claim(Some(1))
        };
        let judged = decide(&checked(promising()), &Ledger::default(), &seen);
        assert_eq!(judged.ledger.fingerprint, Some(with(2)));
    }
}
