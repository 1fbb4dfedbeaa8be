//! Whether `spool status` sees what becomes of a session: its work while it runs, and its end when the terminal is closed.

use crate::screen::{Terminal, start, tmux_is_there, type_the_loop, wait_until};
use crate::support::on_every_client;
use crate::workshop::Workshop;
use scripted_model::{Reply, ScriptedModel};
use serde_json::{Value, json};
use std::process::Command;

on_every_client! {
    night night a_closed_terminal_is_seen
    gate night a_killed_client_is_seen
    night night permission_prompt_is_shown
}

/// What the report has of the only loop.
fn live(workshop: &Workshop) -> Value {
    let report = workshop.spool(&["status", "--json"]);
    let report: Value = serde_json::from_slice(&report.stdout).expect("a report");
    report["tasks"][0].clone()
}

/// An agent that has called one tool and now thinks, on a terminal.
fn thinking(workshop: &Workshop, version: &str, then: impl FnOnce(&Terminal)) {
    let work = json!({"command": "date > work", "description": "work"});
    let model = ScriptedModel::playing(vec![Reply::tool("Bash", work), Reply::silence()]);
    let terminal = start(workshop, &workshop.client(version, &model));
    type_the_loop(&terminal);
    model.wait_for_main_request(2);
    wait_until("the tool call", || live(workshop)["turn"]["tool_calls"] == 1);
    let before = live(workshop);
    assert_eq!(before["state"], "live", "{before}");
    assert!(before["process"].is_u64(), "{before}");
    assert_ne!(before["session_state"], "unknown", "{before}");
    then(&terminal);
    wait_until("the session is gone", || live(workshop)["state"] == "orphaned");
    assert_eq!(live(workshop)["session_state"], "gone");
    let text = String::from_utf8(workshop.spool(&["status"]).stdout).expect("a report");
    assert!(text.contains("Loop: live, but its session is gone\n"), "{text}");
    assert!(text.contains("  Next: claude --resume ") && !text.contains("continue it"), "{text}");
}

fn a_closed_terminal_is_seen(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(1);
    thinking(&workshop, version, |terminal| {
        let output = terminal.tmux().arg("kill-server").output().expect("tmux");
        assert!(output.status.success(), "{output:?}");
    });
}

fn a_killed_client_is_seen(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(1);
    thinking(&workshop, version, |_| {
        let process = live(&workshop)["process"].to_string();
        let output = Command::new("kill").args(["-KILL", &process]).output().expect("kill");
        assert!(output.status.success(), "{output:?}");
    });
}

fn permission_prompt_is_shown(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(1);
    let touch = json!({"command": "touch allowed", "description": "needs a person"});
    let model = ScriptedModel::playing(vec![
        Reply::tool("Bash", touch),
        Reply::text("<promise>DONE</promise>"),
    ]);
    let asks = json!({"permissions": {"ask": ["Bash(touch:*)"]}}).to_string();
    let client = workshop.client(version, &model);
    let client = client.settings(&workshop.project.write("settings.json", &asks));
    let terminal = start(&workshop, &client);
    type_the_loop(&terminal);
    terminal.wait_for("Do you want to proceed?");
    wait_until("the prompt in the report", || live(&workshop)["session_state"] == "waits");
    let waits = live(&workshop)["waits_for"].clone();
    assert_eq!(waits, json!(["your answer in its terminal (permission prompt)"]));
    terminal.answer("Do you want to proceed?", &model);
    terminal.wait_for("PROMISE_ACCEPTED");
}
