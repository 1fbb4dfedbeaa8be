//! Rules that only a runner needs: failed runs, commits, tokens, a least number of iterations.

use super::*;
use crate::engine::{Fingerprint, Guardrails, Tree};

const DONE_LIST: Work = Work::List { done: 2, open: 0 };

fn rails(rails: Guardrails) -> Contract {
    Contract { token: Some("COMPLETE".to_owned()), guardrails: rails, ..Contract::default() }
}

fn works(commits: u64) -> Observation {
    Observation { tool_calls: Some(1), commits: Some(commits), ..Observation::default() }
}

/// The verdict on the last of these observations.
fn last(contract: &Contract, story: &[Observation]) -> Decision {
    let start = Decision { verdict: Verdict::Continue(Vec::new()), ledger: Ledger::default() };
    story.iter().fold(start, |before, seen| decide(contract, &before.ledger, seen))
}

fn ends(contract: &Contract, story: &[Observation]) -> Option<TerminalReason> {
    match last(contract, story).verdict {
        Verdict::End(reason) => Some(reason),
        _ => None,
    }
}

#[test]
fn commitless_iterations_stall() {
    let contract = rails(Guardrails { max_commitless: Some(3), ..Guardrails::default() });
    assert_eq!(ends(&contract, &[works(0), works(0)]), None);
    let stalled = TerminalReason::NoProgress { stall: Stall::NoCommit, times: 3 };
    assert_eq!(ends(&contract, &[works(0), works(0), works(0)]), Some(stalled));
    assert_eq!(ends(&contract, &[works(0), works(0), works(1), works(0), works(0)]), None);
}

#[test]
fn without_repository_nothing_stalls() {
    let contract = rails(Guardrails { max_commitless: Some(1), ..Guardrails::default() });
    let unseen = Observation { commits: None, ..works(0) };
    assert_eq!(ends(&contract, &[unseen.clone(), unseen]), None);
}

#[test]
fn failed_rows_end_a_loop() {
    let contract = rails(Guardrails { max_failures: Some(2), ..Guardrails::default() });
    let fails = Observation { failed: Some("exit code 1".to_owned()), ..Observation::default() };
    assert_eq!(ends(&contract, &[fails.clone(), works(0), fails.clone()]), None);
    let reason = ends(&contract, &[fails.clone(), fails]).unwrap();
    assert_eq!(reason.name(), "harness_failed");
    assert!(reason.to_string().contains("2 runs in a row failed, the last one: exit code 1"));
}

#[test]
fn d15_progressing_failure_breaks_row() {
    let contract = rails(Guardrails { max_failures: Some(2), ..Guardrails::default() });
    let fails = |work, tree| Observation {
        failed: Some("too many turns".to_owned()),
        fingerprint: Fingerprint { work, tree: Tree::Hash(tree) },
        ..Observation::default()
    };
    let ticked = [fails(1, 1), fails(2, 1), fails(3, 1), fails(4, 1)];
    assert_eq!(ends(&contract, &ticked), None);
    let files = [fails(1, 1), fails(1, 2), fails(1, 3), fails(1, 4)];
    assert_eq!(ends(&contract, &files), None);
    let still = [fails(1, 1), fails(2, 1), fails(2, 1), fails(2, 1)];
    assert_eq!(ends(&contract, &still).unwrap().name(), "harness_failed");
}

#[test]
fn failed_run_proves_no_standstill() {
    let still = Fingerprint { work: 1, tree: Tree::Hash(1) };
    let idle = Observation { tool_calls: Some(0), fingerprint: still, ..Observation::default() };
    let fails = Observation { failed: Some("overloaded".to_owned()), ..idle.clone() };
    let contract = rails(Guardrails { max_idle_stops: 3, ..Guardrails::default() });
    let story = [idle.clone(), fails.clone(), fails.clone(), fails, idle.clone()];
    assert_eq!(ends(&contract, &story), None);
    let after = last(&contract, &story).ledger;
    assert_eq!((after.iterations, after.idle_stops, after.failures), (5, 2, 0));
    assert!(ends(&contract, &[idle.clone(), idle.clone(), idle]).is_some());
}

#[test]
fn done_work_outlasts_failed_program() {
    let contract = rails(Guardrails { max_failures: Some(1), ..Guardrails::default() });
    let seen = Observation { failed: Some("killed".to_owned()), work: DONE_LIST, ..works(0) };
    assert_eq!(ends(&contract, &[seen]), Some(TerminalReason::Completed));
}

#[test]
fn usage_before_limits_counts() {
    let contract = rails(Guardrails { max_tokens: Some(100), ..Guardrails::default() });
    let waits = |waiting| Observation { tokens: 60, waiting: vec![waiting], ..works(1) };
    let limited = waits(Waiting::UsageLimit("5 hours".to_owned()));
    let after = last(&contract, &[limited.clone(), limited]).ledger;
    assert_eq!((after.iterations, after.tokens), (0, 120));
    assert_eq!(
        budget_is_up(&contract, &after),
        Some(TerminalReason::Budget { used: 120, limit: 100, unit: BudgetUnit::Tokens })
    );
    let after = last(&contract, &[waits(Waiting::Approval), waits(Waiting::Approval)]).ledger;
    assert_eq!((after.tokens, budget_is_up(&contract, &after)), (0, None));
}

#[test]
fn used_tokens_end_unless_done() {
    let contract = rails(Guardrails { max_tokens: Some(100), ..Guardrails::default() });
    let uses = |tokens| Observation { tokens, ..works(1) };
    assert_eq!(ends(&contract, &[uses(60), uses(39)]), None);
    let spent = TerminalReason::Budget { used: 120, limit: 100, unit: BudgetUnit::Tokens };
    assert_eq!(ends(&contract, &[uses(60), uses(60)]), Some(spent));
    let done = Observation { claimed: true, ..uses(60) };
    assert_eq!(ends(&contract, &[uses(60), done]), Some(TerminalReason::Completed));
}

#[test]
fn full_list_waits_for_minimum() {
    let contract = Contract { min_iterations: 3, ..rails(Guardrails::default()) };
    let full = Observation { work: DONE_LIST, ..works(1) };
    let early = last(&contract, &[full.clone(), full.clone()]).verdict;
    assert_eq!(early, Verdict::Continue(vec![Shortfall::TooEarly { first: 3 }]));
    assert_eq!(
        ends(&contract, &[full.clone(), full.clone(), full]),
        Some(TerminalReason::Completed)
    );
}

#[test]
fn empty_list_stalls() {
    let contract = rails(Guardrails { max_unchanged: 3, ..Guardrails::default() });
    let with = |number, work| Observation {
        work,
        fingerprint: Fingerprint { work: number, tree: Tree::Hash(number) },
        files: UnchangedFiles::InFingerprint,
        ..works(1)
    };
    let empty = |number| with(number, Work::List { done: 0, open: 0 });
    let restored = with(3, Work::List { done: 1, open: 1 });
    assert_eq!(ends(&contract, &[empty(1), empty(2)]), None);
    let stalled = TerminalReason::NoProgress { stall: Stall::EmptyList, times: 3 };
    assert_eq!(ends(&contract, &[empty(1), empty(2), empty(3)]), Some(stalled));
    assert_eq!(ends(&contract, &[empty(1), empty(2), restored, empty(4), empty(5)]), None);
}

#[test]
fn denied_standstill_ends_by_name() {
    let contract = rails(Guardrails { max_denied: Some(2), ..Guardrails::default() });
    let at = |place: u64, denied: &[&str]| Observation {
        denied: denied.iter().map(|&tool| tool.to_owned()).collect(),
        fingerprint: Fingerprint { work: place, tree: Tree::Hash(place) },
        ..works(0)
    };
    let denied = at(1, &["Bash: rm x"]);
    let failed = Observation { failed: Some("exit code 1".to_owned()), ..at(1, &[]) };
    assert_eq!(ends(&contract, std::slice::from_ref(&denied)), None);
    let blocked = ends(&contract, &[denied.clone(), at(1, &["Edit", "a", "b", "c", "d"])]).unwrap();
    let words =
        "allow what it was denied in 2 iterations that changed nothing: Edit, a, b and 2 more";
    assert_eq!(blocked, TerminalReason::Blocked { need: words.to_owned(), by: Obstacle::Denial });
    // A failed run in between says nothing about the denial; a run that failed for the denial counts.
    assert!(ends(&contract, &[denied.clone(), failed.clone(), denied.clone()]).is_some());
    let both = Observation { failed: failed.failed.clone(), ..denied.clone() };
    assert!(ends(&contract, &[both.clone(), both]).is_some());
    let all: Vec<String> = (0..MOST_DENIED).map(|at| at.to_string()).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let blocked = ends(&contract, &[denied.clone(), at(1, &all)]).unwrap().to_string();
    assert!(blocked.ends_with("nothing: 0, 1, 2 and at least 47 more"), "{blocked}");
    // Work, or an iteration without a denial, resets the count.
    assert_eq!(ends(&contract, &[denied.clone(), at(2, &["Bash"]), at(2, &["Bash"])]), None);
    let commit = Observation { commits: Some(1), ..denied.clone() };
    assert_eq!(ends(&contract, &[denied.clone(), commit, denied.clone()]), None);
    assert_eq!(ends(&contract, &[denied.clone(), at(1, &[]), denied.clone()]), None);
    // Without a limit nothing ends the loop, and done work is done.
    let many = vec![denied.clone(); 9];
    assert_eq!(ends(&rails(Guardrails::default()), &many), None);
    let done = Observation { claimed: true, ..denied.clone() };
    assert_eq!(ends(&contract, &[denied, done]), Some(TerminalReason::Completed));
}

#[test]
fn used_money_ends_in_dollars() {
    let contract = rails(Guardrails { max_cost: Some(2_500_000), ..Guardrails::default() });
    let costs = |cost| Observation { cost, ..works(1) };
    assert_eq!(ends(&contract, &[costs(1_000_000), costs(1_499_999)]), None);
    let reason = ends(&contract, &[costs(1_000_000), costs(1_510_000)]).unwrap();
    assert_eq!(reason.name(), "budget");
    assert_eq!(reason.to_string(), "$2.51 are used, and $2.50 are allowed");
}
