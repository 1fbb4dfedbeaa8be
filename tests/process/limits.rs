//! Limits of time, and what each is called.

use std::time::Duration;

use super::support::{Scribe, no_limits, run, script};
use super::witness::Witness;
use ralph_speckit::runner::process::{Control, Cut, ProcessLimits};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn stubborn_tree_ends_after_its_grace() {
    let limits = ProcessLimits { grace: SECOND, ..no_limits() };
    let witness = Witness::new();
    // Two that left the group: whoever is in it dies with the program, and is counted only by chance.
    let stubborn = ["setsid sleep 3600 &\n", &witness.stubborn()].concat();
    let stubborn = stubborn.replace("echo ready >&9", "echo ready");
    let mut scribe = Scribe::answering("ready", Control::End);
    let ended = run(&script(&stubborn), &limits, &mut scribe).unwrap();
    witness.wait_for_the_end();
    assert_eq!((ended.cut, ended.left.signal), (Some(Cut::Asked), Some(9)), "{ended:?}");
    assert!(ended.left.cut && !ended.left.lingered, "{ended:?}");
    assert!(ended.survivors >= 2, "{ended:?}");
}

#[test]
fn asked_agent_may_still_speak() {
    let mut scribe = Scribe::answering("ready", Control::End);
    let agent =
        script("trap 'echo last words; exit 0' TERM; echo ready; while :; do sleep 0.1; done");
    let ended = run(&agent, &no_limits(), &mut scribe).unwrap();
    assert_eq!((ended.cut, ended.left.code), (Some(Cut::Asked), Some(0)), "{ended:?}");
    assert_eq!(scribe.output(), ["ready", "last words"]);
}

#[test]
fn agent_ends_best_on_interrupt() {
    let mut scribe = Scribe::answering("ready", Control::End);
    let mut agent = script(
        "trap 'echo interrupted; exit 1' INT; trap '' TERM; echo ready; while :; do sleep 0.1; done",
    );
    agent.ending = ralph_speckit::runner::harness::Ending::Interrupt;
    let ended = run(&agent, &no_limits(), &mut scribe).unwrap();
    assert_eq!((ended.cut, ended.left.code), (Some(Cut::Asked), Some(1)), "{ended:?}");
    assert_eq!(scribe.output(), ["ready", "interrupted"]);
}

#[test]
fn time_and_silence_limits_end_agents() {
    let silence = ProcessLimits { silence: Some(SECOND), ..no_limits() };
    let wall = ProcessLimits { wall: Some(SECOND), ..no_limits() };
    for (limits, cut) in [(silence, Cut::Silence), (wall, Cut::Wall)] {
        let ended = run(&script("exec sleep 3600"), &limits, &mut Scribe::new()).unwrap();
        assert_eq!((ended.cut, ended.left.signal), (Some(cut), Some(15)), "{ended:?}");
        assert!(ended.left.cut);
    }
}

#[test]
fn lingering_after_result_is_no_failure() {
    let limits = ProcessLimits { lingering: SECOND, ..no_limits() };
    let mut scribe = Scribe::answering("result", Control::Finished);
    let ended = run(&script("echo result; exec sleep 3600"), &limits, &mut scribe).unwrap();
    assert_eq!(ended.cut, Some(Cut::Lingering));
    assert!(ended.left.lingered && !ended.left.cut, "{ended:?}");
}

#[test]
fn time_limit_after_result_is_none() {
    let limits = ProcessLimits { wall: Some(4 * SECOND), silence: Some(4 * SECOND), ..no_limits() };
    let mut scribe = Scribe::answering("result", Control::Finished);
    let ended = run(&script("echo result; exec sleep 3600"), &limits, &mut scribe).unwrap();
    assert_eq!(ended.cut, Some(Cut::Lingering));
    assert!(ended.left.lingered && !ended.left.cut, "{ended:?}");
}

#[test]
fn agent_leaving_after_result_stays_alone() {
    let mut scribe = Scribe::answering("result", Control::Finished);
    let ended = run(&script("echo result; exit 3"), &no_limits(), &mut scribe).unwrap();
    assert_eq!((ended.cut, ended.left.code, ended.left.lingered), (None, Some(3), false));
}
