//! Many hooks at once on one project: every answer is valid, every count exact.

use crate::hook::outcome::Outcome;
use crate::hook::support::{Bench, THREE_TASKS};
use std::collections::BTreeMap;

const SESSIONS: usize = 10;
const HOOKS: usize = 60;

/// Starts the hooks one after the other without waiting, session by session in turn, then collects.
fn all_at_once(bench: &Bench) -> BTreeMap<String, Vec<Outcome>> {
    let started: Vec<_> = (0..HOOKS)
        .map(|hook| {
            let session = format!("s{}", hook % SESSIONS);
            let running = bench.stop(&session).start();
            (session, running)
        })
        .collect();
    let mut answers: BTreeMap<String, Vec<Outcome>> = BTreeMap::new();
    for (session, running) in started {
        answers.entry(session).or_default().push(running.finish());
    }
    answers
}

/// The record and the journal of a session agree with what was answered.
fn is_exact(bench: &Bench, session: &str, answers: &[Outcome]) {
    let blocks = answers.iter().filter(|answer| answer.is_block()).count();
    let told =
        answers.iter().filter(|answer| answer.message().contains("Ralph-speckit: ended (")).count();
    let silent = answers.iter().filter(|answer| answer.answer.is_none()).count();
    assert_eq!((blocks, told, silent), (2, 1, answers.len() - 3), "{session}: {answers:#?}");
    assert_eq!(bench.verdicts(session), ["continue", "continue", "end no_progress"], "{session}");
    let ledger = bench.record(session).ledger;
    assert_eq!((ledger.iterations, ledger.continued, ledger.idle_stops), (3, 2, 3), "{session}");
    let mut counts: Vec<_> = answers
        .iter()
        .filter(|answer| answer.is_block())
        .map(|answer| answer.reason().lines().next().unwrap().to_owned())
        .collect();
    counts.sort();
    assert!(counts[0].ends_with("Iter 1)") && counts[1].ends_with("Iter 2)"), "{counts:?}");
}

#[test]
fn sixty_hooks_of_ten_features() {
    let mut bench = Bench::project();
    for number in 0..SESSIONS {
        let name = format!("{number:03}-feature");
        bench = bench.feature(&name).tasks(THREE_TASKS);
        bench.implement(&format!("s{number}"), &name).context();
    }
    for (session, answers) in all_at_once(&bench) {
        is_exact(&bench, &session, &answers);
    }
}

#[test]
fn sixty_hooks_at_one_unarmed_feature() {
    let bench = Bench::in_execution();
    let answers = all_at_once(&bench);
    assert_eq!(bench.loops().sessions().len(), 1, "one session has taken it");
    let owner = bench.loops().sessions().remove(0);
    for (session, answers) in answers {
        if session == owner {
            is_exact(&bench, &session, &answers);
        } else {
            assert!(
                answers.iter().all(|answer| answer.answer.is_none()),
                "{session}: {answers:#?}"
            );
        }
    }
    let claimed = bench.journal(&owner).into_iter().filter(|entry| entry["event"] == "claimed");
    assert_eq!(claimed.count(), 1);
}
