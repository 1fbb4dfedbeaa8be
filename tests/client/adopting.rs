//! A loop that a session left behind, taken over in the real client.

use crate::headless::Client;
use crate::screen::{transcript_has, wait_until};
use crate::support::{Project, client, json_lines, on_every_client};
use crate::workshop::assembled_plugin;
use ralph_speckit::world;
use scripted_model::{Reply, ScriptedModel};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

on_every_client! {
    night night left_loop_moves_on
    night night agent_adopts_a_loop
}

const OLD: &str = "11111111-2222-4333-8444-555555555555";
const NEW: &str = "66666666-7777-4888-8999-aaaaaaaaaaaa";
const HOURS: u64 = 2 * 60 * 60;

fn shell(command: &str) -> Reply {
    Reply::text("I work.").and_tool("Bash", json!({"command": command, "description": "work"}))
}

fn record_path(client: &Client, session: &str) -> PathBuf {
    let kept = client.home_folder().join(".local/state/ralph-speckit/projects");
    let folder = fs::read_dir(kept).unwrap().next().unwrap().unwrap().path();
    folder.join(format!("session-{session}.json"))
}

fn record(client: &Client, session: &str) -> Value {
    serde_json::from_slice(&fs::read(record_path(client, session)).unwrap()).unwrap()
}

/// Dates everything that the old session left two hours back, what was pinned for it too.
fn let_time_pass(client: &Client) {
    let mut left = record(client, OLD);
    for field in ["armed_at", "seen_at"] {
        left[field] = (left[field].as_u64().unwrap() - 1000 * HOURS).into();
    }
    let transcript = left["transcript"].as_str().unwrap().to_owned();
    assert!(transcript.ends_with(&format!("{OLD}.jsonl")), "{transcript}");
    fs::write(record_path(client, OLD), left.to_string()).unwrap();
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(world::now().millis());
    let file = fs::File::options().append(true).open(transcript).unwrap();
    file.set_modified(now - Duration::from_secs(HOURS)).unwrap();
}

fn verdicts(project: &Project) -> Vec<String> {
    let spool = Command::new(env!("CARGO_BIN_EXE_spool"))
        .args(["log", "--json"])
        .current_dir(project.path())
        .env_clear()
        .output()
        .expect("spool");
    let entries = json_lines(&String::from_utf8(spool.stdout).expect("a journal"));
    let words = |entry: Value| {
        let session: String = entry["session"].as_str().unwrap().chars().take(1).collect();
        let what = match entry["verdict"].as_str() {
            None => entry["event"].as_str().unwrap().to_owned(),
            Some(verdict) => format!("{verdict} {}", entry["reason"].as_str().unwrap_or_default()),
        };
        format!("{session} {}", what.trim())
    };
    // Headless, 2.1.143 ends without waiting for the hook that notes a turn that broke off.
    let of_failure = |words: &String| {
        ["failure", "paused", "resumed"].iter().any(|ending| words.ends_with(ending))
    };
    entries.into_iter().map(words).filter(|words| !of_failure(words)).collect()
}

/// The client in whose home the service has ended a session in the second iteration of its loop.
fn left_behind(version: &str, project: &Project) -> Client {
    let config = Arc::new(OnceLock::<PathBuf>::new());
    let of_client = Arc::clone(&config);
    let model = ScriptedModel::start(move |asked| match asked.number {
        1 => shell("echo one >> lines"),
        2 => {
            // The transcript lags, a model that answers at once does not: what is not there cannot be counted.
            let config = of_client.get().expect("a client");
            wait_until("the transcript", || transcript_has(config, r#""type":"tool_use""#));
            Reply::text("That is one.")
        }
        _ => Reply::error(400, "invalid_request_error", "the service is out of order"),
    });
    let client = client(version, project, &model).plugin(assembled_plugin());
    config.set(client.config_folder()).expect("the first time");
    let run = client
        .clone()
        .session(OLD)
        .run("/speckit:ralph-loop --min-tool-calls 2 \"Write two lines\"");
    let run = run.expect("a run");
    assert_eq!(run.exit_code, Some(1), "{}", run.describe());
    assert_eq!(project.read("lines"), "one\n");
    let_time_pass(&client);
    client
}

/// The same client with another model.
fn asking(client: &Client, model: &ScriptedModel) -> Client {
    client.clone().variable("ANTHROPIC_BASE_URL", model.url())
}

fn left_loop_moves_on(version: &str) {
    let project = Project::new();
    let client = left_behind(version, &project);
    let model = ScriptedModel::playing(vec![
        Reply::text("<promise>DONE</promise>"),
        Reply::text("I stop here."),
        shell("echo two >> lines"),
        Reply::text("<promise>DONE</promise>"),
    ]);
    // One call of two is behind the loop already: what is asked for is still there in the new session.
    let run = asking(&client, &model).session(NEW).succeeds("/speckit:ralph-loop --adopt");
    let asked = model.main_requests()[0].body.to_string();
    for words in ["Task:\\nWrite two lines", "taken over from session 11111111-", "at iteration 1"]
    {
        assert!(asked.contains(words), "{words}: {asked}");
    }
    let feedbacks = run.hook_feedbacks();
    assert_eq!(feedbacks.len(), 2, "{}", run.describe());
    assert!(feedbacks[0].contains("only 1 tool call of 2 were performed"), "{}", feedbacks[0]);
    assert_eq!(project.read("lines"), "one\ntwo\n");
    assert_eq!(
        verdicts(&project),
        [
            "1 armed",
            "1 continue",
            "1 end stopped",
            "6 adopted",
            "6 continue",
            "6 continue",
            "6 end completed"
        ]
    );
    let tombstone = record(&client, OLD);
    assert_eq!(tombstone["moved_to"], NEW);

    // The old session comes back all the same: it is told once, and let go.
    let model = ScriptedModel::playing(vec![Reply::text("Where was I?")]);
    let late = asking(&client, &model).resume(OLD).succeeds("Go on.");
    assert_eq!(late.hook_feedbacks(), [""; 0], "{}", late.describe());
    assert_eq!(record(&client, OLD)["untold"], false);
}

fn agent_adopts_a_loop(version: &str) {
    let project = Project::new();
    let client = left_behind(version, &project);
    let model = ScriptedModel::playing(vec![
        shell("true"),
        shell("spool adopt"),
        Reply::text("I have it."),
        shell("echo two >> lines"),
        Reply::text("<promise>DONE</promise>"),
    ]);
    let run = asking(&client, &model).session(NEW);
    let run = run.succeeds("Go on with the loop that was left behind.");
    let told = model.main_requests()[2].body.to_string();
    assert!(told.contains("Loop taken over from session 11111111-"), "{told}");
    assert!(told.contains("output <promise>DONE</promise>"), "{told}");
    assert_eq!(run.hook_feedbacks().len(), 1, "{}", run.describe());
    assert_eq!(project.read("lines"), "one\ntwo\n");
    let taken = record(&client, NEW);
    assert!(taken["transcript_from"].as_u64().unwrap() > 0, "the transcript was found: {taken}");
    assert_eq!(taken["ledger"]["ended"]["reason"], "completed");
}
