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
fn iterations_without_a_commit_stall_a_loop_that_asks_for_commits() {
    let contract = rails(Guardrails { max_commitless: Some(3), ..Guardrails::default() });
    assert_eq!(ends(&contract, &[works(0), works(0)]), None);
    let stalled = TerminalReason::NoProgress { stall: Stall::NoCommit, times: 3 };
    assert_eq!(ends(&contract, &[works(0), works(0), works(0)]), Some(stalled));
    assert_eq!(ends(&contract, &[works(0), works(0), works(1), works(0), works(0)]), None);
}

#[test]
fn without_a_repository_nothing_stalls_for_want_of_commits() {
    let contract = rails(Guardrails { max_commitless: Some(1), ..Guardrails::default() });
    let unseen = Observation { commits: None, ..works(0) };
    assert_eq!(ends(&contract, &[unseen.clone(), unseen]), None);
}

#[test]
fn failed_runs_in_a_row_end_a_loop_and_one_that_works_makes_good_for_them() {
    let contract = rails(Guardrails { max_failures: Some(2), ..Guardrails::default() });
    let fails = Observation { failed: Some("exit code 1".to_owned()), ..Observation::default() };
    assert_eq!(ends(&contract, &[fails.clone(), works(0), fails.clone()]), None);
    let reason = ends(&contract, &[fails.clone(), fails]).unwrap();
    assert_eq!(reason.name(), "harness_failed");
    assert!(reason.to_string().contains("2 runs in a row failed, the last one: exit code 1"));
}

#[test]
fn d15_a_failed_run_that_got_the_work_further_is_no_failure_in_a_row() {
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
fn a_failed_run_is_no_proof_of_standing_still() {
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
fn work_that_is_done_is_done_although_the_program_failed() {
    let contract = rails(Guardrails { max_failures: Some(1), ..Guardrails::default() });
    let seen = Observation { failed: Some("killed".to_owned()), work: DONE_LIST, ..works(0) };
    assert_eq!(ends(&contract, &[seen]), Some(TerminalReason::Completed));
}

#[test]
fn what_a_run_used_before_it_met_a_usage_limit_is_used_and_no_other_wait_counts_anything() {
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
fn tokens_that_are_used_up_end_a_loop_unless_it_is_done() {
    let contract = rails(Guardrails { max_tokens: Some(100), ..Guardrails::default() });
    let uses = |tokens| Observation { tokens, ..works(1) };
    assert_eq!(ends(&contract, &[uses(60), uses(39)]), None);
    let spent = TerminalReason::Budget { used: 120, limit: 100, unit: BudgetUnit::Tokens };
    assert_eq!(ends(&contract, &[uses(60), uses(60)]), Some(spent));
    let done = Observation { claimed: true, ..uses(60) };
    assert_eq!(ends(&contract, &[uses(60), done]), Some(TerminalReason::Completed));
}

#[test]
fn a_full_list_does_not_end_a_loop_before_its_least_iteration() {
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
fn a_list_that_stays_empty_stalls_a_loop_however_much_changes_beside_it() {
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
fn two_iterations_that_change_nothing_because_of_what_was_denied_end_a_loop_by_name() {
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
fn money_that_is_used_up_ends_a_loop_and_says_so_in_dollars() {
    let contract = rails(Guardrails { max_cost: Some(2_500_000), ..Guardrails::default() });
    let costs = |cost| Observation { cost, ..works(1) };
    assert_eq!(ends(&contract, &[costs(1_000_000), costs(1_499_999)]), None);
    let reason = ends(&contract, &[costs(1_000_000), costs(1_510_000)]).unwrap();
    assert_eq!(reason.name(), "budget");
    assert_eq!(reason.to_string(), "$2.51 are used, and $2.50 are allowed");
}
