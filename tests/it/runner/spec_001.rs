//! Spec 001 (loop state): its scenarios by their names.

use rustix::process::Signal;
use serde_json::Value;
use std::fs;

use crate::runner::claude::TOKENS;
use crate::runner::support::{Bench, CHANGE, PROMISE, says};

/// A time as the files have it: ISO 8601 with an offset.
#[track_caller]
fn assert_time(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no time"));
    let (day, time) = text.split_once('T').unwrap_or_else(|| panic!("{text} is no time"));
    assert_eq!(day.len(), 10, "{text}");
    assert!(time[8..].contains(['+', '-', 'Z']), "{text} has no offset");
}

/// Two runs of an agent; in the second one it keeps the promise.
fn two_iterations(bench: &Bench) {
    bench.agent(&format!(
        "cp .claude/loop-state.json \"$DESK/state-$n\"\n\
         if [ $n = 2 ]; then {}; else echo more >> made.txt; fi",
        says(PROMISE)
    ));
}

// Requirement: Ralph loop state file format

#[test]
fn scenario_state_file_location() {
    let bench = Bench::new();
    let other = bench.beside("other");
    bench.git(&["worktree", "add", "--quiet", other.to_str().unwrap()]);
    two_iterations(&bench);
    bench.ralph("").run().with_code(0);
    assert_eq!(bench.state()["current_iteration"], 2);
    // The other work tree knows nothing of it.
    assert!(!other.join(".claude/loop-state.json").exists());
    bench.agent(&says(PROMISE));
    bench.ralph("").within(&other).run().with_code(0);
    let state = fs::read_to_string(other.join(".claude/loop-state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["current_iteration"], 1);
    assert_eq!(bench.state()["current_iteration"], 2, "the first one is as it was");
    // From a folder below, it is the same file that is updated.
    fs::create_dir(bench.root.join("src")).unwrap();
    bench.ralph("").within(&bench.root.join("src")).run().with_code(0);
    assert_eq!(bench.state()["current_iteration"], 1);
    assert!(!bench.root.join("src/.claude").exists());
    assert!(!bench.beside("home/.claude").exists(), "it is not global");
}

#[test]
fn scenario_state_file_schema() {
    let bench = Bench::new();
    two_iterations(&bench);
    bench
        .ralph("--max-iterations 7 --stall-threshold 4 --iteration-timeout 90s")
        .run()
        .with_code(0);
    let running: Value = serde_json::from_str(&bench.desk("state-2")).unwrap();
    assert_eq!(running["status"], "running");
    assert_eq!(running["current_iteration"], 2);
    let list = running["iterations"].as_array().unwrap();
    assert_eq!(list.len(), 2, "the one that runs is in it");
    assert!(list[0]["ended"].is_string() && list[1].get("ended").is_none(), "{running:#}");
    let state = bench.state();
    assert_eq!(state["change_id"], CHANGE);
    assert_eq!(state["worktree_name"], CHANGE);
    assert_eq!(state["status"], "done");
    assert_eq!(state["current_iteration"], 2);
    assert_eq!(state["max_iterations"], 7);
    assert_eq!(state["task"], "Build it");
    assert_eq!(state["iterations"].as_array().unwrap().len(), 2);
    assert_eq!(state["done_criteria"], "manual");
    assert_eq!(state["stall_threshold"], 4);
    assert_eq!(state["iteration_timeout_min"], 1.5);
    assert!(state["total_tokens"].is_u64(), "{state:#}");
    assert_time(&state["started_at"]);
    assert_eq!(state["started_at"], running["started_at"]);
}

#[test]
fn scenario_iteration_history_entry() {
    let bench = Bench::new();
    bench.claude(&format!(
        "calls Bash\n\
         if [ $n = 1 ]; then echo 1 > made.txt; git add made.txt; git commit -qm made; says more; result more\n\
         else says '{PROMISE}'; result '{PROMISE}'; fi"
    ));
    bench.ralph("").run().with_code(0);
    let list = bench.iterations();
    assert_eq!(list.len(), 2, "{list:#?}");
    for (place, entry) in list.iter().enumerate() {
        assert_eq!(entry["n"], place + 1);
        assert_time(&entry["started"]);
        assert_time(&entry["ended"]);
        assert_eq!(entry["tokens_used"], TOKENS);
        assert!(entry.get("timed_out").is_none(), "only when it was: {entry:#}");
        assert!(entry.get("tokens_estimated").is_none(), "{entry:#}");
    }
    assert_eq!(list[0]["done_check"], false);
    assert_eq!(list[1]["done_check"], true);
    assert_eq!(list[0]["commits"], serde_json::json!([bench.head()]));
    assert_eq!(list[1]["commits"], serde_json::json!([]));
    assert_eq!(bench.state()["total_tokens"], 2 * TOKENS);
}

// Requirement: Default done criteria

#[test]
fn scenario_default_done_criteria_with_tasks_md_present() {
    let list = "- [ ] 1.1 Make it\n";
    for path in [format!(".spool/changes/{CHANGE}/tasks.md"), "tasks.md".to_owned()] {
        let bench = Bench::new();
        bench.write(&path, list);
        bench.agent(&format!("echo 1 > made.txt; echo '- [x] 1.1 Make it' > {path}"));
        let ran = bench.ralph("").run().with_code(0);
        ran.says("until every box of tasks.md is ticked");
        assert_eq!(ran.errors, "", "{path}");
        assert_eq!(bench.state()["done_criteria"], "tasks", "{path}");
        assert_eq!(bench.iterations()[0]["tasks_ticked"], serde_json::json!(["1.1"]));
    }
}

#[test]
fn scenario_default_done_criteria_without_tasks_md() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    let ran = bench.ralph("").run().with_code(0);
    assert_eq!(ran.errors, "warning: No tasks.md found, using manual done criteria\n");
    assert_eq!(bench.state()["done_criteria"], "manual");
}

#[test]
fn scenario_explicit_manual_override() {
    let bench = Bench::with_tasks("- [ ] 1.1 Make it\n");
    bench.agent(&says(PROMISE));
    let ran = bench.ralph("--done manual").run().with_code(0);
    assert_eq!(ran.errors, "");
    assert_eq!(bench.state()["done_criteria"], "manual");
}

// Requirement: Robust state recording on termination

/// An agent that commits, says so, and then works for ever, with others that hold its output.
fn never_ends(bench: &Bench) -> crate::support::witness::Witness {
    let witness = Bench::witness();
    bench.agent(&format!(
        "{}git commit -q --allow-empty -m made\n(while :; do sleep 1; done) &\necho ready >&9\nwait",
        witness.held()
    ));
    witness
}

fn killed_by(signal: Signal, code: i32) {
    let bench = Bench::new();
    let witness = never_ends(&bench);
    let running = bench.ralph("--grace 1s").start();
    witness.wait_for("ready");
    running.signal(signal);
    running.finish().with_code(code).says("stopped");
    witness.wait_for_the_end();
    let state = bench.state();
    assert_eq!(state["status"], "stopped");
    assert_eq!(state["exit_code"], code);
    assert_time(&state["ended_at"]);
    let list = bench.iterations();
    assert_eq!(list.len(), 1, "{list:#?}");
    assert_time(&list[0]["ended"]);
    assert_eq!(list[0]["interrupted"], true);
    assert_eq!(list[0]["commits"], serde_json::json!([bench.head()]));
    assert_eq!(bench.state_lines("history.jsonl").len(), 1);
}

#[test]
fn scenario_loop_killed_by_sigterm() {
    killed_by(Signal::TERM, 143);
}

#[test]
fn scenario_loop_killed_by_sigint() {
    killed_by(Signal::INT, 130);
}

#[test]
fn scenario_partial_iteration_on_exit() {
    killed_by(Signal::HUP, 129);
    // Killed without a chance to write: the next start does it.
    let bench = Bench::new();
    let witness = never_ends(&bench);
    let running = bench.ralph("").start();
    witness.wait_for("ready");
    let made = bench.head();
    running.signal(Signal::KILL);
    assert_eq!(running.finish().signal, Some(9));
    witness.wait_for_the_end();
    let state = bench.state();
    assert_eq!(state["status"], "running", "nobody could write");
    assert!(bench.iterations()[0].get("ended").is_none());
    bench.agent(&says(PROMISE));
    let ran = bench.ralph("").run().with_code(0);
    ran.says(&format!("(process {}) was killed in iteration 1, with 1 commit", state["pid"]));
    let history = bench.state_lines("history.jsonl");
    assert_eq!(history.len(), 2, "{history:#?}");
    assert_eq!(history[0]["commits"], serde_json::json!([made]));
    assert_eq!(history[0]["interrupted"], true);
    assert_time(&history[0]["ended"]);
    assert_eq!(bench.iterations().len(), 2, "the list shows it too: {:#}", bench.state());
}

// Requirement: Token tracking reliability

/// A `wt-usage` that prints the number on the desk, and keeps what it was asked.
fn usage(bench: &Bench, script: &str) {
    fs::write(bench.beside("desk/used"), "1000\n").unwrap();
    bench.program("wt-usage", &format!("#!/bin/sh\necho \"$@\" >> \"$DESK/asked\"\n{script}\n"));
}

const COUNTS: &str = "read -r used < \"$DESK/used\"\necho \"{\\\"total_tokens\\\": $used}\"";

#[test]
fn scenario_token_counting_via_wt_usage() {
    let bench = Bench::new();
    usage(&bench, COUNTS);
    bench.agent(&format!(
        "if [ $n = 3 ]; then {}; else echo $((1000 + n * 250)) > \"$DESK/used\"; fi\n\
         if [ $n = 2 ]; then echo 900 > \"$DESK/used\"; fi",
        says(PROMISE)
    ));
    let ran = bench.ralph("").run().with_code(0);
    let list = bench.iterations();
    assert_eq!(list[0]["tokens_used"], 250);
    assert!(list[0].get("tokens_estimated").is_none());
    // Less than before, then the same as before.
    ran.warns("`wt-usage` counted -350 tokens for this iteration");
    ran.warns("`wt-usage` counted 0 tokens for this iteration");
    let asked = bench.desk("asked");
    let started = bench.state()["started_at"].as_str().unwrap().to_owned();
    assert_eq!(asked.lines().count(), 6, "before and after each: {asked}");
    for line in asked.lines() {
        assert_eq!(line, format!("--since {started} --format json"));
    }
}

#[test]
fn scenario_token_tracking_failure_fallback() {
    for script in
        ["echo broken >&2; exit 1", "echo 0", "echo '{\"total_tokens\": 0}'", "echo nothing"]
    {
        let bench = Bench::new();
        usage(&bench, script);
        // It reports nothing itself, but the file of its session grows by 4,000 bytes.
        bench.claude(&format!(
            "mkdir -p \"$HOME/.claude/projects/x\"\n\
             head -c 4000 /dev/zero >> \"$HOME/.claude/projects/x/$session.jsonl\"\n\
             calls Bash\nsays '{PROMISE}'\n\
             printf '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"{PROMISE}\"}}\\n'"
        ));
        let ran = bench.ralph("").run().with_code(0);
        let entry = &bench.iterations()[0];
        assert_eq!(entry["tokens_used"], 1000, "{script}: {ran}");
        assert_eq!(entry["tokens_estimated"], true, "{script}: {ran}");
        ran.warns("`wt-usage`").warns("1000 are estimated from its session file");
    }
}

// Requirement: Terminal title progress updates

#[test]
fn scenario_title_updates_per_iteration() {
    let bench = Bench::new();
    two_iterations(&bench);
    let Some(running) = bench.ralph("--max-iterations 4").on_a_terminal() else { return };
    let ran = running.finish().with_code(0);
    for title in ["[1/4]", "[2/4]"] {
        ran.says(&format!("\u{1b}]2;Ralph: {CHANGE} {title}\u{7}"));
    }
}

#[test]
fn scenario_title_on_completion() {
    for (arguments, script, status, code) in [
        ("", says(PROMISE), "done", 0),
        ("--max-iterations 1", "echo 1 > made.txt".to_owned(), "stuck", 3),
        ("--stall-threshold 1", "echo 1 > made.txt".to_owned(), "stalled", 4),
    ] {
        let bench = Bench::new();
        bench.agent(&script);
        let Some(running) = bench.ralph(arguments).on_a_terminal() else { return };
        let ran = running.finish().with_code(code);
        ran.says(&format!("\u{1b}]2;Ralph: {CHANGE} [{status}]\u{7}"));
    }
}
