//! Spec 000 (stop-hook runtime): each scenario by its title, for a ralph loop.

use crate::hook::support::Bench;
use crate::ralph::{PROMISE, armed, ralph, works_and_says};

#[test]
fn final_action_is_intercepted_when_completion_checks_fail() {
    let bench = armed("\"Make it\" --check 'test -f made'");
    let stop = works_and_says(&bench, "It is made.");
    assert!(stop.reason().contains("Check failed: `test -f made` (exit code 1)"), "{stop}");
    assert!(
        works_and_says(&bench, "Now?").reason().contains("iteration 2 of 50"),
        "a new iteration"
    );
}

#[test]
fn completion_succeeds_only_after_all_required_checks_pass() {
    let bench =
        armed("\"Make it\" --completion-promise DONE --check 'test -f one' --check 'test -f two'");
    bench.write("one", "");
    let stop = works_and_says(&bench, PROMISE);
    assert!(!stop.reason().contains("test -f one"), "{stop}");
    assert!(stop.reason().contains("Check failed: `test -f two`"), "{stop}");
    bench.write("two", "");
    assert!(works_and_says(&bench, PROMISE).told().contains("PROMISE_ACCEPTED"));
    assert_eq!(bench.verdicts("s1"), ["continue", "end completed"]);
}

#[test]
fn token_present_but_objective_checks_fail() {
    let bench =
        armed("\"Make it\" --completion-promise DONE --check 'echo one is missing; exit 3'");
    let stop = works_and_says(&bench, PROMISE);
    let words = "Check failed: `echo one is missing; exit 3` (exit code 3)\nThe end of its output:\n| one is missing\n";
    assert!(stop.reason().contains(words), "{stop}");
    assert!(!stop.reason().contains("did not output"), "{stop}");
    let entry = bench.journal("s1").pop().unwrap();
    assert_eq!(entry["promise"], "refused");
    assert!(entry["words"].as_str().unwrap().starts_with("check failed: `echo one"), "{entry}");
}

#[test]
fn objective_checks_pass_without_token_requirement() {
    let bench = armed("\"Make it\" --check true");
    let stop = bench.stop("s1").saying("It is made.").run();
    assert_eq!(stop.told(), "Ralph-speckit: done: Make it · every check passed · 1 iteration");
    assert_eq!(bench.verdicts("s1"), ["end completed"]);
    // No promise was made, so nothing is said of the work behind it.
    assert_eq!(bench.journal("s1").last().unwrap()["words"], "all the work is done");
}

#[test]
fn loop_stops_at_max_iterations() {
    let bench = armed("\"Make it\" --max-iterations 2 --check false");
    works_and_says(&bench, "one").reason();
    assert!(works_and_says(&bench, "two").told().contains("(max_iters"));
    assert_eq!(bench.verdicts("s1"), ["continue", "end max_iters"]);
}

#[test]
fn loop_stops_on_no_progress_condition() {
    let bench = armed("\"Make it\" --no-progress 4");
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
    assert!(last.told().contains("4 iterations in a row changed nothing"), "{last}");
    assert_eq!(stops, 4);
}

#[test]
fn request_does_not_enable_ralph_mode() {
    for bench in [Bench::folder(), Bench::project(), Bench::ready()] {
        let before = bench.everything();
        for words in [PROMISE, "I am done"] {
            let stop = bench.stop("s1").saying(words).run();
            assert!(stop.silent().log.is_empty(), "{stop}");
        }
        assert_eq!(bench.everything(), before, "nothing is written");
    }
}

#[test]
fn request_enables_ralph_mode() {
    let bench = Bench::folder();
    bench.stop("s1").run().silent();
    ralph(&bench, "s1", "\"Make it\" --max-iterations 2").context();
    works_and_says(&bench, "one").reason();
    assert!(works_and_says(&bench, "two").told().contains("(max_iters"));
}
