//! Limits of time, and what each is called.

use std::time::Duration;

use ralph_speckit::runner::process::{Control, Cut, ProcessLimits};
use ralph_speckit::world::Deadline;

use super::support::{Scribe, no_limits, run, script};
use super::witness::{PATIENCE, Witness};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_time_limit_ends_an_agent_that_ignores_it_with_grandchildren_that_hold_the_pipe() {
    let limits = ProcessLimits { wall: Some(SECOND), grace: SECOND, ..no_limits() };
    // The promise is limit + grace + 1 s; a busy machine may miss it once, but not each time.
    let kept = (0..3).any(|_| {
        let witness = Witness::new();
        let promise = Deadline::after(SECOND * 3);
        let ended = run(&script(&witness.stubborn()), &limits, &mut Scribe::new()).unwrap();
        let kept = !promise.is_over();
        witness.wait_for_the_end(PATIENCE);
        assert_eq!((ended.cut, ended.left.signal), (Some(Cut::Wall), Some(9)), "{ended:?}");
        assert!(ended.left.cut && !ended.left.lingered, "{ended:?}");
        assert!(ended.survivors >= 2, "{ended:?}");
        kept
    });
    assert!(kept, "it took longer than limit + grace + 1 s, three times");
}

#[test]
fn an_agent_that_is_asked_may_still_say_something() {
    let limits = ProcessLimits { wall: Some(SECOND), ..no_limits() };
    let mut scribe = Scribe::new();
    let agent = script("trap 'echo last words; exit 0' TERM; while :; do sleep 0.1; done");
    let ended = run(&agent, &limits, &mut scribe).unwrap();
    assert_eq!((ended.cut, ended.left.code), (Some(Cut::Wall), Some(0)), "{ended:?}");
    assert_eq!(scribe.output(), ["last words"]);
}

#[test]
fn an_agent_that_ends_best_on_an_interrupt_is_interrupted() {
    let limits = ProcessLimits { wall: Some(SECOND), ..no_limits() };
    let mut scribe = Scribe::new();
    let mut agent =
        script("trap 'echo interrupted; exit 1' INT; trap '' TERM; while :; do sleep 0.1; done");
    agent.ending = ralph_speckit::runner::harness::Ending::Interrupt;
    let ended = run(&agent, &limits, &mut scribe).unwrap();
    assert_eq!((ended.cut, ended.left.code), (Some(Cut::Wall), Some(1)), "{ended:?}");
    assert_eq!(scribe.output(), ["interrupted"]);
}

#[test]
fn silence_ends_an_agent_and_talking_does_not() {
    let limits = ProcessLimits { silence: Some(SECOND * 2), ..no_limits() };
    let mut scribe = Scribe::new();
    // Five times half a second of talking is longer than the limit.
    let agent = script("for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done; exec sleep 3600");
    let ended = run(&agent, &limits, &mut scribe).unwrap();
    assert_eq!((ended.cut, ended.left.signal), (Some(Cut::Silence), Some(15)), "{ended:?}");
    assert!(ended.left.cut);
    assert_eq!(scribe.output(), ["1", "2", "3", "4", "5", "6"]);
}

#[test]
fn an_agent_that_never_exits_after_its_result_event_is_ended_and_that_is_no_failure() {
    let limits = ProcessLimits { lingering: SECOND, ..no_limits() };
    let mut scribe = Scribe::answering("result", Control::Finished);
    let ended = run(&script("echo result; exec sleep 3600"), &limits, &mut scribe).unwrap();
    assert_eq!(ended.cut, Some(Cut::Lingering));
    assert!(ended.left.lingered && !ended.left.cut, "{ended:?}");
}

#[test]
fn with_the_result_there_the_time_limit_is_no_failure_either() {
    let limits = ProcessLimits { wall: Some(SECOND), silence: Some(SECOND / 2), ..no_limits() };
    let mut scribe = Scribe::answering("result", Control::Finished);
    let ended = run(&script("echo result; exec sleep 3600"), &limits, &mut scribe).unwrap();
    assert_eq!(ended.cut, Some(Cut::Lingering));
    assert!(ended.left.lingered && !ended.left.cut, "{ended:?}");
}

#[test]
fn an_agent_that_leaves_after_its_result_is_left_alone() {
    let mut scribe = Scribe::answering("result", Control::Finished);
    let ended = run(&script("echo result; exit 3"), &no_limits(), &mut scribe).unwrap();
    assert_eq!((ended.cut, ended.left.code, ended.left.lingered), (None, Some(3), false));
}
