//! A night of `spool ralph`: four hundred runs of an agent program with all that goes wrong in a night, and every figure that
//! is shown in the morning held against the books of the agent itself.
//!
//! `plan` says what happens in which run, `agent` is the scripted agent (this program again, started by a stand-in of `claude`),
//! `books` are what it writes down about itself, `place` is the project, and `figures` and `summary` compare.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]
#![allow(clippy::format_push_string, reason = "a file is made of pieces, once")]
#![cfg(all(target_os = "linux", feature = "cli"))]

mod agent;
mod books;
mod container;
mod figures;
#[path = "../it/support/hearing.rs"]
mod hearing;
#[path = "../it/support/left_out.rs"]
mod left_out;
#[path = "../it/support/limited.rs"]
mod limited;
mod person;
mod place;
mod plan;
#[allow(dead_code, reason = "the tests of the schemas need more of it")]
#[path = "../it/support/schema.rs"]
mod schema;
#[path = "../it/support/scratch.rs"]
mod scratch;
mod summary;

use agent::LIST;
use container::Container;
use figures::Figures;
use person::Person;
use place::{Place, Runner};
use plan::{CONTAINED, Happening, NIGHT};
use ralph_speckit::world;
use rustix::process::Signal;

#[test]
#[ignore = "the agent program of the plays"]
fn the_scripted_agent() {
    if let Some(desk) = world::folder(agent::DESK) {
        agent::play(&desk);
    }
}

#[test]
#[ignore = "nightly"]
fn night_of_four_hundred_runs_counts() {
    assert_eq!(NIGHT.count(Happening::is_killed), 60);
    let place = Place::new(NIGHT);
    let person = Person::at(&place);
    let mut figures = Figures::of(&place);
    for (run, happening) in NIGHT.ends() {
        let mut runner = place.start();
        if happening.waits() {
            place.wait_for_run(&mut runner, run);
            Runner::signal(runner.id(), Signal::KILL);
        }
        let ended = runner.end();
        assert_eq!(ended.code, None);
        place.assert_nobody_is_left();
        figures.take(ended);
    }
    let ended = place.start().end();
    assert_eq!(ended.code, Some(0), "{}\n{:#?}", ended.errors, ended.events.last());
    place.assert_nobody_is_left();
    figures.take(ended);
    let list = place.scratch.read(LIST);
    let gone: Vec<String> =
        person.leaves().into_iter().filter(|words| !list.contains(words)).collect();
    assert_eq!(gone, Vec::<String>::new(), "{list}");
    figures.hold();
    figures.hold_what_it_costs();
}

#[test]
fn container_is_stopped_and_killed() {
    let Some(container) = Container::around(CONTAINED) else { return };
    let mut figures = Figures::of(&container.place);
    for (run, happening) in CONTAINED.ends() {
        let mut runner = container.start();
        container.place.wait_for_run(&mut runner, run);
        let signal = if happening == Happening::Stopped { Signal::TERM } else { Signal::KILL };
        Container::signal(&runner, signal);
        let ended = runner.end();
        // What `unshare` says of a process 1 that was killed differs.
        let is_expected = |code| (code == Some(143)) == (happening == Happening::Stopped);
        assert!(is_expected(ended.code), "{:?} {}", ended.code, ended.errors);
        container.place.assert_nobody_is_left();
        figures.take(ended);
    }
    let ended = container.start().end();
    assert_eq!(ended.code, Some(0), "{}\n{:#?}", ended.errors, ended.events.last());
    container.place.assert_nobody_is_left();
    figures.take(ended);
    container.open();
    figures.hold();
}
