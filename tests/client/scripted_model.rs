//! What the scripted model and the headless runs show of the real Claude Code.

use crate::headless::{Heard, heard};
use crate::support::{Project, client, json_lines, on_every_client, wait_until_gone};
use ralph_speckit::world::pause;
use scripted_model::{Reply, ScriptedModel};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

on_every_client! {
    night night answer_without_tools_ends
    night night tool_call_writes_a_file
    night night blocking_hook_sends_back_once
    night night client_overrides_endless_blocks
    night night tool_calls_prevent_overrides
    night night blocked_command_costs_nothing
    night night plugin_hook_tells_both
    night night service_error_ends_without_stop
    night night resumed_session_keeps_its_id
    night night subagent_asks_by_own_name
    night night compaction_makes_session_hook_speak
    night night broken_run_leaves_nothing
}

fn answer_without_tools_ends(version: &str) {
    let project = Project::new();
    let model = ScriptedModel::playing(vec![Reply::text("All is said.")]);
    let run = client(version, &project, &model).succeeds("hello");
    assert_eq!(run.final_text(), "All is said.");
    assert_eq!(run.texts(), ["All is said."]);
    assert_eq!(run.block_cap(), None);
    assert!(run.session_id().is_some());
    assert!(run.stray_lines.is_empty(), "{}", run.describe());
    assert_eq!(model.main_requests().len(), 1);
    assert!(model.main_requests()[0].first_text().contains("hello"));
    assert_eq!(model.complaints(), [""; 0]);
}

fn tool_call_writes_a_file(version: &str) {
    let project = Project::new();
    let file = project.path().join("note.txt");
    let write = Reply::text("I write.")
        .and_tool("Write", json!({"file_path": file, "content": "written\n"}));
    let model = ScriptedModel::playing(vec![write, Reply::text("Done.")]);
    let run = client(version, &project, &model).succeeds("write a note");
    assert_eq!(project.read("note.txt"), "written\n");
    assert_eq!(run.tool_calls().len(), 1);
    assert_eq!(model.main_requests().len(), 2);
    assert_eq!(model.main_requests()[1].tool_results().len(), 1, "{}", run.describe());
}

fn blocking_hook_sends_back_once(version: &str) {
    let project = Project::new();
    let settings = project.hook(
        "Stop",
        r#"cat >> inputs
[ -e blocked ] || { : > blocked; printf '%s' '{"decision":"block","reason":"One task\nis open","systemMessage":"going on"}'; }"#,
    );
    let model = ScriptedModel::start(|asked| {
        Reply::text(if asked.is_hook_feedback() { "Now done." } else { "Done." })
    });
    let run = client(version, &project, &model).settings(&settings).succeeds("work");
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

fn client_overrides_endless_blocks(version: &str) {
    let project = Project::new();
    let settings = project
        .hook("Stop", r#"cat > /dev/null; echo '{"decision":"block","reason":"never enough"}'"#);
    let model = ScriptedModel::playing(vec![Reply::text("Done.")]);
    let run = client(version, &project, &model).settings(&settings).succeeds("work");
    // Eight blocks hold; the ninth is overridden.
    assert_eq!(model.main_requests().len(), 9, "{}", run.describe());
    assert_eq!(run.hook_feedbacks().len(), 9, "{}", run.describe());
    assert!(run.block_cap().is_some(), "{}", run.describe());
}

fn tool_calls_prevent_overrides(version: &str) {
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
    let run = client(version, &project, &model).settings(&settings).succeeds("work");
    assert_eq!(run.hook_feedbacks().len(), 12);
    assert_eq!(project.read("work").lines().count(), 13);
    assert_eq!(run.block_cap(), None);
}

fn blocked_command_costs_nothing(version: &str) {
    let project = Project::new();
    let plugin = project.plugin(
        "demo",
        "start",
        "UserPromptExpansion",
        "demo:(start|other)",
        r#"cat > input; printf '%s' '{"decision":"block","reason":"No feature here\nmake one first"}'"#,
    );
    let model = ScriptedModel::playing(vec![Reply::text("never")]);
    let run =
        client(version, &project, &model).plugin(&plugin).succeeds("/demo:start --now\nplease");
    assert!(model.requests().is_empty(), "{}", run.describe());
    let notices = run.notices();
    assert_eq!(notices.len(), 1, "{}", run.describe());
    assert!(notices[0].contains("No feature here\nmake one first"), "{}", run.describe());
    let input: Value = serde_json::from_str(&project.read("input")).expect("the hook's input");
    assert_eq!(input["command_name"], "demo:start");
    assert_eq!(input["command_args"], "--now\nplease");
}

fn plugin_hook_tells_both(version: &str) {
    let project = Project::new();
    let answer = json!({
        "systemMessage": "The loop is armed",
        "hookSpecificOutput": {"hookEventName": "UserPromptExpansion", "additionalContext": "ARMED: two tasks"},
    });
    let script = format!("cat > /dev/null; printf '%s' '{answer}'");
    let plugin = project.plugin("demo", "start", "UserPromptExpansion", "demo:start", &script);
    let model = ScriptedModel::playing(vec![Reply::text("I see.")]);
    let run = client(version, &project, &model).plugin(&plugin).succeeds("/demo:start");
    assert_eq!(run.system_messages("UserPromptExpansion"), ["The loop is armed"]);
    let requests = model.main_requests();
    assert_eq!(requests.len(), 1);
    assert!(requests[0].body["messages"].to_string().contains("ARMED: two tasks"));
    assert!(requests[0].last_text().contains("The body of start"));
}

fn service_error_ends_without_stop(version: &str) {
    let project = Project::new();
    let settings = project.hook("Stop", "cat > stopped");
    let failure = Reply::error(403, "permission_error", "not for you");
    let model = ScriptedModel::playing(vec![failure]);
    let run = client(version, &project, &model).settings(&settings).run("work").expect("a run");
    assert!(!run.is_success());
    assert_eq!(run.exit_code, Some(1), "{}", run.describe());
    assert_eq!(run.result().expect("a result")["api_error_status"], 403);
    assert!(run.final_text().contains("not for you"), "{}", run.describe());
    assert_eq!(project.read("stopped"), "");
}

fn resumed_session_keeps_its_id(version: &str) {
    let project = Project::new();
    let settings = project
        .hook("Stop", r#"cat > /dev/null; printf '%s' '{"systemMessage":"one turn is over"}'"#);
    let model = ScriptedModel::playing(vec![Reply::text("First."), Reply::text("Second.")]);
    let session = "11111111-2222-4333-8444-555555555555";
    let client = client(version, &project, &model).settings(&settings);
    let first = client.clone().session(session).run("begin").expect("a run");
    assert_eq!(first.session_id(), Some(session), "{}", first.describe());
    let second = client.resume(session).succeeds("go on");
    assert_eq!(second.session_id(), Some(session), "{}", second.describe());
    // Each run tells only of itself, although both write to one transcript.
    assert_eq!(first.system_messages("Stop").len(), 1);
    assert_eq!(second.system_messages("Stop").len(), 1);
    assert!(model.main_requests()[1].body["messages"].to_string().contains("First."));
}

fn subagent_asks_by_own_name(version: &str) {
    let project = Project::new();
    let model = ScriptedModel::start(|asked| {
        if asked.is_subagent() {
            return Reply::text("The subagent has spoken.");
        }
        if asked.number > 1 {
            return Reply::text("All done.");
        }
        let input = json!({
            "description": "speak", "prompt": "Speak.", "subagent_type": "general-purpose", "run_in_background": false,
        });
        Reply::tool("Task", input)
    });
    let run = client(version, &project, &model).succeeds("delegate");
    let subagent = model.subagent_requests();
    assert_eq!(subagent.len(), 1, "{}", run.describe());
    assert!(subagent[0].first_text().contains("Speak."));
    assert!(
        model.main_requests()[1].tool_results()[0].contains("The subagent has spoken."),
        "{}",
        run.describe()
    );
    // What a subagent says is never taken for the agent's own words.
    assert!(!run.texts().contains(&"The subagent has spoken.".to_owned()), "{}", run.describe());
}

fn compaction_makes_session_hook_speak(version: &str) {
    let project = Project::new();
    let script = r#"source=$(sed 's/.*"source":"\([a-z]*\)".*/\1/')
printf '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"REMEMBER after %s"}}' "$source""#;
    let settings = project.hook("SessionStart", script);
    let model = ScriptedModel::start(|asked| {
        if asked.number > 3 {
            return Reply::text("Done.");
        }
        Reply::tool("Bash", json!({"command": "echo work", "description": "work"}))
            .input_tokens(950_000)
    });
    let run = client(version, &project, &model)
        .settings(&settings)
        .variable("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000")
        .succeeds("work");
    assert!(model.requests().iter().any(|asked| asked.is_compaction()), "{}", run.describe());
    let last = model.main_requests().pop().expect("a request");
    assert!(
        last.body["messages"].to_string().contains("REMEMBER after compact"),
        "{}",
        run.describe()
    );
    assert!(
        !last.body["messages"].to_string().contains("REMEMBER after startup"),
        "{}",
        run.describe()
    );
}

fn broken_run_leaves_nothing(version: &str) {
    let project = Project::new();
    let command = "echo $$ > pid.part; mv pid.part pid; exec sleep 1000";
    let model = ScriptedModel::playing(vec![Reply::tool(
        "Bash",
        json!({"command": command, "description": "sleep"}),
    )]);
    let client = client(version, &project, &model);
    let broken_off = catch_unwind(AssertUnwindSafe(|| {
        client.run_watched("sleep", &mut |line| {
            if heard(line).iter().any(|heard| matches!(heard, Heard::Calls { .. })) {
                while project.read("pid").is_empty() {
                    pause(Duration::from_millis(20));
                }
                panic!("this test breaks the run off");
            }
        })
    }));
    assert!(broken_off.is_err());
    wait_until_gone(project.read("pid").trim());
}
