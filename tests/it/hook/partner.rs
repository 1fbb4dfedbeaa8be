//! What the environment may not do: start a program, change the exit code, or switch the hook off.

use crate::hook::support::Bench;

#[test]
fn s5_variable_starts_no_program() {
    let bench = Bench::in_execution();
    let made = bench.path("made");
    let command = format!("touch '{}'; exit 3", made.display());
    for name in ["RALPH_SUPERVISOR", "RALPH_RUNNER_SUPERVISOR"] {
        let outcome = bench.stop("s1").variable(name, &command).run();
        assert!(!made.exists(), "{name} ran a command");
        assert!(outcome.is_block(), "{name}: {outcome:#?}");
    }
}
