use super::*;
use crate::engine::{
    Check, CheckResult, Evaluation, Fingerprint, Guardrails, Ledger, ReviewResult, TerminalReason,
    UnchangedFiles, Verdict, Waiting, evaluate,
};

const COMMAND: &str = "speckit-converge";

/// One stop: the number of open tasks, the hash of the list, and whether the command has run.
#[derive(Clone, Copy)]
struct Stop(usize, u64, bool);

fn contract() -> Contract {
    let command = Check { run: "make test".to_owned(), limit_seconds: 1, ..Check::default() };
    let checks = vec![command, Check::review("codex", "", 0, 900)];
    Contract { checks, converge: COMMAND.to_owned(), ..Contract::default() }
}

fn seen(Stop(open, list, ran): Stop) -> Observation {
    Observation {
        work: Work::List { done: 3, open },
        tool_calls: Some(1),
        list,
        converge_ran: ran,
        files: UnchangedFiles::NotLooked,
        fingerprint: Fingerprint { work: list, ..Fingerprint::default() },
        ..Observation::default()
    }
}

/// The results of these checks; all pass, or the commands fail.
fn results(checks: &[&Check], passed: bool) -> Vec<CheckResult> {
    let judged = ReviewResult { judged: true, ..ReviewResult::default() };
    let result = |check: &&Check| CheckResult {
        run: check.run.clone(),
        passed: passed || check.is_review(),
        review: check.is_review().then_some(judged),
        ..CheckResult::default()
    };
    checks.iter().map(result).collect()
}

/// Judges one stop: what ran, and the judgement.
fn judged(contract: &Contract, ledger: &mut Ledger, seen: Observation, passed: bool) -> String {
    let mut ran = String::new();
    let look = &mut || UnchangedFiles::Still(u32::MAX);
    let judgement = match evaluate(contract, ledger, seen.clone(), look) {
        Evaluation::Decided(judgement) => *judgement,
        Evaluation::RunChecks(pending) => {
            let mut all: Vec<_> = pending.commands().iter().collect();
            all.extend(pending.review().filter(|_| passed));
            ran = all.iter().map(|check| [&check.run, " · "].concat()).collect();
            let results = results(&all, passed);
            pending.with(contract, ledger, results, seen)
        }
    };
    *ledger = judgement.ledger;
    ran + &match judgement.verdict {
        Verdict::Continue(missing) => missing
            .iter()
            .map(|shortfall| match shortfall {
                Shortfall::CheckFailed(result) => ["failed: ", &result.run].concat(),
                other => format!("{other:?}"),
            })
            .collect::<Vec<_>>()
            .join(", "),
        Verdict::Wait(_) => "wait".to_owned(),
        Verdict::End(reason) => reason.name().to_owned(),
    }
}

/// Plays a loop in which every check passes: a line for each stop, and the ledger.
fn played(contract: &Contract, story: &[Stop]) -> (Vec<String>, Ledger) {
    let mut ledger = Ledger::default();
    let lines = story.iter().map(|stop| judged(contract, &mut ledger, seen(*stop), true)).collect();
    (lines, ledger)
}

const DUE: &str = "make test · ConvergeDue(\"speckit-converge\")";
const WHOLE: &str = "make test · spool review --harness codex · completed";

#[test]
fn unchanged_list_passes_to_review() {
    let (lines, ledger) = played(&contract(), &[Stop(0, 7, false), Stop(0, 7, true)]);
    assert_eq!(lines, [DUE, WHOLE]);
    assert_eq!(ledger.converging, Converging { rounds: 1, asked: None, passed: true });
}

#[test]
fn second_converge_round_is_last() {
    let story = [
        Stop(0, 7, false),
        Stop(2, 8, true),
        Stop(0, 9, false),
        Stop(1, 10, true),
        Stop(0, 11, false),
    ];
    let (lines, ledger) = played(&contract(), &story);
    assert_eq!(lines, [DUE, "OpenTasks", DUE, "OpenTasks", WHOLE]);
    assert_eq!(ledger.converging, Converging { rounds: 2, asked: None, passed: false });
}

#[test]
fn added_and_done_is_no_pass() {
    let (lines, _) = played(&contract(), &[Stop(0, 7, false), Stop(0, 9, true)]);
    assert_eq!(lines, [DUE, DUE]);
}

#[test]
fn unasked_run_counts_for_nothing() {
    let before = [Stop(2, 6, true), Stop(0, 7, true), Stop(1, 8, false), Stop(0, 9, true)];
    let (lines, ledger) = played(&contract(), &before);
    assert_eq!(lines, ["OpenTasks", DUE, "OpenTasks", DUE]);
    assert_eq!(ledger.converging, Converging { rounds: 0, asked: Some(9), passed: false });
}

#[test]
fn passing_commands_ask_for_converge() {
    let (contract, mut ledger) = (contract(), Ledger::default());
    let line = judged(&contract, &mut ledger, seen(Stop(0, 7, false)), false);
    assert_eq!(
        (line.as_str(), ledger.converging),
        ("make test · failed: make test", Converging::default())
    );
    let bare = Contract { checks: Vec::new(), ..contract.clone() };
    let (lines, _) = played(&bare, &[Stop(0, 7, false), Stop(0, 7, true)]);
    assert_eq!(lines, ["ConvergeDue(\"speckit-converge\")", "completed"]);
    let reviewed = Contract { checks: contract.checks[1..].to_vec(), ..contract };
    let (lines, _) = played(&reviewed, &[Stop(0, 7, false), Stop(0, 7, true)]);
    assert_eq!(
        lines,
        ["ConvergeDue(\"speckit-converge\")", "spool review --harness codex · completed"]
    );
}

#[test]
fn unset_converge_asks_nothing() {
    let none = Contract { converge: String::new(), ..contract() };
    assert_eq!(played(&none, &[Stop(0, 7, false)]).0, [WHOLE]);
    let counted = Observation {
        work: Work::Counter { index: 3, total: 3 },
        list: 0,
        ..seen(Stop(0, 7, false))
    };
    assert_eq!(judged(&contract(), &mut Ledger::default(), counted, true), WHOLE);
}

#[test]
fn wait_keeps_the_question() {
    let (contract, mut ledger) = (contract(), Ledger::default());
    assert_eq!(judged(&contract, &mut ledger, seen(Stop(0, 7, false)), true), DUE);
    let waiting = vec![Waiting::Background("an agent".to_owned())];
    let waits = Observation { waiting, ..seen(Stop(1, 7, true)) };
    assert_eq!(judged(&contract, &mut ledger, waits, true), "wait");
    assert_eq!(ledger.converging, Converging { rounds: 0, asked: Some(7), passed: false });
}

#[test]
fn unrun_converge_holds_like_checks() {
    let idle = |_| Observation { tool_calls: Some(0), ..seen(Stop(0, 7, false)) };
    let busy = |_| seen(Stop(0, 7, false));
    let rails = Guardrails { max_iterations: Some(40), ..Guardrails::default() };
    let bare = Contract { checks: Vec::new(), guardrails: rails, ..contract() };
    for (stop, most) in [(&idle as &dyn Fn(u32) -> Observation, 4), (&busy, 12)] {
        let mut ledger = Ledger::default();
        let lines: Vec<_> = (0..40)
            .map_while(|number| {
                let live = ledger.is_live();
                live.then(|| judged(&bare, &mut ledger, stop(number), true))
            })
            .collect();
        assert_eq!(lines.last().map(String::as_str), Some("no_progress"), "{lines:?}");
        assert!(lines.len() <= most, "{lines:?}");
        assert!(matches!(ledger.ended, Some(TerminalReason::NoProgress { .. })));
    }
}
