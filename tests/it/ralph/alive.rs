//! Whether the session of a loop is still there: its client's process says so at once, and what cannot be seen is not gone.

use super::adopt::silent_for;
use super::cli::{printed, spool};
use crate::hook::outcome::Outcome;
use crate::hook::support::{Bench, Call};
use crate::support::has::Has;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

/// What a session of this client shows on the disk: its transcript, and its place in the client's list.
struct SessionClient<'a> {
    bench: &'a Bench,
    process: Child,
}

impl<'a> SessionClient<'a> {
    /// A client that has session `s1`.
    fn of(bench: &'a Bench) -> Self {
        let process = Command::new("sleep").arg("1000").spawn().unwrap();
        let client = Self { bench, process };
        fs::create_dir_all(client.transcript().parent().unwrap()).unwrap();
        fs::write(client.transcript(), "").unwrap();
        client.lists(json!({"sessionId": "s1", "status": "busy"}));
        client
    }

    fn transcript(&self) -> PathBuf {
        self.bench.outside().join("projects/-some-project/s1.jsonl")
    }

    fn list(&self) -> PathBuf {
        self.bench.outside().join(format!("sessions/{}.json", self.process.id()))
    }

    /// What it writes of itself, with these fields.
    fn lists(&self, mut fields: Value) {
        fields["pid"] = self.process.id().into();
        fs::create_dir_all(self.list().parent().unwrap()).unwrap();
        fs::write(self.list(), fields.to_string()).unwrap();
    }

    fn event<'b>(&self, call: Call<'b>) -> Call<'b> {
        call.with("transcript_path", self.transcript().to_str().unwrap())
    }

    fn arms(&self) -> Outcome {
        self.event(self.bench.command("s1", "speckit:ralph-loop", "\"Make it\"")).run()
    }

    fn calls_a_tool(&self) {
        let other = self.bench.transcript("other").tool("Edit");
        let line = fs::read(&other.path).unwrap();
        let text = [fs::read(self.transcript()).unwrap(), line].concat();
        fs::write(self.transcript(), text).unwrap();
    }

    fn dies(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for SessionClient<'_> {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A minute passed since anything was heard of the session.
fn a_minute_later(bench: &Bench) {
    silent_for(bench, "s1", 60_000);
    let path = bench.path(".claude/ralph/s1/client");
    if let Ok(text) = fs::read_to_string(&path) {
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        words[2] = (words[2].parse::<u64>().unwrap() - 60_000).to_string();
        fs::write(path, words.join(" ")).unwrap();
    }
    let transcript = bench.outside().join("projects/-some-project/s1.jsonl");
    crate::hook::support::date(&transcript, -60);
}

fn live(bench: &Bench) -> Value {
    let report = printed(&spool(bench, None, &["status", "--json"]));
    let report: Value = serde_json::from_str(&report).unwrap();
    let task = &report["tasks"][0];
    json!([task["state"], task["session_state"]])
}

#[test]
fn ended_client_leaves_its_loop() {
    for is_killed in [false, true] {
        let bench = Bench::folder();
        let mut client = SessionClient::of(&bench);
        client.arms().context();
        assert_eq!(live(&bench), json!(["live", "works"]));
        client.dies();
        if !is_killed {
            fs::remove_file(client.list()).unwrap();
        }
        a_minute_later(&bench);
        assert_eq!(live(&bench), json!(["orphaned", "gone"]), "killed: {is_killed}");
        let status = printed(&spool(&bench, None, &["status"]));
        for words in [
            "Loop: live, but its session is gone\n",
            "/speckit:ralph-loop --adopt s1\n",
            "spool stop --session s1\n",
            "Next: claude --resume s1\n",
        ] {
            assert_eq!(status.matches(words).count(), 1, "{words}\n{status}");
        }
        let taken = bench.command("s2", "speckit:ralph-loop", "--adopt").run();
        assert!(taken.message().contains("taken over from session s1"), "{taken}");
    }
}

#[test]
fn pause_of_gone_session_ends_first() {
    let bench = Bench::folder();
    let mut client = SessionClient::of(&bench);
    client.arms().context();
    printed(&spool(&bench, None, &["pause"]));
    client.dies();
    a_minute_later(&bench);
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(
        status.ends_with("\n  Next: spool resume --session s1, then claude --resume s1\n"),
        "{status}"
    );
    let refused = bench.command("s2", "speckit:ralph-loop", "--adopt s1").run();
    let words = "the loop of session s1 is paused\ncontinue it with `spool resume --session s1`";
    assert!(refused.reason().contains(words), "{refused}");
    let resumed = printed(&spool(&bench, None, &["resume"]));
    assert!(resumed.ends_with("\nIts session is gone: claude --resume s1\n"), "{resumed}");
    let paused = printed(&spool(&bench, None, &["pause"]));
    assert!(paused.contains("\nIts session is gone: claude --resume s1\n"), "{paused}");
    let taken = bench.command("s2", "speckit:ralph-loop", "--adopt s1 --force").run();
    assert!(taken.message().contains("taken over from session s1"), "{taken}");
}

#[test]
fn idle_session_needs_a_prompt() {
    let bench = Bench::ready();
    let client = SessionClient::of(&bench);
    client.event(bench.command("s1", "speckit:implement", "")).run().context();
    client.lists(json!({"sessionId": "s1", "status": "idle"}));
    let next = || {
        let status = printed(&spool(&bench, None, &["status"]));
        status.lines().last().unwrap_or_default().trim().to_owned()
    };
    let task = json!([{"id": "a", "type": "subagent", "status": "running", "description": "x"}]);
    client.event(bench.stop("s1").with("background_tasks", task)).run();
    assert!(next().starts_with("Next: nothing"), "its work wakes the session: {}", next());
    // Nothing else that a loop waits for does.
    bench.set_state("awaitingApproval", true);
    client.event(bench.stop("s1")).run();
    assert!(next().starts_with("Next: type a prompt in its session"), "{}", next());
}

#[test]
fn unseen_session_is_not_gone() {
    // Nothing was noted: an older program armed it.
    let bench = Bench::folder();
    let mut client = SessionClient::of(&bench);
    client.arms().context();
    client.dies();
    fs::remove_file(bench.path(".claude/ralph/s1/client")).unwrap();
    fs::remove_file(client.list()).unwrap();
    a_minute_later(&bench);
    assert_eq!(live(&bench), json!(["live", "unknown"]));

    // It runs in a container that shares the folder, where process ids mean something else.
    for fields in [json!({"sessionId": "s1", "pidDomain": "linux:other"}), json!({})] {
        let bench = Bench::folder();
        let mut client = SessionClient::of(&bench);
        client.arms().context();
        client.dies();
        client.lists(fields);
        let path = bench.path(".claude/ralph/s1/client");
        let noted = fs::read_to_string(&path).unwrap();
        fs::write(&path, noted.replace(":pid:[", ":pid:[9")).unwrap();
        a_minute_later(&bench);
        assert_eq!(live(&bench), json!(["live", "unknown"]));
        let refused = bench.command("s2", "speckit:ralph-loop", "--adopt s1").run();
        assert!(refused.reason().contains("after an hour of silence"), "{refused}");
    }

    // What has just been heard of is not gone, whatever became of its process.
    let bench = Bench::folder();
    let mut client = SessionClient::of(&bench);
    client.arms().context();
    client.dies();
    assert_eq!(live(&bench), json!(["live", "unknown"]));
}

#[test]
fn client_with_new_session_left() {
    let bench = Bench::folder();
    let client = SessionClient::of(&bench);
    client.arms().context();
    client.lists(json!({"sessionId": "s9", "status": "busy"}));
    a_minute_later(&bench);
    assert_eq!(live(&bench), json!(["orphaned", "gone"]));
    // It came back, or another client has it.
    client.lists(json!({"sessionId": "s1", "status": "idle"}));
    assert_eq!(live(&bench), json!(["live", "idle"]));
}

#[test]
fn status_shows_work_before_stop() {
    let bench = Bench::folder();
    let client = SessionClient::of(&bench);
    client.arms().context();
    let status = || printed(&spool(&bench, None, &["status"]));
    assert!(status().contains("Iteration: 1 of 50 (no tool call yet)"), "{}", status());
    client.calls_a_tool();
    client
        .lists(json!({"sessionId": "s1", "status": "waiting", "waitingFor": "permission prompt"}));
    let status = status();
    status.has_all(&[
        "Sign of life: ",
        "; its session waits for you\n",
        "Iteration: 1 of 50 (so far 1 tool call",
        "Waiting: for your answer in its terminal (permission prompt)\n",
        "Armed: ",
        "Next: answer in its terminal\n",
    ]);
    let report = printed(&spool(&bench, None, &["status", "--json"]));
    let report: Value = serde_json::from_str(&report).unwrap();
    crate::support::schema::holds("status", &report);
    let live = &report["tasks"][0];
    assert_eq!(live["turn"]["tool_calls"], 1, "{live}");
    assert_eq!(live["process"], client.process.id(), "{live}");
    assert!(live["armed_at"].as_str().unwrap().contains('T'), "{live}");
    assert_eq!(live["waits_for"], json!(["your answer in its terminal (permission prompt)"]));
}

#[test]
fn returned_session_is_noted() {
    let bench = Bench::ready();
    let mut client = SessionClient::of(&bench);
    client.event(bench.command("s1", "speckit:implement", "")).run().context();
    let noted = || fs::read_to_string(bench.path(".claude/ralph/s1/client")).ok();
    let first = noted().unwrap();
    client.dies();
    fs::remove_file(client.list()).unwrap();
    let resumed = |client: &SessionClient<'_>| {
        client.event(bench.event("SessionStart", "s1").with("source", "resume")).run();
    };
    resumed(&client);
    assert_eq!(noted(), None, "nobody knows which process has it");
    let again = SessionClient::of(&bench);
    resumed(&again);
    assert_ne!(noted().unwrap(), first);
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(status.contains("Now: T00") && status.contains("its session is at work"), "{status}");
}

#[test]
fn list_and_state_troubles_show() {
    let bench = Bench::in_execution();
    let status = || printed(&spool(&bench, None, &["status"]));
    assert!(!status().contains("Problem"), "{}", status());
    fs::write(bench.state_path(), "{").unwrap();
    status().has("Problem: `.specify/specs/001-login/.speckit-state.json` cannot be read: ");
    fs::remove_file(bench.state_path()).unwrap();
    fs::remove_file(bench.feature_path("tasks.md")).unwrap();
    status().has("Problem: `.specify/specs/001-login/tasks.md` is missing\n");
}
