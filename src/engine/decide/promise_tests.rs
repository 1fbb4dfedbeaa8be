//! The promise, the work after it and the checks: the loop of spec 002 as a table.

use super::*;
use crate::engine::{Check, Fingerprint};

fn promising() -> Contract {
    Contract { token: Some("DONE".to_owned()), min_tool_calls: 1, ..Contract::default() }
}

fn checked(contract: Contract) -> Contract {
    let run = "cargo test".to_owned();
    Contract { checks: vec![Check { run, limit_seconds: 60, ..Check::default() }], ..contract }
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
        review: None,
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
    let changed = |seen: Observation| Observation { since_arming: Difference::Changed, ..seen };
    for (name, ledger, seen, refused) in [
        ("a call is work", &ledger, claim(Some(1)), None),
        ("no call is none", &ledger, claim(Some(0)), Some(none.clone())),
        ("changed files do not excuse what was seen", &ledger, changed(claim(Some(0))), Some(none)),
        ("nothing tells", &ledger, claim(None), Some(UnseenWork(UNSEEN_WORK.to_owned()))),
        ("nothing tells, files changed", &ledger, changed(claim(None)), None),
        ("nothing tells, said again", &asked, claim(None), None),
        (
            "a part was too long to read",
            &cut,
            claim(Some(0)),
            Some(UnseenWork(UNSEEN_WORK.to_owned())),
        ),
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
fn t2_personal_end_runs_no_checks() {
    let contract = checked(Contract::default());
    let seen = Observation::default();
    let end = |reason| wants_final_checks(&contract, &Verdict::End(reason), &seen);
    let need = || "the key".to_owned();
    for reason in [
        TerminalReason::MaxIters { limit: 1 },
        TerminalReason::Blocked { need: need(), by: Obstacle::Other },
        TerminalReason::TimedOut { limit: 1 },
    ] {
        assert!(end(reason));
    }
    for reason in [
        TerminalReason::Completed,
        TerminalReason::Cancelled,
        TerminalReason::Blocked { need: need(), by: Obstacle::FolderGone },
    ] {
        assert!(!end(reason));
    }
    let off = Contract { no_final_check: true, ..contract.clone() };
    assert!(!wants_final_checks(&off, &Verdict::End(TerminalReason::MaxIters { limit: 1 }), &seen));
}

#[test]
fn unseen_claim_is_refused_once() {
    let first = decide(&promising(), &Ledger::default(), &claim(None));
    assert_eq!(first.ledger.unseen_claims, 1);
    let second = decide(&promising(), &first.ledger, &claim(None));
    assert_eq!(second.verdict, Verdict::End(TerminalReason::Completed));
}

#[test]
fn warn_and_accept_pass_claims() {
    for without_work in [WithoutWork::Warn, WithoutWork::Accept] {
        let contract = Contract { without_work, ..promising() };
        let verdict = decide(&contract, &Ledger::default(), &claim(Some(0))).verdict;
        assert_eq!(verdict, Verdict::End(TerminalReason::Completed));
    }
}

#[test]
fn last_iteration_promise_completes() {
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
fn checks_outrank_the_promise() {
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
fn checks_follow_a_claim() {
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
fn third_failure_asks_another_way() {
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
fn minimum_holds_without_promise() {
    let contract = Contract { min_iterations: 2, ..checked(Contract::default()) };
    let quiet = Observation { tool_calls: Some(1), ..Observation::default() };
    assert!(!wants_checks(&contract, &Ledger::default(), &quiet));
    let named = missing(&contract, &Ledger::default(), &quiet);
    assert_eq!(named, [Shortfall::TooEarly { first: 2 }]);
}

#[test]
fn check_writes_are_no_progress() {
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
