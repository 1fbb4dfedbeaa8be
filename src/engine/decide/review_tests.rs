//! Reviews as a table: what another agent program said of finished work, and what the loop does.

use super::super::evaluate::{Evaluation, evaluate};
use super::super::observation::ReviewResult;
use super::*;
use crate::engine::{Check, FinishedPart, ReviewWhen};

const RUN: &str = "spool review --harness codex";

fn contract() -> Contract {
    let review = Check::review("codex", "", 0, 900);
    assert_eq!((review.run.as_str(), review.is_review()), (RUN, true));
    let command = Check { run: "make test".to_owned(), limit_seconds: 1, ..Check::default() };
    Contract { checks: vec![command, review], ..Contract::default() }
}

/// A ticked list after a turn with work in it.
fn done() -> Observation {
    Observation {
        work: Work::List { done: 1, open: 0 },
        tool_calls: Some(1),
        last_words: "FR-002 is met".to_owned(),
        ..Observation::default()
    }
}

fn command(passed: bool) -> CheckResult {
    let (run, outcome) = ("make test".to_owned(), "exit code 0".to_owned());
    CheckResult { run, passed, outcome, ..CheckResult::default() }
}

/// The results of reviews with these verdicts, 0 for a pass, with other words each time.
fn judged(verdicts: u64, words: &str) -> Vec<CheckResult> {
    let review = ReviewResult {
        judged: true,
        met: 1,
        verdicts,
        tokens: 1_000,
        cost: 300_000,
        estimated: false,
    };
    let outcome = if verdicts == 0 { "passed" } else { "not passed (1 of 2 met)" };
    let result = CheckResult {
        run: RUN.to_owned(),
        passed: verdicts == 0,
        outcome: outcome.to_owned(),
        tail: format!("FR-002 not met: {words}\n  login.rs:1"),
        review: Some(review),
    };
    vec![command(true), result]
}

/// The results of a review without a verdict.
fn unjudged() -> Vec<CheckResult> {
    let review = ReviewResult { tokens: 10, cost: 7, ..ReviewResult::default() };
    let result = CheckResult {
        run: RUN.to_owned(),
        outcome: "no pass: a usage limit".to_owned(),
        tail: "until 3 pm".to_owned(),
        review: Some(review),
        ..CheckResult::default()
    };
    vec![command(true), result]
}

/// Plays a loop: a line for each verdict, and the ledger.
fn played(contract: &Contract, story: Vec<Vec<CheckResult>>) -> (String, Ledger) {
    let (mut ledger, mut lines) = (Ledger::default(), String::new());
    for results in story {
        let judgement = match evaluate(contract, &ledger, done(), &mut || UnchangedFiles::Still(9))
        {
            Evaluation::RunChecks(pending) => pending.with(contract, &ledger, results, done()),
            Evaluation::Decided(judgement) => *judgement,
        };
        ledger = judgement.ledger;
        let line = match judgement.verdict {
            Verdict::Continue(missing) => {
                let names = missing.iter().map(|shortfall| match shortfall {
                    Shortfall::CheckFailed(result) => format!("failed: {}", result.run),
                    Shortfall::NotReviewed(result) => format!("no verdict: {}", result.outcome),
                    other => format!("{other:?}"),
                });
                names.collect::<Vec<_>>().join(", ") + "\n"
            }
            Verdict::Wait(_) => "wait\n".to_owned(),
            Verdict::End(reason) => [reason.name(), ": ", &reason.to_string(), "\n"].concat(),
        };
        lines.push_str(&line);
    }
    (lines, ledger)
}

#[test]
fn pass_completes_and_counts_apart() {
    let (lines, ledger) = played(&contract(), vec![judged(7, "nothing is logged"), judged(0, "")]);
    assert_eq!(lines, format!("failed: {RUN}\ncompleted: all the work is done\n"));
    assert_eq!((ledger.review_tokens, ledger.tokens), (2_000, 0));
    assert_eq!((ledger.review_cost, ledger.cost), (600_000, 0));
}

#[test]
fn three_equal_verdicts_end() {
    let story = vec![
        judged(7, "nothing is logged"),
        judged(8, "it is logged twice"),
        judged(7, "no line of a log"),
        judged(7, "a log is missing"),
        judged(7, "the log is not written"),
    ];
    let (lines, _) = played(&contract(), story);
    let failed = format!("failed: {RUN}\n");
    assert_eq!(
        lines,
        failed.repeat(4)
            + "blocked: the agent needs a person: decide between the review and the agent: 3 reviews in a row came to the same, not passed (1 of 2 met): FR-002 not met: the log is not written; login.rs:1; the agent's last words: FR-002 is met\n"
    );
}

#[test]
fn third_missing_verdict_asks_person() {
    let contract = contract();
    let story = vec![unjudged(), unjudged(), judged(7, "x"), unjudged(), unjudged(), unjudged()];
    let (lines, ledger) = played(&contract, story);
    let none = "no verdict: no pass: a usage limit\n";
    assert_eq!(
        lines,
        format!(
            "{none}{none}failed: {RUN}\n{none}{none}blocked: the agent needs a person: see why 3 reviews in a row came to no verdict, the last one: no pass: a usage limit: until 3 pm\n"
        )
    );
    assert_eq!((ledger.unjudged, ledger.same_failure, ledger.review_tokens), (3, 1, 1_050));
    // An idle agent is not ended while there is nothing to do.
    let idle = Observation { tool_calls: Some(0), ..done() };
    let mut ledger = Ledger { idle_stops: 2, unchanged: 9, ..Ledger::default() };
    ledger.fingerprint = Some(idle.fingerprint);
    let seen = Observation { checks: Some(unjudged()), ..idle };
    let judgement = decide(&contract, &ledger, &seen);
    assert!(matches!(judgement.verdict, Verdict::Continue(_)), "{:?}", judgement.verdict);
    assert_eq!((judgement.ledger.idle_stops, judgement.ledger.unchanged), (2, 9));
}

#[test]
fn v2_unjudged_reviews_end_no_row() {
    let story = vec![judged(7, "a"), unjudged(), judged(7, "b"), unjudged(), judged(7, "c")];
    let (lines, _) = played(&contract(), story);
    let counted = "decide between the review and the agent: 3 reviews in a row came to the same";
    assert!(lines.lines().last().is_some_and(|end| end.contains(counted)), "{lines}");
    // Other verdicts in between are a new row, of both kinds.
    let story = vec![judged(7, "a"), unjudged(), judged(8, "b"), unjudged(), judged(7, "c")];
    let (lines, _) = played(&contract(), story);
    assert!(!lines.contains("blocked"), "{lines}");
}

#[test]
fn waiting_loop_pays_no_review() {
    let contract = contract();
    let ledger = Ledger::default();
    let waiting = vec![Waiting::Background("agent".to_owned())];
    let seen = Observation { waiting, ..done() };
    let look = &mut || UnchangedFiles::Still(9);
    let Evaluation::RunChecks(pending) = evaluate(&contract, &ledger, seen.clone(), look) else {
        panic!("the commands run");
    };
    assert_eq!((pending.commands().len(), pending.review()), (1, None));
    let judged = pending.with(&contract, &ledger, vec![command(true)], seen);
    assert!(matches!(judged.verdict, Verdict::Wait(_)), "{:?}", judged.verdict);
    // Without the result of the review nothing is complete.
    let Evaluation::RunChecks(pending) = evaluate(&contract, &ledger, done(), look) else {
        panic!("the commands run");
    };
    assert_eq!(pending.review().map(|review| review.run.as_str()), Some(RUN));
    let judged = pending.clone().with(&contract, &ledger, vec![command(true)], done());
    assert_eq!(judged.verdict, Verdict::Continue(vec![Shortfall::ChecksNotRun]));
    let judged = pending.with(&contract, &ledger, vec![command(false)], done());
    assert!(
        matches!(&judged.verdict, Verdict::Continue(all) if all.len() == 1 && is_failed(&all[0]))
    );
}

#[test]
fn review_tokens_count_once() {
    let guardrails = Guardrails { max_tokens: Some(1_500), ..Guardrails::default() };
    let contract = Contract { guardrails, ..contract() };
    let (lines, ledger) = played(&contract, vec![judged(7, "a"), judged(8, "b")]);
    assert_eq!(
        lines,
        format!("failed: {RUN}\nbudget: 2,000 tokens are used, and 1,500 are allowed\n")
    );
    // Results of an earlier run are not paid for again.
    let Evaluation::RunChecks(pending) =
        evaluate(&contract, &Ledger::default(), done(), &mut || UnchangedFiles::Still(9))
    else {
        panic!("the commands run");
    };
    let again = pending.with_earlier(&contract, &Ledger::default(), judged(7, "a"));
    assert_eq!((again.ledger.review_tokens, again.ledger.review_cost), (0, 0));
    assert_eq!(ledger.all_tokens(), 2_000);
}

#[test]
fn review_usage_counts_in_pause() {
    let Evaluation::RunChecks(pending) =
        evaluate(&contract(), &Ledger::default(), done(), &mut || UnchangedFiles::Still(9))
    else {
        panic!("the commands run");
    };
    let now = Observation { waiting: vec![Waiting::Paused(String::new())], ..done() };
    let judgement = pending.with(&contract(), &Ledger::default(), judged(7, "a"), now);
    assert!(matches!(judgement.verdict, Verdict::Wait(_)), "{:?}", judgement.verdict);
    let ledger = judgement.ledger;
    assert_eq!((ledger.review_tokens, ledger.review_cost, ledger.iterations), (1_000, 300_000, 0));
}

#[test]
fn review_money_counts() {
    let limited = |limit| Contract {
        guardrails: Guardrails { max_cost: Some(limit), ..Guardrails::default() },
        ..contract()
    };
    let story = || vec![judged(7, "a"), judged(8, "b")];
    let (lines, ledger) = played(&limited(600_000), story());
    assert!(lines.ends_with("budget: $0.6000 are used, and $0.6000 are allowed\n"), "{lines}");
    assert_eq!(ledger.all_cost(), 600_000);
    let (lines, _) = played(&limited(600_001), story());
    assert!(!lines.contains("budget"), "{lines}");
}

#[test]
fn review_numbers_are_unmistakable() {
    let result = ReviewResult {
        judged: true,
        met: 4,
        verdicts: u64::MAX,
        tokens: 5,
        cost: 6,
        estimated: true,
    };
    let line = serde_json::to_string(&result).unwrap();
    assert_eq!(serde_json::from_str::<ReviewResult>(&line).unwrap(), result);
    for wrong in [
        "",
        "1",
        "judged",
        "{\"judged\":1}",
        "error: {\"judged\":true}",
        "{\"judged\":true} {\"met\":9}",
        "{\"judged\":true,\"met\":-1}",
    ] {
        assert!(serde_json::from_str::<ReviewResult>(wrong).is_err(), "{wrong}");
    }
    for model in ["opus", "anthropic/claude-sonnet", "gpt-5-codex"] {
        assert!(Check::is_model(model), "{model}");
    }
    for wrong in ["", "--yolo", "a b", "a\tb", "modèle", "a\u{202e}"] {
        assert!(!Check::is_model(wrong), "{wrong}");
    }
}

fn marks() -> Vec<String> {
    vec!["11".to_owned()]
}

/// One phase is finished and another one is open.
fn in_between() -> Observation {
    Observation {
        work: Work::List { done: 1, open: 1 },
        finished: Some(FinishedPart { tasks: vec!["T001".to_owned()], marks: marks() }),
        ..done()
    }
}

/// The judgement on a finished part after this review.
fn of_part(contract: &Contract, ledger: &Ledger, result: CheckResult) -> (Vec<Shortfall>, Ledger) {
    let pending = match evaluate(contract, ledger, in_between(), &mut || UnchangedFiles::Still(9)) {
        Evaluation::RunChecks(pending) => pending,
        Evaluation::Decided(judgement) => panic!("{judgement:?}"),
    };
    // The commands wait for the end.
    assert_eq!(pending.commands(), []);
    assert_eq!(pending.review().map(|review| review.run.as_str()), Some(RUN));
    assert_eq!(pending.finished().map(|part| part.tasks.join(" ")).as_deref(), Some("T001"));
    let judgement = pending.with(contract, ledger, vec![result], in_between());
    match judgement.verdict {
        Verdict::Continue(missing) => (missing, judgement.ledger),
        verdict => panic!("{verdict:?}"),
    }
}

#[test]
fn finished_part_is_reviewed_first() {
    let contract = contract();
    let failed = judged(7, "x").remove(1);
    let (missing, ledger) = of_part(&contract, &Ledger::default(), failed.clone());
    assert_eq!(missing, [Shortfall::OpenTasks, Shortfall::CheckFailed(failed.clone())]);
    assert_eq!((ledger.reviewed.len(), ledger.review_tokens), (0, 1_000));
    let (missing, ledger) = of_part(&contract, &ledger, unjudged().remove(1));
    assert!(
        matches!(missing[..], [Shortfall::OpenTasks, Shortfall::NotReviewed(_)]),
        "{missing:?}"
    );
    assert!(ledger.reviewed.is_empty());
    let (missing, ledger) = of_part(&contract, &ledger, judged(0, "").remove(1));
    assert_eq!((missing, &ledger.reviewed[..]), (vec![Shortfall::OpenTasks], &marks()[..]));
}

#[test]
fn three_equal_part_verdicts_ask() {
    let contract = contract();
    let (_, ledger) = of_part(&contract, &Ledger::default(), judged(7, "a").remove(1));
    let (_, ledger) = of_part(&contract, &ledger, judged(7, "b").remove(1));
    let Evaluation::RunChecks(pending) =
        evaluate(&contract, &ledger, in_between(), &mut || UnchangedFiles::Still(9))
    else {
        panic!("no review");
    };
    let end = pending.with(&contract, &ledger, vec![judged(7, "c").remove(1)], in_between());
    assert!(matches!(end.verdict, Verdict::End(TerminalReason::Blocked { .. })), "{end:?}");
}

#[test]
fn part_review_completes_nothing() {
    let review = Check::review("codex", "", 0, 900);
    let contract = Contract { checks: vec![review], ..Contract::default() };
    let Evaluation::RunChecks(pending) =
        evaluate(&contract, &Ledger::default(), in_between(), &mut || UnchangedFiles::Still(9))
    else {
        panic!("no review");
    };
    // Somebody ticked the rest meanwhile.
    let judged = pending.with(&contract, &Ledger::default(), vec![judged(0, "").remove(1)], done());
    assert_eq!(judged.verdict, Verdict::Continue(vec![Shortfall::ChecksNotRun]));
    assert_eq!(judged.ledger.reviewed, marks());
}

#[test]
fn waiting_loop_reviews_no_part() {
    let contract = contract();
    let waiting = Observation { waiting: vec![Waiting::Approval], ..in_between() };
    let failed = Observation { failed: Some("it crashed".to_owned()), ..in_between() };
    let demand = Observation { demand: Some(Demand::Cancelled), ..in_between() };
    for seen in [waiting, failed, demand] {
        let evaluation =
            evaluate(&contract, &Ledger::default(), seen, &mut || UnchangedFiles::Still(0));
        assert!(matches!(evaluation, Evaluation::Decided(_)), "{evaluation:?}");
    }
    let over = Observation { reported_iteration: 100, ..in_between() };
    let Evaluation::RunChecks(end) =
        evaluate(&contract, &Ledger::default(), over, &mut || UnchangedFiles::Still(0))
    else {
        panic!("its commands do not run at the end");
    };
    assert_eq!((end.commands().len(), end.review(), end.finished()), (1, None, None));
    let contract = Contract { checks: contract.checks[..1].to_vec(), ..contract };
    let evaluation =
        evaluate(&contract, &Ledger::default(), in_between(), &mut || UnchangedFiles::Still(0));
    assert!(matches!(evaluation, Evaluation::Decided(_)), "{evaluation:?}");
}

#[test]
fn review_words_say_when() {
    let review = Check::review("codex", "o3", 5, 900);
    for when in ReviewWhen::ALL {
        let made = review.clone().made(when);
        assert_eq!((made.when(), made.review_words()), (when, review.run.as_str()));
        assert_eq!(made.made(ReviewWhen::End), review);
    }
    assert!(review.clone().made(ReviewWhen::Phases).run.ends_with(" --when phases"));
    assert_eq!((review.reader(), Check::default().reader()), ("codex", ""));
    let command = Check { run: "make test --when phases".to_owned(), ..Check::default() };
    assert_eq!(command.when(), ReviewWhen::End);
}
