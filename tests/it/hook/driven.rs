//! Sessions that `spool ralph` has started: their runner decides, and the hook stays out of it. The runner
//! itself is in `tests/it/runner/distrust.rs`.

use crate::hook::support::Bench;
use crate::support::limited::Ended;
use ralph_speckit::world::RUNNER;
use std::process::{self, Command};

#[test]
fn s5_variable_alone_keeps_the_hook() {
    let mut gone = Command::new("true").spawn().unwrap();
    gone.ended();
    // The first process of the system, a process that has started the hook and is no runner, and none.
    let living = process::id().to_string();
    for runner in ["1", &living, &gone.id().to_string(), "0", "-1", "nonsense"] {
        if !cfg!(target_os = "linux") && runner == living {
            continue;
        }
        let bench = Bench::in_execution();
        let answer = bench.stop("s1").variable(RUNNER, runner).run();
        assert!(answer.is_block(), "{runner}: {answer:#?}");
        let words = format!("RALPH_RUNNER={runner} is in the environment, and no such runner");
        assert!(answer.log.iter().any(|line| line.contains(&words)), "{runner}: {answer:#?}");
    }
}
