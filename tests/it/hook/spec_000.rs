//! Spec 000 (stop-hook runtime): each scenario by its title, for a speckit feature in the hook.
//!
//! The completion checks of a feature are its task list and the commands that a person has set; the
//! token is `ALL_TASKS_COMPLETE`.

use crate::hook::support::{ALL_DONE, Bench, FEATURE, executing};
use crate::support::has::Has;

const CLAIM: &str = "All is done.\n\nALL_TASKS_COMPLETE";

#[test]
fn final_action_is_intercepted_when_completion_checks_fail() {
    let bench = Bench::armed();
    let stop = bench.stop("s1").saying(CLAIM).run();
    assert!(stop.reason().contains("Iter 1)"), "{stop}");
    bench.transcript("s1").tool("Edit");
    let stop = bench.stop("s1").held().saying(CLAIM).run();
    assert!(stop.reason().contains("Iter 2)"), "a new iteration: {stop}");
}

#[test]
fn completion_succeeds_only_after_all_required_checks_pass() {
    let bench = Bench::armed();
    bench.tick("T002");
    bench.stop("s1").saying(CLAIM).run().reason();
    bench.tick("T003");
    bench.stop("s1").held().saying(CLAIM).run().silent();
    assert_eq!(bench.verdicts("s1"), ["continue", "end completed"]);
}

#[test]
fn completion_succeeds_only_after_the_commands_of_the_person_pass() {
    let bench = Bench::ready().settings("---\nchecks:\n  - test -e src/built\n---\n");
    bench.implement("s1", "");
    bench.stop("s1").saying(CLAIM).run().reason();
    bench.write_tasks(ALL_DONE);
    let stop = bench.stop("s1").held().saying(CLAIM).run();
    assert!(stop.reason().contains("Check failed: `test -e src/built` (exit code 1)"), "{stop}");
    bench.write("src/built", "");
    bench.stop("s1").held().saying(CLAIM).run().silent();
    assert_eq!(bench.verdicts("s1"), ["continue", "continue", "end completed"]);
}

#[test]
fn token_present_but_objective_checks_fail() {
    let bench = Bench::in_execution();
    let stop = bench.stop("s1").saying(CLAIM).run();
    let reason = stop.reason();
    assert!(reason.contains("You wrote ALL_TASKS_COMPLETE, but tasks are still open."), "{stop}");
    assert!(reason.contains("2 of 3: T002, T003"), "{stop}");
    let line = stop.message().lines().next().unwrap();
    assert_eq!(line, "Ralph-speckit: claimed done, but 2 of 3 are open · next T002", "{stop}");
    assert_eq!(bench.record("s1").ledger.refused_claims, 1);
}

#[test]
fn objective_checks_pass_without_token_requirement() {
    let bench = Bench::project().current_feature(FEATURE).tasks(ALL_DONE).state(&executing(0, 3));
    bench.stop("s1").saying("I ticked the last box.").run().silent();
    assert_eq!(bench.verdicts("s1"), ["end completed"]);
    assert_eq!(bench.read_state()["taskIndex"], 3, "the state is brought up to date");
}

#[test]
fn loop_stops_at_max_iterations() {
    let bench = Bench::ready();
    bench.implement("s1", "--max-iterations 2");
    bench.stop("s1").run().reason();
    bench.transcript("s1").tool("Edit");
    let stop = bench.stop("s1").held().run();
    stop.told().has("ended (max_iters): 001-login · the limit of 2 iterations was reached");
    assert_eq!(bench.verdicts("s1"), ["continue", "end max_iters"]);
}

#[test]
fn loop_stops_on_no_progress_condition() {
    let bench = Bench::armed();
    let mut stops = 0;
    let last = loop {
        bench.transcript("s1").tool("Bash").tool_result("error: no such file");
        let stop = bench.stop("s1").run();
        stops += 1;
        assert!(stops < 100, "it never ends: {stop}");
        if !stop.is_block() {
            break stop;
        }
    };
    assert!(last.told().contains("(no_progress)"), "{last}");
    assert!(last.told().contains("10 iterations in a row changed nothing"), "{last}");
    // The first look at the files is the one that the next ten are compared with.
    assert_eq!(stops, 11);
}

#[test]
fn request_does_not_enable_ralph_mode() {
    for bench in [
        Bench::folder(),
        Bench::project(),
        Bench::ready(),
        Bench::project().current_feature(FEATURE).file("src/ALL_TASKS_COMPLETE", ""),
    ] {
        let before = bench.everything();
        let stop = bench.stop("s1").saying(CLAIM).run();
        assert!(stop.silent().log.is_empty(), "{stop}");
        assert_eq!(bench.everything(), before, "nothing is written");
    }
}

#[test]
fn request_enables_ralph_mode() {
    let bench = Bench::ready();
    bench.stop("s1").run().silent();
    bench.implement("s1", "--max-iterations 2");
    bench.stop("s1").saying(CLAIM).run().reason();
    assert!(bench.stop("s1").run().told().contains("(max_iters)"));
}
