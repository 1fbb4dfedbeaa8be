//! Spec 000 (the stop hook's runtime): the scenarios that fit a runner, by their names.
//!
//! A `final` action is here the end of an agent's run. That nothing happens outside of Ralph mode has no
//! counterpart: a runner that was not started is not there.

use crate::runner::support::{Bench, PROMISE, says};
use crate::support::has::Has;

#[test]
fn scenario_final_action_is_intercepted_when_completion_checks_fail() {
    let bench = Bench::new();
    bench.agent(&format!("if [ $n = 2 ]; then echo 1 > good; fi\n{}", says(PROMISE)));
    bench.ralph("").arg("--check").arg("test -f good").run().with_code(0);
    let list = bench.iterations();
    assert_eq!(list.len(), 2, "{list:#?}");
    assert_eq!(list[0]["verdict"], "continue");
    assert_eq!(list[0]["promise"], "refused");
    assert_eq!(list[1]["promise"], "accepted");
}

#[test]
fn scenario_completion_succeeds_only_after_all_required_checks_pass() {
    let bench = Bench::new();
    bench.agent(&format!("echo 1 > good-$n\n{}", says(PROMISE)));
    let call =
        bench.ralph("").arg("--check").arg("test -f good-1").arg("--check").arg("test -f good-3");
    call.run().with_code(0).says("ralph: done");
    let passed: Vec<Vec<bool>> = bench
        .iterations()
        .iter()
        .map(|entry| {
            let checks = entry["checks"].as_array().unwrap().iter();
            checks.map(|check| check["passed"].as_bool().unwrap()).collect()
        })
        .collect();
    assert_eq!(passed, [[true, false], [true, false], [true, true]]);
    assert_eq!(bench.state()["reason"], "completed");
}

#[test]
fn scenario_token_present_but_objective_checks_fail() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    let call = bench
        .ralph("--max-iterations 2")
        .arg("--check")
        .arg("echo 'two tests are RED' >&2; exit 7");
    let ran = call.run().with_code(3);
    ran.says("`echo 'two tests are RED' >&2; exit 7` failed: exit code 7");
    let next = bench.prompt(2);
    assert!(next.contains("two tests are RED") && next.contains("exit code 7"), "{next}");
    assert_eq!(bench.iterations()[1]["promise"], "refused");
}

#[test]
fn scenario_objective_checks_pass_without_token_requirement() {
    let bench = Bench::new();
    bench.agent("echo 1 > good-$n; echo 'I say nothing.'");
    bench.ralph("--done check").arg("--check").arg("test -f good-2").run().with_code(0);
    let list = bench.iterations();
    assert_eq!(list.len(), 2, "{list:#?}");
    assert_eq!(list[1]["promise"], "", "none is asked for");
    assert!(!bench.prompt(1).contains("<promise>"), "{}", bench.prompt(1));
}

#[test]
fn scenario_loop_stops_at_max_iterations() {
    let bench = Bench::new();
    bench.agent("echo $n > made.txt");
    bench.ralph("--max-iterations 3").run().with_code(3);
    assert_eq!(bench.runs(), 3);
    assert_eq!(bench.state()["reason"], "max_iters");
}

#[test]
fn scenario_loop_stops_on_no_progress_condition() {
    let bench = Bench::new();
    // It works, then it goes round in circles: the same words, the same files.
    bench.agent("if [ $n -lt 3 ]; then echo $n > made.txt; fi; echo 'I am on it.'");
    bench.ralph("--no-progress 3").run().with_code(5);
    assert_eq!(bench.runs(), 5, "two that work, three that do not");
    assert_eq!(bench.state()["reason"], "no_progress");
}

/// The settings that hold in the loops of sessions as well.
const SETTINGS: &str = ".claude/ralph-speckit.local.md";

#[test]
fn s3_the_checks_of_the_projects_settings_hold_in_the_runner_too() {
    let bench = Bench::new();
    bench.write(SETTINGS, "---\nchecks: [test -f good, {run: 'true', limit: 9}]\n---\n");
    bench.agent(&format!("[ $n -lt 2 ] || touch good\n{}", says(PROMISE)));
    let plan =
        bench.ralph("--dry-run --check true").arg("--check").arg("test 1").run().with_code(0);
    plan.says("Check: test -f good (within 300 s)").says("Check: true (within 9 s)");
    plan.says("Check: test 1 (within").says("2 checks of every loop here");
    let ran = bench.ralph("--max-iterations 3").run().with_code(0);
    ran.says("Checks, from the settings, run when the work is said to be done:");
    ran.says("  test -f good (within 300 s)").says("  true (within 9 s)");
    assert_eq!(bench.runs(), 2);
    let ran = bench.ralph("--max-iterations 3 --restart --check true").arg("--check=test 1").run();
    ran.with_code(0).says("Checks, from the settings and the command line, run when");
    std::fs::remove_file(bench.root.join(SETTINGS)).unwrap();
    let ran = bench.ralph("--max-iterations 3 --restart --check true").run().with_code(0);
    ran.says("Checks, from the command line, run when the work is said to be done:");
}

#[test]
fn s3_settings_that_cannot_be_used_start_no_runner() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    bench.write(SETTINGS, "---\ncheck:\n  - test -f good\n---\n");
    let ran = bench.ralph("").run().with_code(2);
    assert!(ran.errors.contains("line 2: unknown key `check`"), "{ran:?}");
    assert!(ran.errors.contains("did you mean `checks`?"), "{ran:?}");
    assert_eq!(bench.runs(), 0);
}

#[test]
fn s2_checks_that_come_with_the_repository_are_named_and_not_run_without_trust() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    bench.write(SETTINGS, "---\nchecks:\n  - touch pwned\n---\n");
    bench.commit("the settings, too");
    let ran = bench.ralph("").run().with_code(2);
    ran.errors.has("  touch pwned").has("--trust-project");
    assert_eq!((bench.runs(), bench.root.join("pwned").exists()), (0, false));
    bench.ralph("--trust-project").run().with_code(0);
    assert!(bench.root.join("pwned").exists());
}
