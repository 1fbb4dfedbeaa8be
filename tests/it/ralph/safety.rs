//! What a person typed holds: the contract of a ralph loop is pinned where the agent does not write.

use crate::hook::support::Bench;
use crate::ralph::cli::{printed, spool};
use crate::ralph::{PROMISE, armed, ralph, works_and_says};
use serde_json::{Value, json};
use std::fs;

/// Writes a record into the project as an agent may: where an older version had it, and where a project without a home has it.
fn edit(bench: &Bench, change: impl FnOnce(&mut Value)) {
    let path = bench.record_path("s1");
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut record);
    for name in ["s1/loop.json", "session-s1.json"] {
        bench.write(format!(".claude/ralph/{name}"), record.to_string());
    }
}

/// Takes what a person armed out of the record.
fn unarm(bench: &Bench) {
    let path = bench.record_path("s1");
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record.as_object_mut().unwrap().remove("armed").unwrap();
    fs::write(&path, record.to_string()).unwrap();
}

#[test]
fn s4_typed_checks_outlast_notes() {
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
    assert!(works_and_says(&bench, PROMISE).told().contains("done: Make it"));
    assert!(bench.pin("session-s1").is_none(), "it is over");
}

#[test]
fn s2_lost_pin_runs_nothing() {
    let bench = armed("\"Make it\" --check \"touch pwned\" --max-iterations 0");
    unarm(&bench);
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
fn s1_arming_shows_what_runs() {
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
fn holds(bench: &Bench) {
    let stop = works_and_says(bench, PROMISE);
    assert!(stop.reason().contains("`test -e built`"), "{stop}");
    assert!(bench.path("ran").exists(), "the check was not run: {stop}");
    let stop = works_and_says(bench, PROMISE);
    assert!(stop.is_block(), "{stop}");
    bench.write("built", "");
    assert!(works_and_says(bench, PROMISE).told().contains("done: Make it"));
    assert!(bench.pin("session-s1").is_none(), "it is over");
    works_and_says(bench, PROMISE).silent();
}

#[test]
fn s4_contradicting_notes_keep_checks() {
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
        holds(&bench);
    }
}

#[test]
fn s4_noteless_loop_keeps_its_task() {
    for bytes in [None, Some("{"), Some("null")] {
        let bench = with_checks();
        fs::remove_dir_all(bench.path(".claude/ralph")).unwrap();
        if let Some(bytes) = bytes {
            bench.write(".claude/ralph/s1/loop.json", bytes);
        }
        let stop = works_and_says(&bench, "no");
        assert!(stop.reason().ends_with("Original task: Make it"), "{stop}");
        holds(&bench);
    }
}

#[test]
fn s4_asked_task_is_restored() {
    let bench = armed("\"Make it\" --check \"test -e built\"");
    edit(&bench, |record| {
        record["assignment"]["task"] = json!("Nothing");
        record["assignment"]["promise_match"] = json!("anywhere");
    });
    let stop = works_and_says(&bench, "no");
    assert!(stop.reason().ends_with("Original task: Make it"), "{stop}");
}

#[test]
fn t12_pinless_loop_names_way_out() {
    let bench = armed("\"Make it\"");
    unarm(&bench);
    let status = printed(&spool(&bench, None, &["status"]));
    let next = "  Next: what was armed is not found: arm it again with /speckit:ralph-loop; to end it: /speckit:cancel-ralph\n";
    assert!(status.contains(next), "{status}");
    works_and_says(&bench, PROMISE).logged("a version before 1.0.0 armed the loop");
}

#[cfg(unix)]
#[test]
fn s1_project_record_arms_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let check = json!({"run": "touch pwned", "limit_seconds": 9});
    for version in [1, 2] {
        let armed = armed("\"Make it\" --check \"test -e built\"");
        let kept = armed.record_path("s1");
        let mut record: Value = serde_json::from_slice(&fs::read(&kept).unwrap()).unwrap();
        record["armed"]["checks"] = json!([check]);
        record["assignment"]["contract"]["checks"] = json!([check]);
        if version == 1 {
            let mut pin = record["armed"].clone();
            pin["project"] = record["project"][0].clone();
            pin["session"] = json!("s1");
            pin["version"] = json!(1);
            pin["contract"] = record["assignment"]["contract"].clone();
            record = pin;
        }
        // Nothing was ever kept for this project.
        fs::remove_dir_all(armed.kept()).unwrap();
        let forged = armed.write(".claude/ralph/session-s1.json", record.to_string());
        fs::set_permissions(forged, fs::Permissions::from_mode(0o600)).unwrap();
        let stop = works_and_says(&armed, PROMISE);
        assert!(!armed.path("pwned").exists(), "{version}: {stop}");
        works_and_says(&armed, PROMISE);
        assert!(!armed.path("pwned").exists(), "{version}");
    }
}
