//! The benchmark of planted cases: what an agent ticks without doing it, and what it does honestly in unusual ways.
//!
//! Each kind is a `Plan`, which is data, or a function, and makes cases for layouts: projects of other languages, list styles,
//! line ends, with or without git. No case has a model: an agent is a shell script for each turn. `stage` plays each case before one
//! of the two drivers: the real `ralph-hook` with the events of a session that a person armed, or `spool ralph --harness-command`.
//! The boxes are ticked by hand, by `spool task done`, or by hand where that refuses.
//!
//! - phantoms (`phantoms`, `disguised`, `by_fault`, `*_tricks`): the loop may not end as `completed` with such a task counted as
//!   proved by files, a command or a review.
//! - honest ones (`honest`, `named_oddly`, `by_fault`, `*_work`): the loop must end as `completed`; what is refused at first and
//!   goes through with one more word is counted.
//! - `undetected`: phantoms that do pass. When one of them is refused one day, it moves to the phantoms.
//!
//! ```text
//! scripts/cargo test --features slow-tests --test proof -- --nocapture  # the tables, of one case of each kind
//! RALPH_TEST_THOROUGH=1 …                                               # of all cases
//! PROOF_ONLY="renamed file|stub" …                                      # of those with one of these in their names, and all that was said
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
mod file_tricks;
mod file_work;
mod git_tricks;
mod git_work;
mod honest;
mod layout;
#[path = "../it/support/limited.rs"]
mod limited;
mod list_tricks;
mod list_work;
mod named_oddly;
mod phantoms;
mod plan;
#[path = "../it/support/scratch.rs"]
mod scratch;
mod stage;
mod table;
mod test_tricks;
mod test_work;
mod undetected;

use std::collections::BTreeSet;

use amounts::few_or_all;
use case::Case;
use layout::Layout;
use plan::Plan;
use stage::{Driver, Seen, play};
use table::{Row, Table};

/// How strong a proof must be to count as one, by its name in a receipt.
const PROVED: [&str; 3] = ["files", "command", "review"];

#[test]
fn no_phantom_passes_as_proved() {
    let mut table = Table::new(["refused", "a doubt", "passed"]);
    let plans = [git_tricks::PLANS, test_tricks::PLANS, file_tricks::PLANS, list_tricks::PLANS];
    let written = [phantoms::KINDS, disguised::KINDS, by_fault::PHANTOMS];
    for (case, seen) in all_played(&written, &plans) {
        let column = how_far(&case, &seen);
        let is_wrong = !seen.began
            || column == 2
            || (column == 1 && case.must_stay_open)
            || !seen.said.contains(&case.must_say);
        table.add(Row { case, column, is_wrong, seen });
    }
    println!("{table}");
    table.hold(few_or_all(150, 600), 150);
}

#[test]
fn no_honest_task_is_refused() {
    let mut table = Table::new(["at once", "second word", "refused"]);
    let plans = [git_work::PLANS, test_work::PLANS, file_work::PLANS, list_work::PLANS];
    let written = [honest::KINDS, named_oddly::KINDS, by_fault::HONEST];
    for (case, seen) in all_played(&written, &plans) {
        let unseen: Vec<_> =
            case.suspects.iter().filter(|id| !seen.proofs.contains_key(**id)).collect();
        let is_good = seen.is_completed() && unseen.is_empty();
        let column = match (is_good, seen.second_word) {
            (true, false) => 0,
            (true, true) => 1,
            (false, _) => 2,
        };
        let is_wrong = column == 2 || !seen.said.contains(&case.must_say);
        table.add(Row { case, column, is_wrong, seen });
    }
    println!("{table}");
    table.hold(few_or_all(100, 300), 100);
    let (second, all) = (table.count(1), table.count(0) + table.count(1));
    assert!(
        second * 100 <= all * few_or_all(6, 3) || table::is_of_some(),
        "{second} of {all} honest tasks needed a second word\n{}",
        table.of_column(1)
    );
}

#[test]
fn what_nobody_detects_is_counted() {
    let mut table = Table::new(["refused", "a doubt", "undetected"]);
    for (case, seen) in all_played(&[], &[undetected::PLANS]) {
        let column = how_far(&case, &seen);
        table.add(Row { case, column, is_wrong: column != 2, seen });
    }
    println!("{table}");
    table.hold(few_or_all(20, 30), 20);
}

/// Whether a phantom was refused, ended with a doubt, or as proved.
fn how_far(case: &Case, seen: &Seen) -> usize {
    let is_proved = |id: &&'static str| {
        seen.proofs.get(*id).is_some_and(|proof| PROVED.contains(&proof.as_str()))
    };
    match (seen.is_completed(), case.suspects.iter().any(is_proved)) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 2,
    }
}

type Make<'a> = Box<dyn Fn(&Layout, usize) -> Case + 'a>;

/// Some cases that are made alike, for layouts that differ.
struct Planted<'a> {
    name: &'static str,
    cases: usize,
    ways: &'static [case::Way],
    fits: fn(&Layout) -> bool,
    make: Make<'a>,
}

impl From<&case::Kind> for Planted<'_> {
    fn from(kind: &case::Kind) -> Self {
        let case::Kind { name, cases, ways, fits, make } = *kind;
        Self { name, cases, ways, fits, make: Box::new(make) }
    }
}

impl<'a> From<&'a Plan> for Planted<'a> {
    fn from(plan: &'a Plan) -> Self {
        let Plan { name, ways, fits, .. } = *plan;
        let make = Box::new(|layout: &Layout, number| plan.case(layout, number));
        Self { name, cases: plan.count(), ways, fits, make }
    }
}

/// All cases of these kinds, played before one driver each. The next case of a kind has another layout and the other driver, the one
/// after that has another way as well.
fn all_played(written: &[&[case::Kind]], plans: &[&[Plan]]) -> Vec<(Case, Seen)> {
    let only = ralph_speckit::world::variable(table::ONLY);
    let layouts = layout::all();
    let mut cases = Vec::new();
    let plans = plans.iter().copied().flatten().map(Planted::from);
    let kinds = written.iter().copied().flatten().map(Planted::from).chain(plans);
    for (number, kind) in kinds.enumerate() {
        let fitting: Vec<&Layout> = layouts.iter().filter(|layout| (kind.fits)(layout)).collect();
        for turn in 0..few_or_all(1, kind.cases) {
            let layout = fitting[(number + turn) % fitting.len()];
            let way = kind.ways[(turn / 2 + number) % kind.ways.len()];
            let driver = if (turn + number) % 2 == 0 { Driver::Session } else { Driver::Runner };
            let mut case = (kind.make)(layout, turn);
            case.name = format!("{}{}, {}, {way:?}, {driver:?}", kind.name, case.name, layout.name);
            case.kind = kind.name;
            case.way = way;
            cases.push((case, driver));
        }
    }
    let names: BTreeSet<String> = cases.iter().map(|(case, _)| case.name.clone()).collect();
    assert_eq!(names.len(), cases.len(), "two cases are the same");
    let is_meant = |name: &str| {
        only.as_ref().is_none_or(|only| only.split('|').any(|part| name.contains(part)))
    };
    cases.retain(|(case, _)| is_meant(&case.name));
    in_parallel(cases, |(case, driver)| {
        let seen = play(&case, driver);
        (case, seen)
    })
}

/// Does the work for all of them, on as many threads as there are processors, but two to eight, and keeps the order.
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
