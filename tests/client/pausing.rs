//! Pausing a loop and going on with it, and a cancel in the middle of a turn, from another terminal.

use crate::support::{json_lines, on_every_client};
use crate::workshop::{Worker, Workshop};
use scripted_model::{Asked, Reply, ScriptedModel};
use std::sync::Arc;

const SESSION: &str = "31111111-2222-4333-8444-555555555555";

on_every_client! {
    gate night paused_loop_goes_on_asked
    night night paused_feature_goes_on_asked
    night night terminal_cancel_ends_mid_turn
}

/// An agent that works and stops; in this request a person says something to `spool` in a terminal.
fn agent(
    workshop: &Arc<Workshop>,
    request: usize,
    words: &'static [&'static str],
) -> ScriptedModel {
    let terminal = Arc::clone(workshop);
    ScriptedModel::start(move |asked: &Asked| {
        if asked.number == request {
            let output = terminal.spool(words);
            assert!(output.status.success(), "{output:?}");
        }
        match asked.number {
            8 => Reply::text("<promise>DONE</promise>"),
            _ if asked.tool_results().is_empty() => Worker::run("date +%N >> work"),
            _ => Reply::text("I stop here."),
        }
    })
}

fn paused_loop_goes_on_asked(version: &str) {
    let workshop = Arc::new(Workshop::with_tasks(1));
    let model = agent(&workshop, 4, &["pause"]);
    let client = workshop.client(version, &model);
    let first = client.clone().session(SESSION).succeeds("/speckit:ralph-loop \"Make it\"");
    assert_eq!(model.main_requests().len(), 4, "{}", first.describe());
    let told = first.system_messages("Stop");
    assert!(told.last().is_some_and(|line| line.starts_with("Ralph-speckit: paused: ")));

    // In the pause a person talks with the agent, and nobody holds it.
    let talk = client.clone().resume(SESSION).succeeds("What have you done?");
    assert_eq!(model.main_requests().len(), 6, "{}", talk.describe());
    let status = workshop.spool(&["status"]);
    let status = String::from_utf8(status.stdout).expect("a report");
    assert!(status.contains("Loop: paused for ") && status.contains("Iteration: 2 of 50"));

    assert!(workshop.spool(&["resume"]).status.success());
    let last = client.resume(SESSION).succeeds("Go on.");
    assert_eq!(last.final_text(), "<promise>DONE</promise>");
    let verdicts = workshop.verdicts();
    assert_eq!(verdicts, ["continue", "wait", "wait", "end completed"]);
    let output = workshop.spool(&["log", "--json"]);
    let journal = json_lines(&String::from_utf8(output.stdout).expect("a journal"));
    let events: Vec<_> =
        journal.iter().map(|entry| entry["event"].as_str().unwrap_or("")).collect();
    assert_eq!(events, ["armed", "stop", "paused", "stop", "stop", "resumed", "stop"]);
}

fn paused_feature_goes_on_asked(version: &str) {
    let workshop = Arc::new(Workshop::with_tasks(3));
    let (worker, terminal) = (workshop.worker(), Arc::clone(&workshop));
    let model = ScriptedModel::start(move |asked| {
        if asked.number == 3 {
            let output = terminal.spool(&["pause"]);
            assert!(output.status.success(), "{output:?}");
        }
        worker.one_task_then_stop(asked)
    });
    let client = workshop.client(version, &model);
    let first = client.clone().session(SESSION).succeeds("/speckit:implement");
    assert_eq!(model.main_requests().len(), 4, "{}", first.describe());
    assert_eq!(workshop.status()["loop"]["state"], "paused");
    assert!(workshop.spool(&["resume"]).status.success());
    assert_eq!(workshop.status()["loop"]["state"], "live");
    client.resume(SESSION).succeeds("Go on.");
    workshop.assert_all_done(3);
    assert_eq!(workshop.verdicts(), ["continue", "wait", "end completed"]);
    assert_eq!(model.complaints(), [""; 0]);
}

fn terminal_cancel_ends_mid_turn(version: &str) {
    let workshop = Arc::new(Workshop::with_tasks(1));
    let model = agent(&workshop, 3, &["cancel"]);
    let client = workshop.client(version, &model);
    let run = client.clone().session(SESSION).succeeds("/speckit:ralph-loop \"Make it\"");
    assert_eq!(model.main_requests().len(), 4, "{}", run.describe());
    assert_eq!(run.hook_feedbacks().len(), 1, "{}", run.describe());
    let later = client.resume(SESSION).run("One more thing.").expect("a run");
    assert_eq!(later.hook_feedbacks(), [""; 0], "{}", later.describe());
    assert_eq!(workshop.verdicts(), ["continue", "end cancelled"]);
    assert_eq!(model.complaints(), [""; 0]);
}
