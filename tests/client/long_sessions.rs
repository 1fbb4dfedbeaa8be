//! What happens to a loop in a long session: the conversation is compacted, resumed, and the agent wanders.

use crate::support::on_every_client;
use crate::workshop::{FEATURE, Worker, Workshop};
use scripted_model::{Reply, ScriptedModel};
use serde_json::{Value, json};

on_every_client! {
    gate night compaction_loses_nothing
    night night wandering_agent_keeps_its_loop
}

fn compaction_loses_nothing(version: &str) {
    let workshop = Workshop::with_tasks(6);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| {
        let reply = worker.one_task_then_stop(asked);
        // By its own count of tokens the client finds the conversation too long here.
        if asked.number == 5 { reply.input_tokens(950_000) } else { reply }
    });
    let client = workshop.client(version, &model);
    let client = client.variable("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000");
    let run = client.succeeds("/speckit:implement");
    assert!(model.requests().iter().any(|asked| asked.is_compaction()), "{}", run.describe());
    workshop.assert_all_done(6);

    // What was said is gone, and the client calls the command's body something of the past: the first request after the
    // compaction tells the agent what it is doing.
    let reminder = format!("a loop is armed in this session: feature {FEATURE}, task ");
    let is_told = |body: &Value| body.to_string().contains(&reminder);
    let requests = model.main_requests();
    let first = requests.iter().position(|asked| is_told(&asked.body["messages"]));
    assert_eq!(first, Some(5), "{}", run.describe());
    let opening = requests[5].first_text();
    assert!(opening.contains("The scripted summary."), "the summary is missing: {opening}");

    let mut verdicts = workshop.verdicts();
    assert_eq!(verdicts.pop().as_deref(), Some("end completed"), "{verdicts:?}");
    // 2.1.143 keeps no tool result over a compaction, and the agent makes one stop less.
    assert!(verdicts.len() >= 4, "{verdicts:?}");
    assert!(verdicts.iter().all(|verdict| verdict == "continue"), "{verdicts:?}");
    let status = workshop.status();
    assert_eq!(status["loop"]["session"].as_str(), run.session_id(), "{status}");
    assert_eq!(model.complaints(), [""; 0]);
}

fn wandering_agent_keeps_its_loop(version: &str) {
    let workshop = Workshop::with_tasks(3);
    workshop.project.write("inner/.specify/.current-feature", "002-inner\n");
    let list = "- [x] T001 All that there was\n";
    workshop.project.write("inner/.specify/specs/002-inner/tasks.md", list);
    let worker = workshop.worker();
    let root = workshop.project.path().to_owned();
    let model = ScriptedModel::start(move |asked| match worker.next_task() {
        None => Reply::text("Done.\n\nALL_TASKS_COMPLETE"),
        Some(_) if !asked.tool_results().is_empty() => Reply::text("That is one."),
        Some(id) => {
            let command = Worker::command_for(&id);
            // The shell keeps its folder from one call to the next, and the hook is called there.
            let command = format!("cd '{}' && {command} && cd inner", root.display());
            Reply::tool("Bash", json!({"command": command, "description": "work and wander"}))
        }
    });
    let plugin = workshop.recording_plugin();
    let client = crate::support::client(version, &workshop.project, &model).plugin(&plugin);
    client.succeeds("/speckit:implement");
    workshop.assert_all_done(3);
    assert_eq!(workshop.verdicts(), ["continue", "continue", "end completed"]);
    let stops: Vec<_> =
        workshop.recorded().into_iter().filter(|call| call.event == "Stop").collect();
    assert_eq!(stops.len(), 3, "{stops:?}");
    assert!(stops.iter().all(|stop| stop.folder.ends_with("/inner")), "{stops:?}");
    assert!(!workshop.project.path().join("inner/.claude").exists());
}
