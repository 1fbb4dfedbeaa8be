//! The rehearsal itself: what the scripted model and the client runner show of the real Claude Code.

use crate::support::{Project, client, json_lines, on_every_client};
use ralph_speckit::rehearsal::{Reply, ScriptedModel};
use serde_json::json;

on_every_client! {
    an_answer_without_tools_ends_the_turn
    a_tool_call_really_writes_a_file
    a_blocking_stop_hook_sends_the_agent_back_once
    an_always_blocking_hook_is_overridden_by_the_client_itself
    a_tool_call_in_every_turn_keeps_the_client_from_overriding
}

fn an_answer_without_tools_ends_the_turn(version: &str) {
    let project = Project::new();
    let model = ScriptedModel::playing(vec![Reply::text("All is said.")]).expect("a model");
    let run = client(version, &project, &model)
        .run("hello")
        .expect("a run");
    assert!(run.is_success(), "{}", run.describe());
    assert_eq!(run.final_text(), "All is said.");
    assert_eq!(run.texts(), ["All is said."]);
    assert_eq!(run.block_cap(), None);
    assert!(run.session_id().is_some());
    assert!(run.stray_lines.is_empty(), "{}", run.describe());
    assert_eq!(model.main_requests().len(), 1);
    assert!(model.main_requests()[0].first_text().contains("hello"));
    assert_eq!(model.complaints(), [""; 0]);
}

fn a_tool_call_really_writes_a_file(version: &str) {
    let project = Project::new();
    let file = project.path().join("note.txt");
    let write = Reply::text("I write.")
        .and_tool("Write", json!({"file_path": file, "content": "written\n"}));
    let model = ScriptedModel::playing(vec![write, Reply::text("Done.")]).expect("a model");
    let run = client(version, &project, &model)
        .run("write a note")
        .expect("a run");
    assert!(run.is_success(), "{}", run.describe());
    assert_eq!(project.read("note.txt"), "written\n");
    assert_eq!(run.tool_calls().len(), 1);
    assert_eq!(model.main_requests().len(), 2);
    assert_eq!(
        model.main_requests()[1].tool_results().len(),
        1,
        "{}",
        run.describe()
    );
}

fn a_blocking_stop_hook_sends_the_agent_back_once(version: &str) {
    let project = Project::new();
    let settings = project.hook(
        "Stop",
        r#"cat >> inputs
[ -e blocked ] || { : > blocked; printf '%s' '{"decision":"block","reason":"One task\nis open","systemMessage":"going on"}'; }"#,
    );
    let model = ScriptedModel::start(|asked| {
        Reply::text(if asked.is_hook_feedback() {
            "Now done."
        } else {
            "Done."
        })
    });
    let model = model.expect("a model");
    let run = client(version, &project, &model)
        .settings(&settings)
        .run("work")
        .expect("a run");
    assert!(run.is_success(), "{}", run.describe());
    assert_eq!(run.hook_feedbacks(), ["One task\nis open"]);
    assert_eq!(run.system_messages("Stop"), ["going on"]);
    assert_eq!(run.final_text(), "Now done.");
    assert_eq!(run.block_cap(), None);
    let inputs = json_lines(&project.read("inputs"));
    assert_eq!(inputs.len(), 2);
    assert_eq!(inputs[0]["stop_hook_active"], false);
    assert_eq!(inputs[1]["stop_hook_active"], true);
    assert_eq!(inputs[1]["last_assistant_message"], "Now done.");
}

fn an_always_blocking_hook_is_overridden_by_the_client_itself(version: &str) {
    let project = Project::new();
    let settings = project.hook(
        "Stop",
        r#"cat > /dev/null; echo '{"decision":"block","reason":"never enough"}'"#,
    );
    let model = ScriptedModel::playing(vec![Reply::text("Done.")]).expect("a model");
    let run = client(version, &project, &model)
        .settings(&settings)
        .run("work")
        .expect("a run");
    assert!(run.is_success(), "{}", run.describe());
    // Eight blocks hold; the ninth is overridden.
    assert_eq!(model.main_requests().len(), 9, "{}", run.describe());
    assert_eq!(run.hook_feedbacks().len(), 9, "{}", run.describe());
    assert!(run.block_cap().is_some(), "{}", run.describe());
}

fn a_tool_call_in_every_turn_keeps_the_client_from_overriding(version: &str) {
    let project = Project::new();
    let settings = project.hook(
        "Stop",
        r#"cat > /dev/null; echo stop >> stops
[ "$(wc -l < stops)" -gt 12 ] || echo '{"decision":"block","reason":"once more"}'"#,
    );
    let model = ScriptedModel::start(|asked| {
        if asked.tool_results().is_empty() {
            return Reply::tool(
                "Bash",
                json!({"command": "echo work >> work", "description": "work"}),
            );
        }
        Reply::text("Done.")
    });
    let model = model.expect("a model");
    let run = client(version, &project, &model)
        .settings(&settings)
        .run("work")
        .expect("a run");
    assert!(run.is_success(), "{}", run.describe());
    assert_eq!(run.hook_feedbacks().len(), 12);
    assert_eq!(project.read("work").lines().count(), 13);
    assert_eq!(run.block_cap(), None);
}
