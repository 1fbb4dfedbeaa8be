//! What a person typed holds: the contract of a ralph loop is pinned where the agent does not write.

use crate::support::Bench;
use crate::{PROMISE, armed, ralph, works_and_says};
use serde_json::{Value, json};
use std::fs;

/// Changes the loop's own notes as an agent may.
fn edit(bench: &Bench, change: impl FnOnce(&mut Value)) {
    let path = bench.path(".claude/ralph/s1/loop.json");
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut record);
    fs::write(&path, record.to_string()).unwrap();
}

#[test]
fn s4_the_checks_that_a_person_typed_hold_whatever_the_notes_say() {
    let bench = armed("\"Make it\" --check \"test -e built\" --max-iterations 7");
    let pinned = bench.pin("session-s1");
    edit(&bench, |record| {
        record["assignment"]["contract"]["checks"] =
            json!([{"run": "touch pwned", "limit_seconds": 9}]);
        record["assignment"]["contract"]["guardrails"]["max_iterations"] = Value::Null;
    });
    let stop = works_and_says(&bench, PROMISE);
    assert!(!bench.path("pwned").exists(), "the agent's own check has run: {stop}");
    assert!(stop.reason().contains("`test -e built`"), "{stop}");
    assert_eq!(pinned.unwrap()["checks"][0]["run"], "test -e built");
    let contract = bench.record("s1").assignment.unwrap().contract;
    assert_eq!(contract.guardrails.max_iterations, Some(7));
    bench.write("built", "");
    assert!(works_and_says(&bench, PROMISE).told().contains("complete"));
    assert!(bench.pin("session-s1").is_none(), "it is over");
}

#[test]
fn s2_a_ralph_loop_whose_pin_is_gone_runs_nothing_and_is_not_done_by_that() {
    let bench = armed("\"Make it\" --check \"touch pwned\" --max-iterations 0");
    fs::remove_file(bench.pin_path("session-s1").unwrap()).unwrap();
    let stop = works_and_says(&bench, "done");
    assert!(stop.is_block(), "{stop}");
    assert!(stop.message().contains("no person armed the loop of Make it"), "{stop}");
    let stop = works_and_says(&bench, "done");
    assert!(stop.is_block() && !stop.message().contains("no person armed"), "{stop}");
    assert!(!bench.path("pwned").exists());
    let contract = bench.record("s1").assignment.unwrap().contract;
    assert_eq!(contract.guardrails.max_iterations, Some(100));
}

#[test]
fn s1_what_a_ralph_loop_runs_is_shown_at_arming_and_refused_where_it_cannot_be_kept() {
    let bench = Bench::folder();
    let command = "speckit:ralph-loop";
    let arguments = "\"Make it\" --check \"cargo test\"";
    let refused = bench.command("s1", command, arguments).variable("HOME", "/proc/nowhere").run();
    assert!(refused.reason().contains("nothing is armed"), "{refused}");
    assert!(!bench.loops().knows("s1"));
    let shown = ralph(&bench, "s1", arguments);
    assert!(shown.message().contains("cargo test (within 300 s)"), "{shown}");
}
