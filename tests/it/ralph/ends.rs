//! Waiting, ending, cancelling, and one loop after the other in a session.

use crate::hook::support::Bench;
use crate::ralph::cli::{printed, spool};
use crate::ralph::{PROMISE, armed, await_file, ralph, works_and_says};
use crate::support::amounts::few_or_all;
use crate::support::has::Has;
use ralph_speckit::store::loops::PATIENCE;
use ralph_speckit::world;
use serde_json::json;

#[test]
fn cancel_outlasts_a_late_stop() {
    let bench = armed("\"Make it\"");
    works_and_says(&bench, "one").reason();
    let cancelled = bench.command("s1", "speckit:cancel-ralph", "").run();
    let words = "Ralph-speckit: ended (cancelled): Make it · 1 tool call · 1 iteration";
    assert!(cancelled.reason().starts_with(words), "{cancelled}");
    works_and_says(&bench, "two").silent();
    assert_eq!(bench.record("s1").ledger.iterations, 1);
    let last = bench.journal("s1").pop().unwrap();
    assert_eq!((&last["event"], &last["reason"]), (&json!("cancelled"), &json!("cancelled")));
}

#[test]
fn end_counts_the_open_turn() {
    let bench = armed("\"Make it\"");
    works_and_says(&bench, "one").reason();
    for _ in 0..2 {
        bench.transcript("s1").tool("Edit");
    }
    let cancelled = bench.command("s1", "speckit:cancel-ralph", "").run();
    cancelled.reason().has("ended (cancelled): Make it · 3 tool calls · 1 iteration");
    assert_eq!(bench.record("s1").ledger.tool_calls, 3);
    let bench = Bench::ready();
    bench.implement("s1", "").context();
    works_and_says(&bench, "one").reason();
    bench.transcript("s1").tool("Edit");
    bench.implement("s2", "").reason().has("end its loop with /speckit:cancel 001-login, or");
    bench.implement("s2", "--force").context();
    works_and_says(&bench, "two").told().has("session s2 has taken this loop over");
    assert_eq!(bench.record("s1").ledger.tool_calls, 3, "taken over");
    for (end, name) in [("block", "a key"), ("stop", "001-login")] {
        let bench = Bench::armed();
        works_and_says(&bench, "one").reason();
        bench.transcript("s1").tool("Edit");
        printed(&spool(&bench, Some("s1"), &[end, name]));
        assert_eq!(bench.record("s1").ledger.tool_calls, 2, "{end}");
    }
}

#[test]
fn end_names_the_typed_command() {
    for name in ["ralph-loop", "ulw-loop"] {
        let bench = Bench::folder();
        let command = format!("speckit:{name}");
        bench.command("s1", &command, "\"Make it\" --max-iterations 1").run().context();
        let end = works_and_says(&bench, "no");
        assert!(end.told().contains(&format!("then start it again with /{command};")), "{end}");
    }
}

#[test]
fn cancel_during_judging_holds() {
    // Each round the cancel meets the stop in another moment of it.
    for _ in 0..few_or_all(10, 40) {
        let bench = armed("\"Make it\"");
        bench.transcript("s1").tool("Edit");
        let stop = bench.stop("s1").start();
        let cancel = bench.command("s1", "speckit:cancel-ralph", "").start();
        assert!(cancel.finish().reason().starts_with("Ralph-speckit: ended (cancelled)"));
        stop.finish();
        works_and_says(&bench, "again").silent();
        works_and_says(&bench, PROMISE).silent();
        assert_eq!(bench.verdicts("s1").last().unwrap(), "end cancelled");
    }
}

#[test]
fn cancel_during_checks_ends() {
    for cancelled_by_spool in [false, true] {
        let check = "echo > ../begun; until test -f ../go; do sleep 0.02; done";
        let bench = armed(&format!("\"Make it\" --check '{check}'"));
        bench.transcript("s1").tool("Edit");
        let stop = bench.stop("s1").start();
        await_file(&bench.path("../begun"));
        if cancelled_by_spool {
            printed(&spool(&bench, None, &["cancel"]));
        } else {
            bench.command("s1", "speckit:cancel-ralph", "").run().reason();
        }
        assert!(!bench.record("s1").ledger.is_live(), "it is over while the check still runs");
        bench.write("../go", "");
        // The checks pass, and that makes it neither completed nor live.
        let stop = stop.finish();
        if cancelled_by_spool {
            assert!(stop.told().contains("ended (cancelled): Make it"), "{stop}");
        } else {
            stop.silent();
        }
        works_and_says(&bench, "again").silent();
        assert_eq!(bench.verdicts("s1"), ["end cancelled"]);
    }
}

/// A person types this while the agent works: the client keeps it until the turn is over.
fn types_ahead(bench: &Bench, line: &str) {
    let line = json!({"type": "queue-operation", "operation": "enqueue",
        "timestamp": "2026-11-22T03:51:25.829Z", "sessionId": "s1", "content": line});
    bench.transcript("s1").raw(line.to_string());
}

#[test]
fn typed_cancel_passes() {
    for typed in
        ["/speckit:cancel-ralph", "/speckit:cancel", "/cancel-ralph", " /speckit:cancel-ralph s1\n"]
    {
        let bench = armed("\"Make it\"");
        works_and_says(&bench, "no").reason();
        types_ahead(&bench, "hello");
        types_ahead(&bench, typed);
        let stop = works_and_says(&bench, "no");
        stop.silent().logged(&format!("Waiting: `{}`, which was typed", typed.trim()));
        // Now the client runs it.
        let name = typed.trim().trim_start_matches('/').split(' ').next().unwrap();
        // Without the plugin's prefix it is ours where `spool setup` has put it.
        let own = bench.outside().join(".claude/commands");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("cancel-ralph.md"), ralph_speckit::hosts::claude::commands::MARK)
            .unwrap();
        let cancelled = bench.command("s1", name, "").with("command_source", "userSettings");
        let state = bench.home().join(".local/state").display().to_string();
        let cancelled = cancelled.variable("HOME", bench.outside().to_str().unwrap());
        let cancelled = cancelled.variable("XDG_STATE_HOME", &state).run();
        assert!(cancelled.reason().starts_with("Ralph-speckit: ended (cancelled)"));
        assert_eq!(bench.verdicts("s1"), ["continue", "wait", "end cancelled"]);
    }
    for other in [
        "/speckit:status",
        "/speckit:cancel 001-login",
        "/speckit:cancel-ralph s2",
        "cancel-ralph",
        "say /speckit:cancel-ralph",
        "/speckit:cancel-ralphs",
        "/compact",
    ] {
        let bench = armed("\"Make it\"");
        types_ahead(&bench, other);
        works_and_says(&bench, "no").reason();
    }
}

/// What the client does with its queue, in a session where it does not name what was typed.
fn queue(bench: &Bench, operation: &str) {
    let line = json!({"type": "queue-operation", "operation": operation, "sessionId": "s1"});
    bench.transcript("s1").raw(line.to_string());
}

#[test]
fn queued_cancel_passes_one_stop() {
    for named in [true, false] {
        let bench = armed("\"Make it\"");
        if named {
            types_ahead(&bench, "/speckit:cancel-ralph");
        } else {
            queue(&bench, "enqueue");
        }
        works_and_says(&bench, "no").silent();
        // The client takes nothing up; the person types something, and sleeps.
        queue(&bench, "enqueue");
        queue(&bench, "dequeue");
        for _ in 0..3 {
            works_and_says(&bench, "no").reason();
        }
        assert_eq!(bench.verdicts("s1"), ["wait", "continue", "continue", "continue"]);
        queue(&bench, "enqueue");
        works_and_says(&bench, "no").silent();
    }
}

#[test]
fn resumed_queue_passes_no_stop() {
    for named in [true, false] {
        let bench = armed("\"Make it\"");
        let types = || {
            if named {
                types_ahead(&bench, "/speckit:cancel-ralph");
            } else {
                queue(&bench, "enqueue");
            }
        };
        types();
        let takes_up = |source: &str| {
            let event = bench.event("SessionStart", "s1").with("source", source);
            event.with("transcript_path", bench.transcript("s1").path.to_str().unwrap()).run();
        };
        takes_up("resume");
        // The prompt of the new client goes through its queue.
        queue(&bench, "enqueue");
        queue(&bench, "dequeue");
        works_and_says(&bench, "no").reason();
        // What is typed now is waited for, and so it is behind a compaction of the same client.
        types();
        takes_up("compact");
        works_and_says(&bench, "no").silent();
        assert_eq!(bench.verdicts("s1"), ["continue", "wait"]);
    }
}

#[test]
fn embedded_cancel_passes() {
    let bench = armed("\"Make it\"");
    works_and_says(&bench, "no").reason();
    types_ahead(&bench, "hello");
    types_ahead(&bench, "/speckit:cancel-ralph");
    works_and_says(&bench, "no").silent();
    // The words begin a turn of their own.
    queue(&bench, "dequeue");
    works_and_says(&bench, "no").silent();
    // Another hook blocks that stop.
    let held = bench.transcript("s1").tool("Edit");
    held.assistant("no");
    bench.stop("s1").saying("no").held().run().silent();
    queue(&bench, "dequeue");
    works_and_says(&bench, "no").reason();
    assert_eq!(bench.verdicts("s1"), ["continue", "wait", "wait", "wait", "continue"]);
}

#[test]
fn only_own_feature_cancel_passes() {
    for typed in ["/speckit:cancel", "/speckit:cancel 001-login"] {
        let bench = Bench::armed();
        types_ahead(&bench, typed);
        bench.stop("s1").run().silent().logged("which was typed");
        assert!(bench.cancel("s1", "").reason().starts_with("Loop cancelled."));
        assert_eq!(bench.verdicts("s1"), ["wait", "end cancelled"]);
    }
    for other in ["/speckit:cancel 002-logout", "/speckit:cancel-ralph"] {
        let bench = Bench::armed();
        types_ahead(&bench, other);
        bench.stop("s1").run().reason();
    }
}

#[test]
fn cancel_waits_for_no_checks() {
    let bench = armed("\"Make it\" --completion-promise DONE --check 'touch ../checked'");
    types_ahead(&bench, "/speckit:cancel-ralph");
    works_and_says(&bench, PROMISE).silent();
    assert!(!bench.path("../checked").exists());
    let bench = armed("\"Make it\"");
    types_ahead(&bench, "/speckit:cancel-ralph");
    assert!(works_and_says(&bench, PROMISE).told().contains("PROMISE_ACCEPTED"));
}

#[test]
fn quoted_cancel_is_none() {
    let typed = "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"/speckit:cancel-ralph\"}";
    let bench = armed("\"Make it\"");
    bench.transcript("s1").tool_result(typed).user(typed).assistant(typed).tool("Edit");
    bench.stop("s1").saying(typed).run().reason();
}

#[test]
fn cancel_waits_for_locks() {
    let bench = armed("\"Make it\"");
    let held = bench.loops().session("s1").unwrap();
    let cancel = bench.command("s1", "speckit:cancel-ralph", "").start();
    // Longer than anybody else waits for this lock.
    world::pause(PATIENCE * 2);
    drop(held);
    assert!(cancel.finish().reason().starts_with("Ralph-speckit: ended (cancelled)"));
}

#[test]
fn feature_cancel_ends_ralph_too() {
    let bench = Bench::in_execution();
    ralph(&bench, "s1", "\"Make it\"").context();
    assert!(bench.cancel("s1", "").reason().starts_with("Ralph-speckit: ended (cancelled)"));
    assert!(bench.state_path().exists(), "the feature is left alone");
}

#[test]
fn cancelling_nothing_says_so() {
    let refusal = Bench::folder().command("s1", "speckit:cancel-ralph", "").run();
    assert!(refusal.reason().contains("nothing to cancel"), "{refusal}");
    let bench = armed("\"Make it\"");
    let other = bench.command("s2", "speckit:cancel-ralph", "").run();
    assert!(other.reason().contains("this session has no ralph loop"), "{other}");
    works_and_says(&bench, "no").reason();
}

#[test]
fn second_loop_must_replace_first() {
    let bench = armed("\"Make it\"");
    works_and_says(&bench, "no").reason();
    let refusal = ralph(&bench, "s1", "\"Make that\"");
    refusal.reason().has("this session has a ralph loop: Make it (iteration 1)\nend it first with /speckit:cancel-ralph, or start this one with --replace");
    assert!(works_and_says(&bench, "no").reason().contains("Original task: Make it"));
    ralph(&bench, "s1", "\"Make that\" --replace").context();
    assert!(works_and_says(&bench, "no").reason().ends_with("Original task: Make that"));
    let ends: Vec<_> =
        bench.journal("s1").into_iter().filter(|entry| entry["event"] == "ended").collect();
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0]["reason"], "stopped");
}

#[test]
fn two_kinds_take_turns() {
    let bench = Bench::armed();
    let refusal = ralph(&bench, "s1", "\"Make it\"");
    assert!(refusal.reason().contains("has the loop of feature 001-login"), "{refusal}");
    ralph(&bench, "s1", "\"Make it\" --replace").context();
    let pin = bench.loops().pin("001-login").unwrap().unwrap();
    assert_eq!(pin.ended.unwrap().reason.name(), "stopped");
    assert!(works_and_says(&bench, "no").reason().contains("Original task: Make it"));
    let start = bench.implement("s1", "");
    assert!(start.context().contains("The ralph loop in this session ends with this."), "{start}");
    assert!(works_and_says(&bench, "no").reason().starts_with("Continue feature: 001-login"));
}

#[test]
fn talking_agent_precedes_client_cap() {
    let bench = armed("\"Make it\"");
    for _ in 0..2 {
        bench.stop("s1").held().run().reason();
    }
    let stop = bench.stop("s1").held().run();
    assert!(stop.told().contains("(no_progress)"), "{stop}");
    assert!(stop.told().contains("Next: read its last answer"), "{stop}");
}

#[test]
fn a_compaction_brings_the_task_back() {
    let bench = armed("\"Make it\" --completion-promise READY");
    for source in ["compact", "resume"] {
        let start = bench.event("SessionStart", "s1").with("source", source).run();
        let output = &start.answer.as_ref().unwrap()["hookSpecificOutput"];
        let text = output["additionalContext"].as_str().unwrap();
        assert!(text.contains("<promise>READY</promise>"), "{text}");
        assert!(text.ends_with("Original task: Make it"), "{text}");
    }
    bench.event("SessionStart", "s2").with("source", "resume").run().silent();
    bench.event("SessionStart", "s1").with("source", "startup").run().silent();
}

#[test]
fn loops_run_one_a_session() {
    let bench = armed("\"Make it\"");
    ralph(&bench, "s2", "\"Make that\"").context();
    for _ in 0..2 {
        assert!(works_and_says(&bench, "no").reason().ends_with("Original task: Make it"));
        bench.transcript("s2").tool("Edit");
        assert!(bench.stop("s2").run().reason().ends_with("Original task: Make that"));
    }
    works_and_says(&bench, PROMISE).told();
    bench.transcript("s2").tool("Edit");
    bench.stop("s2").run().reason();
}

#[test]
fn s3_unusable_settings_arm_nothing() {
    let bench = Bench::folder().settings("---\nchecks:\n  - run: x\n    timeout: 5\n---\n");
    for command in ["speckit:ralph-loop", "speckit:ulw-loop"] {
        let answer = bench.command("s1", command, "\"Make it\"").run();
        assert!(answer.reason().contains("line 4: unknown key `timeout`"), "{answer}");
        answer.reason().has("remove it; the keys here are `run`, `limit`");
        assert!(!bench.loops().knows("s1"));
    }
}

#[test]
fn switched_off_project_stays_alone() {
    let bench = Bench::folder().settings("---\nenabled: false\n---\n");
    assert!(ralph(&bench, "s1", "\"Make it\"").reason().contains("switched off"));
    let bench = armed("\"Make it\"").settings("---\nenabled: false\n---\n");
    assert!(works_and_says(&bench, "no").told().contains("`enabled: false`"));
    works_and_says(&bench, "no").silent();
}
