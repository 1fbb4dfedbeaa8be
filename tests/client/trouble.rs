//! What goes wrong on the way: a broken state file, work in the background, a service that fails.

use crate::support::{client, on_every_client};
use crate::workshop::{STATE, Worker, Workshop};
use scripted_model::{Reply, ScriptedModel};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

on_every_client! {
    night night corrupt_state_is_told_once
    night night repaired_state_goes_on
    night night late_stop_ends_nothing
    night night broken_turn_pauses_the_loop
}

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

fn corrupt_state_is_told_once(version: &str) {
    let workshop = Workshop::with_tasks(3);
    let state = Workshop::in_feature(STATE);
    let model = ScriptedModel::playing(vec![
        Worker::run(&format!("printf '{{\\n \"phase\": \"execution\",,' > {state}")),
        Reply::text("I have edited the state file."),
        Reply::text("I cannot repair it."),
    ]);
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    assert_eq!(model.main_requests().len(), 3, "{}", run.describe());
    let feedbacks = run.hook_feedbacks();
    assert_eq!(feedbacks.len(), 1, "{}", run.describe());
    let path = workshop.path_of(STATE);
    let head = format!("ERROR: Corrupt state file at {}\n", path.display());
    assert!(feedbacks[0].starts_with(&head), "{}", feedbacks[0]);
    for words in ["at line 2", "Recovery options:", "/speckit:implement", "/speckit:cancel"] {
        assert!(feedbacks[0].contains(words), "{words}: {}", feedbacks[0]);
    }
    let told = run.system_messages("Stop");
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("(corrupt_state)"), "{}", told[1]);
    assert_eq!(workshop.verdicts(), ["continue", "end corrupt_state"]);
    // The broken file is a person's evidence.
    assert_eq!(workshop.project.read(&state), "{\n \"phase\": \"execution\",,");
}

fn repaired_state_goes_on(version: &str) {
    let workshop = Workshop::with_tasks(2);
    let state = Workshop::in_feature(STATE);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| match asked.number {
        1 => Worker::run(&format!("cp {state} kept && echo broken > {state}")),
        2 => Reply::text("I have edited the state file."),
        3 => Worker::run(&format!("cp kept {state}")),
        _ => worker.one_task_then_stop(asked),
    });
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    workshop.assert_all_done(2);
    assert!(run.hook_feedbacks()[0].starts_with("ERROR: Corrupt"), "{}", run.describe());
    assert_eq!(workshop.verdicts().last().map(String::as_str), Some("end completed"));
}

/// On a busy machine the client may start the hook long before it gets to writing the event.
fn late_stop_ends_nothing(version: &str) {
    let workshop = Workshop::with_tasks(3);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let client = client(version, &workshop.project, &model);
    let client = client.plugin(&workshop.plugin_with_late_stops());
    let run = client.succeeds("/speckit:implement");
    workshop.assert_all_done(3);
    assert_eq!(workshop.verdicts(), ["continue", "continue", "end completed"]);
    assert_eq!(run.hook_feedbacks().len(), 2, "{}", run.describe());
}

fn broken_turn_pauses_the_loop(version: &str) {
    let workshop = Workshop::with_tasks(4);
    let worker = workshop.worker();
    let broken = Arc::new(AtomicBool::new(true));
    let breaks = Arc::clone(&broken);
    let model = ScriptedModel::start(move |asked| {
        let at_third = worker.next_task().is_some_and(|id| id == "T003");
        if breaks.load(Ordering::SeqCst) && at_third && asked.is_hook_feedback() {
            return Reply::error(400, "invalid_request_error", "the service is out of order");
        }
        worker.one_task_then_stop(asked)
    });
    let client = workshop.client(version, &model);
    let first = client.clone().session(SESSION).run("/speckit:implement").expect("a run");
    assert_eq!(first.exit_code, Some(1), "{}", first.describe());
    let status = workshop.status();
    assert_eq!(status["loop"]["iterations"], 2, "{status}");
    assert_eq!(workshop.verdicts(), ["continue", "continue"]);
    let events = || {
        let events = workshop.journal().into_iter().map(|entry| entry["event"].clone());
        let pauses = events.filter(|event| event == "paused" || event == "resumed");
        pauses.collect::<Vec<_>>()
    };
    // Headless, a client may end before its hook has paused the loop.
    let is_paused = status["loop"]["state"] == "paused";
    assert_eq!(events(), vec!["paused"; usize::from(is_paused)], "{status}");
    // The client shows nothing of what a hook says to a failed turn: journal and status do.
    assert_eq!(first.system_messages("StopFailure"), [""; 0]);

    broken.store(false, Ordering::SeqCst);
    let spent = model.main_requests().len();
    client.resume(SESSION).succeeds("Go on, please.");
    let resumed = model.main_requests()[spent].body["messages"].to_string();
    assert!(resumed.contains("a loop is armed in this session: feature"), "{resumed}");
    workshop.assert_all_done(4);
    assert_eq!(workshop.verdicts(), ["continue", "continue", "continue", "end completed"]);
    let status = workshop.status();
    assert_eq!(status["loop"]["iterations"], 4, "{status}");
    assert_eq!(status["loop"]["state"], "ended", "{status}");
    let expected: &[&str] = if is_paused { &["paused", "resumed"] } else { &[] };
    assert_eq!(events(), expected);
}

/// Only newer clients let a subagent run in the background without being asked to.
#[test]
fn background_subagent_is_awaited() {
    let version = "2.1.332";
    let workshop = Workshop::with_tasks(2);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| {
        if asked.is_subagent() {
            if asked.number > 1 {
                return Reply::text("The subagent has done T001.");
            }
            // The subagent ends only after the hook has let its parent stop for it.
            let command = "until grep -q '\"verdict\":\"wait\"' .claude/ralph/*/journal.jsonl; \
                           do sleep 0.05; done; mkdir -p out; echo 'the work of T001' > out/T001.txt";
            return Worker::run(command);
        }
        match asked.number {
            1 => {
                let input = json!({"description": "T001", "prompt": "Do T001.", "subagent_type": "general-purpose"});
                Reply::tool("Task", input)
            }
            2 => Reply::text("It runs. I wait for it."),
            3 => {
                let list = Workshop::in_feature("tasks.md");
                Worker::run(&format!(
                    "sed 's/\\[ \\] T001/[x] T001/' {list} > new && mv new {list}"
                ))
            }
            _ => worker.one_task_then_stop(asked),
        }
    });
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    workshop.assert_all_done(2);
    let requests = model.main_requests();
    assert!(requests[2].hook_feedback().is_empty(), "the wait was no wait: {}", run.describe());
    assert!(requests[2].last_text().contains("The subagent has done T001."), "{requests:?}");
    assert_eq!(workshop.verdicts(), ["wait", "continue", "end completed"]);
    let found = &workshop.status()["loop"];
    assert_eq!(found["iterations"], 2, "waiting counts nothing: {found}");
}

/// Since 2.1.329 a client tells its Stop hook of a monitor.
#[test]
#[ignore = "nightly"]
fn t10_a_monitor_is_waited_for() {
    let version = "2.1.332";
    let workshop = Workshop::with_tasks(1);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| match asked.number {
        1 => {
            // The monitor speaks only after the hook has let the agent stop for it.
            let command = "until grep -q '\"verdict\":\"wait\"' .claude/ralph/*/journal.jsonl; \
                           do sleep 0.05; done; echo the build is green";
            let input = json!({"command": command, "description": "watch the build", "timeout_ms": 60_000, "persistent": false});
            Reply::tool("Monitor", input)
        }
        2 => Reply::text("It runs. I wait for it."),
        _ => worker.one_task_then_stop(asked),
    });
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    workshop.assert_all_done(1);
    let woken = &model.main_requests()[2];
    assert!(woken.hook_feedback().is_empty(), "the wait was no wait: {}", run.describe());
    assert!(woken.last_text().contains("the build is green"), "{woken:?}");
    assert_eq!(workshop.verdicts(), ["wait", "end completed"], "{}", run.describe());
}
