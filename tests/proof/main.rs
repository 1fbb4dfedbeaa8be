//! The benchmark of planted cases: what an agent ticks without doing it, and what it does honestly in unusual ways.
//!
//! Each kind is a function that makes a case for a layout: a project of another language, list style, line end, with or without
//! git. No case has a model: an agent is a shell script for each turn. `stage` plays it before both drivers, the real
//! `ralph-hook` with the events of a session that a person armed, and `spool ralph --harness-command`. The boxes are ticked by
//! hand, by `spool task done`, or by hand where that refuses.
//!
//! - `phantoms`: the loop may not end as `completed` with such a task counted as proved by files, a command or a review.
//! - `honest`: the loop must end as `completed`; what is refused at first and goes through with one more word is counted.
//!
//! ```text
//! scripts/cargo test --features slow-tests --test proof -- --nocapture  # both tables, of two cases of each kind at most
//! RALPH_TEST_THOROUGH=1 …                                               # of all cases, as docs/proof.md has them
//! PROOF_ONLY="renamed file" …                                           # of those with this in their name, and all that was said
//! ```

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]
#![allow(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "a script is made of pieces, once"
)]
#![cfg(all(unix, feature = "cli"))]

#[path = "../it/support/amounts.rs"]
mod amounts;
mod by_fault;
mod case;
mod disguised;
mod honest;
mod layout;
#[path = "../it/support/limited.rs"]
mod limited;
mod named_oddly;
mod phantoms;
#[path = "../it/support/scratch.rs"]
mod scratch;
mod stage;
mod table;

use std::collections::BTreeSet;

use amounts::few_or_all;
use case::Case;
use layout::Layout;
use stage::{Driver, Seen, play};
use table::{Row, Table};

/// How strong a proof must be to count as one, by its name in a receipt.
const PROVED: [&str; 3] = ["files", "command", "review"];

#[test]
fn no_phantom_passes_as_proved() {
    let mut table = Table::new(["refused", "a doubt", "passed"]);
    for (case, seen) in all_played(&[phantoms::KINDS, disguised::KINDS, by_fault::PHANTOMS]) {
        let passed: Vec<&str> =
            case.suspects.iter().filter(|id| is_proved(&seen, id)).map(|id| &**id).collect();
        let column = match (seen.is_completed(), passed.is_empty()) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        };
        let is_wrong = !seen.began || column == 2 || (column == 1 && case.must_stay_open);
        table.add(Row { case, column, is_wrong, seen });
    }
    println!("{table}");
    table.hold(few_or_all(60, 200), 30);
}

#[test]
fn no_honest_task_is_refused_for_ever() {
    let mut table = Table::new(["at once", "second word", "refused"]);
    for (case, seen) in all_played(&[honest::KINDS, named_oddly::KINDS, by_fault::HONEST]) {
        let unseen: Vec<_> =
            case.suspects.iter().filter(|id| !seen.proofs.contains_key(**id)).collect();
        let is_good = seen.is_completed() && unseen.is_empty();
        let column = match (is_good, seen.second_word) {
            (true, false) => 0,
            (true, true) => 1,
            (false, _) => 2,
        };
        table.add(Row { case, column, is_wrong: column == 2, seen });
    }
    println!("{table}");
    let second = table.count(1);
    assert!(second <= 2, "{second} honest tasks needed a second word\n{}", table.of_column(1));
    table.hold(few_or_all(60, 200), 30);
}

fn is_proved(seen: &Seen, id: &str) -> bool {
    seen.proofs.get(id).is_some_and(|proof| PROVED.contains(&proof.as_str()))
}

/// All cases of these kinds, played before one driver each; the next layout of a kind has the other driver and another way.
fn all_played(kinds: &[&[case::Kind]]) -> Vec<(Case, Seen)> {
    let only = ralph_speckit::world::variable(table::ONLY);
    let layouts = layout::all();
    let mut cases = Vec::new();
    for (number, kind) in kinds.iter().copied().flatten().enumerate() {
        let fitting: Vec<&Layout> = layouts.iter().filter(|it| (kind.fits)(it)).collect();
        for turn in 0..few_or_all(kind.cases.min(2), kind.cases) {
            let layout = fitting[(number + turn) % fitting.len()];
            let way = kind.ways[(turn / 2 + number) % kind.ways.len()];
            let driver = if (turn + number) % 2 == 0 { Driver::Session } else { Driver::Runner };
            let mut case = (kind.make)(layout, turn);
            case.name = format!("{}, {}, {way:?}, {driver:?}", kind.name, layout.name);
            case.kind = kind.name;
            case.way = way;
            cases.push((case, driver));
        }
    }
    let names: BTreeSet<String> = cases.iter().map(|(case, _)| case.name.clone()).collect();
    assert_eq!(names.len(), cases.len(), "two cases are the same");
    cases.retain(|(case, _)| only.as_ref().is_none_or(|only| case.name.contains(only.as_str())));
    in_parallel(cases, |(case, driver)| {
        let seen = play(&case, driver);
        (case, seen)
    })
}

/// Does it for all of them, on as many threads as there are processors, and keeps the order.
fn in_parallel<T: Send, R: Send>(all: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    use std::sync::Mutex;
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    let (open, done) = (Mutex::new(all.into_iter().enumerate()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some((number, one)) = open.lock().unwrap().next() else { return };
                    let result = work(one);
                    done.lock().unwrap().push((number, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}
