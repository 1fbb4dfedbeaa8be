//! `/ralph-loop` without the plugin's prefix in the real client: ours arms the loop, a person's own is theirs.

use crate::headless::Client;
use crate::ralph::assert_repeats;
use crate::support::{Project, client, on_every_client, program};
use crate::workshop::assembled_plugin;
use ralph_speckit::plugin::user_commands;
use scripted_model::{Reply, ScriptedModel};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

on_every_client! {
    night night setup_command_passes_the_task
    night night personal_command_stays_untouched
}

/// Where a person's own command may lie.
type Place = fn(&Client, &Path) -> PathBuf;

const TASK: &str =
    "Say \"it's $(touch pwned)\" and `touch pwned`\n---\nkey: 'value' -- $& \\1 \u{1f600}";

fn spool_setup(version: &str, client: &Client, arguments: &[&str]) {
    let claude = program(version);
    fs::create_dir_all(client.config_folder()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_spool"))
        .args(["setup", "--claude"])
        .arg(&claude)
        .args(arguments)
        .current_dir(client.home_folder())
        .env_clear()
        .env("HOME", client.home_folder())
        .env("CLAUDE_CONFIG_DIR", client.config_folder())
        .env("PATH", "/usr/bin:/bin")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn setup_command_passes_the_task(version: &str) {
    let project = Project::new();
    let work = json!({"command": "echo work >> work", "description": "work"});
    let model = ScriptedModel::playing(vec![
        Reply::tool("Bash", work.clone()),
        Reply::text("That is a part."),
        Reply::tool("Bash", work),
        Reply::text("<promise>DONE</promise>"),
    ]);
    let client = client(version, &project, &model);
    spool_setup(version, &client, &["--user-commands"]);
    let run = client.succeeds(&format!("/ralph-loop \"{TASK}\" --max-iterations 9"));
    let first = model.main_requests()[0].body.to_string();
    let escaped = json!(format!("Task:\n{TASK}\n\nThe rules are strict")).to_string();
    assert!(first.contains(escaped.trim_matches('"')), "{first}");
    assert!(first.contains("Work on one task until it is really done"), "{first}");
    let feedbacks = run.hook_feedbacks();
    assert_eq!(feedbacks.len(), 1, "{}", run.describe());
    assert_repeats(&feedbacks[0], TASK);
    assert!(!project.path().join("pwned").exists());
    assert_eq!(project.read("work").lines().count(), 2);

    let told = client.run("/cancel-ralph").expect("a run");
    assert!(told.describe().contains("nothing to cancel"), "{}", told.describe());
    spool_setup(version, &client, &["--remove"]);
    assert!(!client.config_folder().join("commands").exists());
}

fn personal_command_stays_untouched(version: &str) {
    let own = "---\ndescription: my own loop\n---\nThe body of my own: $ARGUMENTS\n";
    let places: [Place; 4] = [
        |client, _| client.config_folder().join("commands/ralph-loop.md"),
        |_, project| project.join(".claude/commands/ralph-loop.md"),
        |client, _| client.config_folder().join("skills/ralph-loop/SKILL.md"),
        |_, project| project.join(".claude/skills/ralph-loop/SKILL.md"),
    ];
    for (number, place) in places.iter().enumerate() {
        let project = Project::new();
        let model = ScriptedModel::playing(vec![Reply::text("I have looked.")]);
        let client = client(version, &project, &model).plugin(assembled_plugin());
        let path = place(&client, project.path());
        // A skill goes before a command: ours may be there, and it is theirs that is called.
        if number >= 2 {
            user_commands::write(&client.config_folder()).expect("our commands");
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, own).unwrap();
        let run = client.succeeds("/ralph-loop \"Make it\"");
        let asked = model.main_requests()[0].body.to_string();
        assert!(asked.contains("The body of my own: \\\"Make it\\\""), "{number}: {asked}");
        assert!(!asked.contains("ralph-speckit"), "{number}: {asked}");
        assert_eq!(model.main_requests().len(), 1, "{}", run.describe());
        assert!(!project.path().join(".claude/ralph").exists(), "{number}: nothing is armed");
    }
}
