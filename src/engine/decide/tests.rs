//! `decide` as a table: a list of observations in, a list of verdicts out.

use std::fmt::Write;

use super::*;
use crate::engine::{Attempt, Check, CheckResult, Fingerprint, Guardrails, Tree};

/// Plays one loop: a line for each iteration with what was seen, the verdict, the counters.
fn played(contract: &Contract, story: &[(&str, Observation)]) -> String {
    let mut ledger = Ledger::default();
    let mut lines = String::new();
    for (name, seen) in story {
        let judgement = decide(contract, &ledger, seen);
        ledger = judgement.ledger;
        let _ = writeln!(
            lines,
            "{name}: {} | iteration {}, idle {}, unchanged {}, calls {}, refused {}",
            spoken(&judgement.verdict),
            ledger.iterations,
            ledger.idle_stops,
            ledger.unchanged,
            ledger.tool_calls,
            ledger.refused_claims
        );
    }
    lines
}

fn spoken(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Continue(missing) => format!("continue {missing:?}"),
        Verdict::Wait(waiting) => format!("wait {waiting:?}"),
        Verdict::End(reason) => format!("end {}: {reason}", reason.name()),
    }
}

/// The verdict on the first iteration of a loop, one line an observation.
fn first(contract: &Contract, table: &[(&str, Observation)]) -> String {
    table.iter().fold(String::new(), |lines, (name, seen)| {
        let verdict = decide(contract, &Ledger::default(), seen).verdict;
        lines + &format!("{name}: {}\n", spoken(&verdict))
    })
}

fn contract() -> Contract {
    Contract { token: Some("DONE".to_owned()), ..Contract::default() }
}

fn open(ids: &[&str]) -> Work {
    Work::List { done: 1, open: ids.len() }
}

/// An iteration with tool calls, after which the work looks like `work`.
fn busy(work: u64) -> Observation {
    Observation {
        work: open(&["T2", "T3"]),
        tool_calls: Some(2),
        fingerprint: print(work, Tree::NotTaken),
        ..Observation::default()
    }
}

fn print(work: u64, tree: Tree) -> Fingerprint {
    Fingerprint { work, tree }
}

fn check(run: &str, passed: bool) -> CheckResult {
    CheckResult {
        run: run.to_owned(),
        passed,
        outcome: if passed { "exit code 0" } else { "exit code 1" }.to_owned(),
        tail: String::new(),
        review: None,
    }
}

#[test]
fn an_ordinary_loop() {
    let story = [
        ("starts", busy(1)),
        ("ticks a task", Observation { work: open(&["T3"]), ..busy(2) }),
        ("claims too early", Observation { work: open(&["T3"]), claimed: true, ..busy(3) }),
        ("waits", Observation { waiting: vec![Waiting::Approval], ..busy(4) }),
        ("ticks the last", Observation { work: open(&[]), ..busy(4) }),
    ];
    insta::assert_snapshot!(played(&contract(), &story), @r"
    starts: continue [OpenTasks] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    ticks a task: continue [OpenTasks] | iteration 2, idle 0, unchanged 0, calls 4, refused 0
    claims too early: continue [ClaimedWithOpenTasks] | iteration 3, idle 0, unchanged 0, calls 6, refused 1
    waits: wait [Approval] | iteration 3, idle 0, unchanged 0, calls 6, refused 1
    ticks the last: end completed: all the work is done | iteration 4, idle 0, unchanged 0, calls 8, refused 1
    ");
}

#[test]
fn done_and_not_done() {
    let claimed = |work: Work| Observation { work, claimed: true, ..Observation::default() };
    let unclaimed = |work: Work| Observation { work, ..Observation::default() };
    let table = [
        ("list, open", unclaimed(open(&["T2"]))),
        ("list, open, claimed", claimed(open(&["T2"]))),
        ("list, all ticked", unclaimed(open(&[]))),
        ("list, empty", claimed(Work::List { done: 0, open: 0 })),
        ("counter, behind", unclaimed(Work::Counter { index: 2, total: 3 })),
        ("counter, behind, claimed", claimed(Work::Counter { index: 2, total: 3 })),
        ("counter, at the end", unclaimed(Work::Counter { index: 3, total: 3 })),
        ("counter, beyond the end", unclaimed(Work::Counter { index: 4, total: 3 })),
        ("counter of nothing", unclaimed(Work::Counter { index: 0, total: 0 })),
        ("nothing but words, none", unclaimed(Work::Untold)),
        ("nothing but words, the token", claimed(Work::Untold)),
        ("unreadable", unclaimed(Work::Unreadable { hash: 7 })),
        ("unreadable, claimed", claimed(Work::Unreadable { hash: 7 })),
    ];
    insta::assert_snapshot!(first(&contract(), &table), @r"
    list, open: continue [OpenTasks]
    list, open, claimed: continue [ClaimedWithOpenTasks]
    list, all ticked: end completed: all the work is done
    list, empty: continue [EmptyList]
    counter, behind: continue [OpenTasks]
    counter, behind, claimed: end completed: all the work is done
    counter, at the end: end completed: all the work is done
    counter, beyond the end: end completed: all the work is done
    counter of nothing: wait [NoTasks]
    nothing but words, none: continue [NoToken]
    nothing but words, the token: end completed: all the work is done
    unreadable: continue [Unreadable]
    unreadable, claimed: continue [Unreadable]
    ");
}

#[test]
fn checks_outrank_words() {
    let checks = vec![Check { run: "make test".to_owned(), limit_seconds: 60, ..Check::default() }];
    let with_token = Contract { checks: checks.clone(), ..contract() };
    let without_token = Contract { checks, ..Contract::default() };
    let claimed = Observation { claimed: true, ..Observation::default() };
    let ran =
        |passed| Observation { checks: Some(vec![check("make test", passed)]), ..claimed.clone() };
    let table = [
        ("no claim", Observation::default()),
        ("claim, not run", claimed.clone()),
        ("claim, failed", ran(false)),
        ("claim, passed", ran(true)),
        ("open boxes, passed", Observation { work: open(&["T2"]), ..ran(true) }),
        ("all ticked, failed", Observation { work: open(&[]), ..ran(false) }),
    ];
    insta::assert_snapshot!(first(&with_token, &table), @r#"
    no claim: continue [NoToken]
    claim, not run: continue [ChecksNotRun]
    claim, failed: continue [CheckFailed(CheckResult { run: "make test", passed: false, outcome: "exit code 1", tail: "", review: None })]
    claim, passed: end completed: all the work is done
    open boxes, passed: continue [ClaimedWithOpenTasks]
    all ticked, failed: continue [CheckFailed(CheckResult { run: "make test", passed: false, outcome: "exit code 1", tail: "", review: None })]
    "#);
    // Spec 000: objective checks pass without a token requirement.
    insta::assert_snapshot!(first(&without_token, &table), @r#"
    no claim: continue [ChecksNotRun]
    claim, not run: continue [ChecksNotRun]
    claim, failed: continue [CheckFailed(CheckResult { run: "make test", passed: false, outcome: "exit code 1", tail: "", review: None })]
    claim, passed: end completed: all the work is done
    open boxes, passed: continue [ClaimedWithOpenTasks]
    all ticked, failed: continue [CheckFailed(CheckResult { run: "make test", passed: false, outcome: "exit code 1", tail: "", review: None })]
    "#);
    let wanted =
        |contract: &Contract, seen: &Observation| wants_checks(contract, &Ledger::default(), seen);
    assert!(wanted(&with_token, &claimed));
    assert!(!wanted(&with_token, &Observation::default()), "nobody says done");
    assert!(!wanted(&with_token, &ran(true)), "they have run");
    assert!(!wanted(&contract(), &claimed), "there are none");
    assert!(wanted(&without_token, &Observation::default()), "they alone decide");
    let stopped = Observation { demand: Some(Demand::Stopped), ..claimed.clone() };
    assert!(!wanted(&with_token, &stopped), "a person has decided");
}

#[test]
fn wordy_claim_needs_work() {
    let claimed =
        |calls| Observation { claimed: true, tool_calls: Some(calls), ..Observation::default() };
    let careful = Contract { min_tool_calls: 3, min_iterations: 2, ..contract() };
    let story =
        [("at once", claimed(0)), ("after two calls", claimed(2)), ("after three", claimed(1))];
    insta::assert_snapshot!(played(&careful, &story), @r"
    at once: continue [NoWork { calls: 0, needed: 3 }, TooEarly { first: 2 }] | iteration 1, idle 1, unchanged 0, calls 0, refused 1
    after two calls: continue [NoWork { calls: 2, needed: 3 }] | iteration 2, idle 0, unchanged 0, calls 2, refused 2
    after three: end completed: all the work is done | iteration 3, idle 0, unchanged 0, calls 3, refused 2
    ");
    for without_work in [WithoutWork::Warn, WithoutWork::Accept] {
        let lenient = Contract { min_tool_calls: 3, without_work, ..contract() };
        let verdict = decide(&lenient, &Ledger::default(), &claimed(0)).verdict;
        assert_eq!(verdict, Verdict::End(TerminalReason::Completed));
    }
}

/// Everything at once, then without the guard that decided: the order of the guards.
#[test]
fn the_order_of_the_guards() {
    let contract = Contract {
        guardrails: Guardrails {
            max_iterations: Some(5),
            max_idle_stops: 3,
            max_unchanged: 3,
            max_seconds: Some(60),
            ..Guardrails::default()
        },
        ..contract()
    };
    let mut ledger = Ledger {
        iterations: 4,
        idle_stops: 2,
        unchanged: 2,
        fingerprint: Some(print(1, Tree::Hash(1))),
        unreadable: Some(7),
        ..Ledger::default()
    };
    let mut seen = Observation {
        work: Work::Unreadable { hash: 7 },
        claimed: true,
        tool_calls: Some(0),
        fingerprint: print(1, Tree::Hash(1)),
        waiting: vec![Waiting::Approval, Waiting::Background("subagent build".to_owned())],
        attempt: Some(Attempt { task: "T2".to_owned(), used: 6, limit: 5 }),
        elapsed_seconds: 60,
        reentered: true,
        demand: Some(Demand::Blocked("a key".to_owned())),
        ..Observation::default()
    };
    let mut lines = String::new();
    let mut say = |ledger: &Ledger, seen: &Observation| {
        let _ = writeln!(lines, "{}", spoken(&decide(&contract, ledger, seen).verdict));
    };
    say(&ledger, &seen);
    seen.demand = None;
    say(&ledger, &seen);
    seen.work = open(&[]);
    say(&ledger, &seen);
    seen.work = open(&["T2"]);
    say(&Ledger::default(), &seen);
    say(&ledger, &seen);
    seen.waiting.clear();
    say(&ledger, &seen);
    seen.attempt = None;
    say(&ledger, &seen);
    ledger.iterations = 1;
    say(&ledger, &seen);
    seen.elapsed_seconds = 59;
    say(&ledger, &seen);
    seen.tool_calls = Some(1);
    say(&ledger, &seen);
    seen.fingerprint = print(1, Tree::Hash(2));
    say(&ledger, &seen);
    insta::assert_snapshot!(lines, @r#"
    end blocked: the agent needs a person: a key
    end corrupt_state: the state file is still unreadable
    end completed: all the work is done
    wait [Unproven]
    wait [Approval, Background("subagent build")]
    end task_failed: task T2 is at attempt 6, and 5 are allowed
    end max_iters: the limit of 5 iterations was reached
    end timed_out: the time limit of 60 s was reached
    end no_progress: the agent stopped 3 times in a row without doing anything
    end no_progress: 3 iterations in a row changed nothing in the project
    continue [ClaimedWithOpenTasks]
    "#);
}

#[test]
fn every_demand_has_its_name() {
    let demands = [
        Demand::Blocked("a key for the server".to_owned()),
        Demand::Cancelled,
        Demand::Stopped,
        Demand::HarnessFailed("no such program".to_owned()),
        Demand::TaskFailed(Attempt { task: "T2".to_owned(), used: 6, limit: 5 }),
    ];
    let table = demands.map(|demand| {
        // A person's word comes first, also when everything is done.
        ("demand", Observation { demand: Some(demand), work: open(&[]), ..Observation::default() })
    });
    insta::assert_snapshot!(first(&contract(), &table), @r"
    demand: end blocked: the agent needs a person: a key for the server
    demand: end cancelled: it was cancelled
    demand: end stopped: it was stopped
    demand: end harness_failed: the agent program could not be run: no such program
    demand: end task_failed: task T2 is at attempt 6, and 5 are allowed
    ");
}

#[test]
fn three_idle_stops_are_enough() {
    let idle = |work| Observation { tool_calls: Some(0), ..busy(work) };
    let story = [
        ("talks", idle(1)),
        ("talks", idle(1)),
        ("works", busy(1)),
        ("talks", idle(1)),
        ("talks, but a commit appeared", idle(2)),
        ("talks", idle(2)),
        ("talks", idle(2)),
        ("talks", idle(2)),
    ];
    insta::assert_snapshot!(played(&contract(), &story), @r"
    talks: continue [OpenTasks] | iteration 1, idle 1, unchanged 0, calls 0, refused 0
    talks: continue [OpenTasks] | iteration 2, idle 2, unchanged 0, calls 0, refused 0
    works: continue [OpenTasks] | iteration 3, idle 0, unchanged 0, calls 2, refused 0
    talks: continue [OpenTasks] | iteration 4, idle 1, unchanged 0, calls 2, refused 0
    talks, but a commit appeared: continue [OpenTasks] | iteration 5, idle 0, unchanged 0, calls 2, refused 0
    talks: continue [OpenTasks] | iteration 6, idle 1, unchanged 0, calls 2, refused 0
    talks: continue [OpenTasks] | iteration 7, idle 2, unchanged 0, calls 2, refused 0
    talks: end no_progress: the agent stopped 3 times in a row without doing anything | iteration 8, idle 3, unchanged 0, calls 2, refused 0
    ");
}

#[test]
fn files_replace_unseen_tool_calls() {
    let blind = |tree| Observation { tool_calls: None, fingerprint: print(1, tree), ..busy(1) };
    let story = [
        ("first stop", blind(Tree::NotTaken)),
        ("first look", blind(Tree::Hash(1))),
        ("files changed", blind(Tree::Hash(2))),
        ("same", blind(Tree::Hash(2))),
        ("too large to look through", blind(Tree::Unknown)),
        ("same", blind(Tree::Unknown)),
    ];
    insta::assert_snapshot!(played(&contract(), &story), @r"
    first stop: continue [OpenTasks] | iteration 1, idle 1, unchanged 0, calls 0, refused 0
    first look: continue [OpenTasks] | iteration 2, idle 2, unchanged 0, calls 0, refused 0
    files changed: continue [OpenTasks] | iteration 3, idle 0, unchanged 0, calls 0, refused 0
    same: continue [OpenTasks] | iteration 4, idle 1, unchanged 1, calls 0, refused 0
    too large to look through: continue [OpenTasks] | iteration 5, idle 2, unchanged 0, calls 0, refused 0
    same: end no_progress: the agent stopped 3 times in a row without doing anything | iteration 6, idle 3, unchanged 0, calls 0, refused 0
    ");
}

#[test]
fn two_looks_show_standstill() {
    let still = |tree| Observation { fingerprint: print(1, tree), ..busy(1) };
    let contract = Contract {
        guardrails: Guardrails { max_unchanged: 2, ..Guardrails::default() },
        ..contract()
    };
    let story = [
        ("starts", still(Tree::NotTaken)),
        ("first look", still(Tree::Hash(1))),
        ("same", still(Tree::Hash(1))),
        ("a file changed", still(Tree::Hash(2))),
        ("too large to look through", still(Tree::Unknown)),
        ("looks again", still(Tree::Hash(2))),
        ("same", still(Tree::Hash(2))),
        ("a task was ticked", Observation { fingerprint: print(2, Tree::NotTaken), ..busy(2) }),
        ("looks", Observation { fingerprint: print(2, Tree::Hash(2)), ..busy(2) }),
        ("same", Observation { fingerprint: print(2, Tree::Hash(2)), ..busy(2) }),
        ("same", Observation { fingerprint: print(2, Tree::Hash(2)), ..busy(2) }),
    ];
    insta::assert_snapshot!(played(&contract, &story), @r"
    starts: continue [OpenTasks] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    first look: continue [OpenTasks] | iteration 2, idle 0, unchanged 0, calls 4, refused 0
    same: continue [OpenTasks] | iteration 3, idle 0, unchanged 1, calls 6, refused 0
    a file changed: continue [OpenTasks] | iteration 4, idle 0, unchanged 0, calls 8, refused 0
    too large to look through: continue [OpenTasks] | iteration 5, idle 0, unchanged 0, calls 10, refused 0
    looks again: continue [OpenTasks] | iteration 6, idle 0, unchanged 0, calls 12, refused 0
    same: continue [OpenTasks] | iteration 7, idle 0, unchanged 1, calls 14, refused 0
    a task was ticked: continue [OpenTasks] | iteration 8, idle 0, unchanged 0, calls 16, refused 0
    looks: continue [OpenTasks] | iteration 9, idle 0, unchanged 0, calls 18, refused 0
    same: continue [OpenTasks] | iteration 10, idle 0, unchanged 1, calls 20, refused 0
    same: end no_progress: 2 iterations in a row changed nothing in the project | iteration 11, idle 0, unchanged 2, calls 22, refused 0
    ");
}

#[test]
fn unreadable_state_tells_once() {
    let broken = |hash| Observation { work: Work::Unreadable { hash }, ..busy(1) };
    let story = [
        ("broken", broken(1)),
        ("broken in another way", broken(2)),
        ("repaired", busy(1)),
        ("broken as before", broken(2)),
        ("the same again", broken(2)),
    ];
    insta::assert_snapshot!(played(&contract(), &story), @r"
    broken: continue [Unreadable] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    broken in another way: continue [Unreadable] | iteration 2, idle 0, unchanged 0, calls 4, refused 0
    repaired: continue [OpenTasks] | iteration 3, idle 0, unchanged 0, calls 6, refused 0
    broken as before: continue [Unreadable] | iteration 4, idle 0, unchanged 0, calls 8, refused 0
    the same again: end corrupt_state: the state file is still unreadable | iteration 5, idle 0, unchanged 0, calls 10, refused 0
    ");
}

#[test]
fn higher_count_counts() {
    let reported = |count| Observation { reported_iteration: count, ..busy(1) };
    let waiting = Observation { waiting: vec![Waiting::Approval], ..reported(50) };
    let story = [
        ("own", reported(0)),
        ("waits", waiting),
        ("the state is ahead", reported(40)),
        ("the state is behind", reported(1)),
        ("the state is at the limit", reported(100)),
    ];
    insta::assert_snapshot!(played(&contract(), &story), @r"
    own: continue [OpenTasks] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    waits: wait [Approval] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    the state is ahead: continue [OpenTasks] | iteration 40, idle 0, unchanged 0, calls 4, refused 0
    the state is behind: continue [OpenTasks] | iteration 41, idle 0, unchanged 0, calls 6, refused 0
    the state is at the limit: end max_iters: the limit of 100 iterations was reached | iteration 100, idle 0, unchanged 0, calls 8, refused 0
    ");
}

#[test]
fn full_counters_never_wrap() {
    let full = Ledger {
        iterations: u32::MAX,
        continued: u32::MAX,
        idle_stops: u32::MAX,
        unchanged: u32::MAX,
        tool_calls: u64::MAX,
        refused_claims: u32::MAX,
        fingerprint: Some(print(1, Tree::Hash(1))),
        ..Ledger::default()
    };
    let no_limits = Guardrails {
        max_iterations: None,
        max_idle_stops: u32::MAX,
        max_unchanged: u32::MAX,
        max_seconds: None,
        ..Guardrails::default()
    };
    let contract = Contract { guardrails: no_limits, ..contract() };
    let after = decide(&contract, &full, &Observation { claimed: true, ..busy(2) }).ledger;
    assert_eq!((after.iterations, after.tool_calls), (u32::MAX, u64::MAX));
    assert_eq!((after.continued, after.refused_claims), (u32::MAX, u32::MAX));
}

#[test]
fn pause_is_a_wait() {
    let paused = || vec![Waiting::Paused("asked for".to_owned())];
    let pause = |seen: Observation| Observation { waiting: paused(), ..seen };
    let idle = |work: u64| Observation { tool_calls: Some(0), ..busy(work) };
    let limits = Guardrails { max_iterations: Some(3), ..Guardrails::default() };
    let contract = Contract { guardrails: limits, ..contract() };
    let story = [
        ("starts", busy(1)),
        ("paused", pause(busy(2))),
        ("idle", pause(idle(2))),
        ("idle", pause(idle(2))),
        ("idle", pause(idle(2))),
        ("claims with open tasks", pause(Observation { claimed: true, ..idle(2) })),
        ("held by a hook", pause(Observation { reentered: true, ..idle(2) })),
        (
            "and an agent at work",
            Observation {
                waiting: [paused(), vec![Waiting::Background("subagent".to_owned())]].concat(),
                ..idle(2)
            },
        ),
        ("goes on", busy(3)),
        ("all ticked in a pause", pause(Observation { work: open(&[]), ..idle(3) })),
    ];
    insta::assert_snapshot!(played(&contract, &story), @r#"
    starts: continue [OpenTasks] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    paused: wait [Paused("asked for")] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    idle: wait [Paused("asked for")] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    idle: wait [Paused("asked for")] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    idle: wait [Paused("asked for")] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    claims with open tasks: wait [Paused("asked for")] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    held by a hook: wait [Paused("asked for")] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    and an agent at work: wait [Paused("asked for"), Background("subagent")] | iteration 1, idle 0, unchanged 0, calls 2, refused 0
    goes on: continue [OpenTasks] | iteration 2, idle 0, unchanged 0, calls 4, refused 0
    all ticked in a pause: end completed: all the work is done | iteration 3, idle 1, unchanged 0, calls 4, refused 0
    "#);
}

#[test]
fn pause_hides_no_end() {
    let waiting = vec![Waiting::Paused("asked for".to_owned())];
    let seen = Observation { waiting, tool_calls: Some(1), ..Observation::default() };
    let demanded = |demand| Observation { demand: Some(demand), ..seen.clone() };
    let table = [
        ("no promise", seen.clone()),
        ("the promise", Observation { claimed: true, ..seen.clone() }),
        ("a cancel", demanded(Demand::Cancelled)),
        ("a need", demanded(Demand::Blocked("a key".to_owned()))),
    ];
    insta::assert_snapshot!(first(&contract(), &table), @r#"
    no promise: wait [Paused("asked for")]
    the promise: end completed: all the work is done
    a cancel: end cancelled: it was cancelled
    a need: end blocked: the agent needs a person: a key
    "#);
}

#[test]
fn pause_checks_need_a_claim() {
    let check = Check { run: "true".to_owned(), limit_seconds: 1, ..Check::default() };
    let contract = Contract { checks: vec![check], ..contract() };
    let wanted = |claimed: bool, waiting: Vec<Waiting>| {
        let seen = Observation { work: open(&[]), claimed, waiting, ..Observation::default() };
        wants_checks(&contract, &Ledger::default(), &seen)
    };
    let paused = vec![Waiting::Paused("asked for".to_owned())];
    assert!(wanted(true, paused.clone()));
    assert!(!wanted(false, paused.clone()));
    assert!(wanted(false, vec![Waiting::Approval]), "a ticked list is a claim");
    let seen = Observation { work: open(&[]), waiting: paused, ..Observation::default() };
    let judged = decide(&contract, &Ledger::default(), &seen);
    assert!(matches!(judged.verdict, Verdict::Wait(_)), "{judged:?}");
}
