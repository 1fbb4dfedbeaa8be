//! What a person typed holds: the contract of a ralph loop is pinned where the agent does not write.

use crate::hook::support::Bench;
use crate::ralph::cli::{printed, spool};
use crate::ralph::{PROMISE, armed, ralph, works_and_says};
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
    assert!(stop.message().contains("a person armed the loop of Make it"), "{stop}");
    let stop = works_and_says(&bench, "done");
    assert!(stop.is_block() && !stop.message().contains("a person armed"), "{stop}");
    let stop = works_and_says(&bench, PROMISE);
    assert!(stop.told().contains("session-s1.json") && bench.record("s1").ledger.is_live());
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

/// A loop with two checks, of which the first leaves a trace, after its first stop.
fn with_checks() -> Bench {
    let bench = armed("\"Make it\" --check \"touch ran\" --check \"test -e built\"");
    works_and_says(&bench, "no").reason();
    bench
}

#[track_caller]
fn holds(bench: &Bench, words: &str) {
    let stop = works_and_says(bench, PROMISE);
    assert!(stop.reason().contains("`test -e built`"), "{stop}");
    assert!(bench.path("ran").exists(), "the check was not run: {stop}");
    for words in [words, "still holds", "/speckit:cancel-ralph"] {
        assert!(stop.message().contains(words), "`{words}` is not told:\n{stop}");
    }
    let tampered = |entry: &Value| entry["event"] == "tampered";
    assert_eq!(bench.journal("s1").into_iter().filter(tampered).count(), 1);
    let stop = works_and_says(bench, PROMISE);
    assert!(stop.is_block() && !stop.message().contains("still holds"), "{stop}");
    bench.write("built", "");
    assert!(works_and_says(bench, PROMISE).told().contains("complete"));
    assert!(bench.pin("session-s1").is_none(), "it is over");
    works_and_says(bench, PROMISE).silent();
}

#[test]
fn s4_notes_that_contradict_what_was_armed_do_not_take_the_typed_checks_away() {
    type Change = fn(&mut Value);
    let changes: [Change; 6] = [
        |record| {
            record["armed_at"] = json!(5);
            record["told"] = json!({"unarmed": true});
        },
        |record| record["armed_by"] = json!("claim"),
        |record| record["kind"] = json!("speckit"),
        |record| record["ledger"]["ended"] = json!({"reason": "completed"}),
        |record| drop(record.as_object_mut().unwrap().remove("assignment")),
        |record| record["session"] = json!("s2"),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let bench = with_checks();
        edit(&bench, change);
        eprintln!("change {number}");
        holds(&bench, "`.claude/ralph/s1/loop.json`");
    }
}

#[test]
fn s4_a_ralph_loop_whose_notes_are_gone_goes_on_with_its_task_and_its_checks() {
    for bytes in [None, Some("{"), Some("null")] {
        let bench = with_checks();
        fs::remove_file(bench.path(".claude/ralph/s1/loop.json")).unwrap();
        if let Some(bytes) = bytes {
            bench.write(".claude/ralph/s1/loop.json", bytes);
        }
        let stop = works_and_says(&bench, "no");
        assert!(stop.reason().ends_with("Original task: Make it"), "{stop}");
        assert!(stop.message().contains("is missing or cannot be read"), "{stop}");
        let bench = with_checks();
        fs::remove_file(bench.path(".claude/ralph/s1/loop.json")).unwrap();
        holds(&bench, "is missing or cannot be read");
    }
}

#[test]
fn s4_what_a_ralph_loop_was_asked_for_is_put_back() {
    let bench = armed("\"Make it\" --check \"test -e built\"");
    edit(&bench, |record| {
        record["assignment"]["task"] = json!("Nothing");
        record["assignment"]["promise_match"] = json!("anywhere");
    });
    let stop = works_and_says(&bench, "no");
    assert!(stop.reason().ends_with("Original task: Make it"), "{stop}");
}

#[test]
fn t12_a_loop_without_a_pin_names_its_way_out() {
    let bench = armed("\"Make it\"");
    fs::remove_file(bench.pin_path("session-s1").unwrap()).unwrap();
    let status = printed(&spool(&bench, None, &["status"]));
    let next = "  Next: what was armed is not found: arm it again with /speckit:ralph-loop; to end it: /speckit:cancel-ralph\n";
    assert!(status.contains(next), "{status}");
    works_and_says(&bench, PROMISE).logged("a version before 1.0.0 armed the loop");
}
