//! Sessions that `spool ralph` has started: their runner decides, and the hook stays out of it.

use crate::support::Bench;
use ralph_speckit::world::RUNNER;
use std::process::{self, Command};

#[test]
fn a_runners_session_takes_no_loop_that_waits_for_somebody() {
    let bench = Bench::in_execution();
    let before = bench.everything();
    let runner = process::id().to_string();
    for event in [bench.stop("s1"), bench.command("s1", "speckit:implement", "")] {
        let answer = event.variable(RUNNER, &runner).run();
        assert_eq!(answer.answer, None, "{answer:#?}");
    }
    assert_eq!(bench.everything(), before);
    // The loop is still there for a person's session.
    assert!(bench.stop("s2").run().is_block());
}

#[test]
fn a_runner_that_is_gone_has_no_say_any_more() {
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    for runner in [gone.id().to_string(), "0".to_owned(), "-1".to_owned(), "nonsense".to_owned()] {
        let bench = Bench::in_execution();
        let answer = bench.stop("s1").variable(RUNNER, &runner).run();
        assert!(answer.is_block(), "{runner}: {answer:#?}");
    }
}
