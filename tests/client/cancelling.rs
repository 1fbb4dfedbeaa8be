//! Cancelling a loop: by command, by the agent, from another terminal; and nothing brings it back.

use crate::headless::ClientRun;
use crate::support::on_every_client;
use crate::workshop::{STATE, Worker, Workshop, assembled_plugin};
use scripted_model::{Reply, ScriptedModel};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

on_every_client! {
    night night resumed_cancel_ends_for_good
    night night agent_shell_cancels
    night night terminal_cancel_ends_next_stop
}

fn resumed_cancel_ends_for_good(version: &str) {
    let workshop = Workshop::with_tasks(5);
    let worker = workshop.worker();
    let broken = Arc::new(AtomicBool::new(true));
    let breaks = Arc::clone(&broken);
    let model = ScriptedModel::start(move |asked| {
        if breaks.load(Ordering::SeqCst) && worker.next_task().is_some_and(|id| id == "T003") {
            return Reply::error(403, "permission_error", "not now");
        }
        worker.one_task_then_stop(asked)
    });
    let client = workshop.client(version, &model);
    let first = client.clone().session(SESSION).run("/speckit:implement").expect("a run");
    assert_eq!(first.exit_code, Some(1), "{}", first.describe());
    // Headless, a client may end before the hook that pauses the loop has done so.
    let state = &workshop.status()["loop"]["state"];
    assert!(state == "paused" || state == "live", "{state}");
    broken.store(false, Ordering::SeqCst);
    let spent = model.requests().len();

    let cancelled = client.clone().resume(SESSION).succeeds("/speckit:cancel");
    assert_eq!(model.requests().len(), spent, "{}", cancelled.describe());
    let notice = cancelled.notices().remove(0);
    for words in
        ["Loop cancelled.", "Feature: 001-long-list", "Phase: execution", "Task: 3/5 (2 done)"]
    {
        assert!(notice.contains(words), "{words}: {notice}");
    }
    assert_cancelled(&workshop, 1);

    let later = client.resume(SESSION).run("Do one more task.").expect("a run");
    assert_never_held(&later);
    assert_cancelled(&workshop, 1);
}

fn agent_shell_cancels(version: &str) {
    let workshop = Workshop::with_tasks(5);
    let worker = workshop.worker();
    let state = Workshop::in_feature(STATE);
    let model = ScriptedModel::start(move |asked| match asked.number {
        1..=3 => worker.one_task_then_stop(asked),
        4 => Worker::run(&format!("cp {state} kept; command -v spool; spool stop")),
        // A state file that comes back, by an edit under way, say, is no new loop.
        5 => Worker::run(&format!("cp kept {state}")),
        6 => Reply::text("It is over."),
        _ => Reply::text("Nothing holds me."),
    });
    let client = workshop.client(version, &model);
    let run = client.clone().session(SESSION).succeeds("/speckit:implement");
    assert_eq!(model.main_requests().len(), 6, "{}", run.describe());
    assert_eq!(run.final_text(), "It is over.");
    let answer = model.main_requests()[4].tool_results().remove(0);
    let program = assembled_plugin().join("bin/spool");
    assert!(answer.starts_with(&*program.to_string_lossy()), "{answer}");
    assert!(answer.contains("Task: 3/5 (2 done)"), "{answer}");
    assert!(answer.contains("Loop cancelled. Removed .speckit-state.json"), "{answer}");
    assert_eq!(run.hook_feedbacks().len(), 1, "{}", run.describe());
    assert_eq!(workshop.verdicts(), ["continue", "end cancelled"]);
    assert_eq!(model.complaints(), [""; 0]);

    // Neither does it live in a turn of its own, with the state file back, nor for another session.
    assert!(workshop.has(STATE));
    assert_never_held(&client.clone().resume(SESSION).run("hello").expect("a run"));
    assert_never_held(&client.run("hello").expect("a run"));
    assert_eq!(model.main_requests().len(), 8);
    assert_eq!(workshop.verdicts(), ["continue", "end cancelled"]);
}

fn terminal_cancel_ends_next_stop(version: &str) {
    let workshop = Arc::new(Workshop::with_tasks(5));
    let worker = workshop.worker();
    let terminal = Arc::clone(&workshop);
    let model = ScriptedModel::start(move |asked| {
        // The person cancels while the third task is being done.
        if asked.number == 6 {
            let output = terminal.spool(&["cancel"]);
            assert!(output.status.success(), "{output:?}");
        }
        worker.one_task_then_stop(asked)
    });
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    assert_eq!(model.complaints(), [""; 0]);
    assert_eq!(model.main_requests().len(), 6, "{}", run.describe());
    assert_eq!(run.hook_feedbacks().len(), 2, "{}", run.describe());
    assert_cancelled(&workshop, 2);
}

fn assert_cancelled(workshop: &Workshop, continued: usize) {
    assert!(!workshop.has(STATE), "the state file is back");
    assert!(workshop.has(".progress.md"), "the notes are gone");
    let status = workshop.status();
    assert_eq!(status["loop"]["state"], "ended", "{status}");
    assert_eq!(status["loop"]["end"]["name"], "cancelled", "{status}");
    let mut verdicts = vec!["continue"; continued];
    verdicts.push("end cancelled");
    assert_eq!(workshop.verdicts(), verdicts);
}

fn assert_never_held(run: &ClientRun) {
    assert!(run.is_success(), "{}", run.describe());
    assert_eq!(run.hook_feedbacks(), [""; 0], "{}", run.describe());
    assert_eq!(run.system_messages("Stop"), [""; 0], "{}", run.describe());
}
