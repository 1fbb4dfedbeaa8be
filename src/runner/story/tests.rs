//! The recordings of the real programs as kept logs.

use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::forms::story::StepWord;
use crate::runner::harness::CallOutcome;
use crate::runner::state::{Iteration, make_state_folder};

const CHANGE: &str = "001-01_x";

/// A project with one iteration whose log is this.
fn project(harness: &str, log: &[u8], change: impl FnOnce(&mut Iteration)) -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    let folder = make_state_folder(&project.path().canonicalize().unwrap(), CHANGE).unwrap();
    fs::create_dir_all(folder.join("logs")).unwrap();
    fs::write(folder.join("logs/a-0001.log"), log).unwrap();
    fs::write(folder.join("logs/a-0001.prompt.md"), "Do it.\n").unwrap();
    let mut iteration = Iteration {
        n: 1,
        started: "2026-11-22T04:12:10.563+00:00".to_owned(),
        harness: harness.to_owned(),
        log: "logs/a-0001.log".to_owned(),
        ..Iteration::default()
    };
    change(&mut iteration);
    let past = Past { run_started_at: "2026-11-22T04:12:10.563+00:00".to_owned(), iteration };
    fs::write(folder.join("history.jsonl"), serde_json::to_string(&past).unwrap() + "\n").unwrap();
    project
}

fn story(project: &tempfile::TempDir, which: WhichIteration) -> Result<Story> {
    Story::of(&project.path().canonicalize().unwrap(), CHANGE, which)
}

fn recording(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams");
    fs::read(folder.join(format!("{name}.jsonl"))).unwrap()
}

fn seen(story: &Story) -> Vec<String> {
    let step = |step: &IterationStep| match (step.kind, &step.tool) {
        (StepWord::Called, Some(tool)) => format!("{:?} {tool} {}", step.outcome, step.words),
        (StepWord::Trouble, _) => "trouble".to_owned(),
        _ => format!("said {}", step.words),
    };
    story.steps.iter().map(step).collect()
}

#[test]
fn five_programs_tell_stories() {
    let said = |words: &str| format!("said {words}");
    let used = |tool: &str, outcome: Option<CallOutcome>| {
        format!("{outcome:?} {tool} echo hi > proof.txt; cat proof.txt")
    };
    let (done, denied) = (Some(CallOutcome::Done), Some(CallOutcome::Denied));
    let (first, last) = (said("I will write the file."), said("All done: wrote proof.txt."));
    let codex = "Some(Done) command_execution /bin/bash -lc 'echo hi > proof.txt; cat proof.txt'";
    for (name, was_denied, expected) in [
        ("claude", false, vec![first.clone(), used("Bash", done), last.clone()]),
        (
            "claude-denied",
            true,
            vec![first.clone(), used("Bash", denied), "trouble".to_owned(), last.clone()],
        ),
        ("codex", false, vec!["trouble".to_owned(), first.clone(), codex.to_owned(), last.clone()]),
        ("copilot", false, vec![first.clone(), used("bash", done), last.clone()]),
        ("gemini", false, vec![first.clone(), used("run_shell_command", done), last.clone()]),
        ("opencode", false, vec![first, used("bash", done), last]),
    ] {
        let harness = name.split('-').next().unwrap();
        let denied = |iteration: &mut Iteration| {
            iteration.denied.extend(was_denied.then(|| "Bash".to_owned()));
        };
        let project = project(harness, &recording(name), denied);
        let story = story(&project, WhichIteration::Number(1)).unwrap();
        assert_eq!(seen(&story), expected, "{name}");
        assert_eq!((story.log_problem.as_deref(), story.steps_left_out.get()), (None, 0), "{name}");
        assert_eq!(story.prompt.unwrap(), "Do it.\n");
    }
}

/// What an agent of the Agent Client Protocol prints in one turn; its session was loaded where `opened` is 2.
fn acp_log(opened: u8) -> Vec<u8> {
    let call = |id: &str, kind: &str| json!({"toolCallId": id, "kind": kind, "title": format!("{kind} it")});
    let update = |mut update: Value, kind: &str| {
        update["sessionUpdate"] = kind.into();
        json!({"method": "session/update", "params": {"sessionId": "s1", "update": update}})
    };
    let says = |words: &str| {
        update(json!({"content": {"type": "text", "text": words}}), "agent_message_chunk")
    };
    let ended = |id: &str, status: &str| {
        update(json!({"toolCallId": id, "status": status}), "tool_call_update")
    };
    let asks = |id: &str, kind: &str| {
        let params = json!({"sessionId": "s1", "toolCall": call(id, kind), "options": []});
        json!({"id": format!("q-{id}"), "method": "session/request_permission", "params": params})
    };
    let messages = [
        json!({"id": 0, "result": {"protocolVersion": 1}}),
        says("what an earlier turn has said"),
        json!({"id": opened, "result": {"sessionId": "s1"}}),
        // A model was chosen as well.
        json!({"id": 3, "result": {}}),
        says("I read "),
        says("the file."),
        update(call("a", "read"), "tool_call"),
        ended("a", "completed"),
        asks("b", "execute"),
        ended("b", "failed"),
        asks("c", "edit"),
        ended("c", "completed"),
        says("I may not run it."),
        json!({"id": 5, "result": {"stopReason": "end_turn"}}),
    ];
    let lines = messages.iter().map(|message| format!("{message}\n"));
    lines.chain(["a line of its own\n".to_owned()]).collect::<String>().into_bytes()
}

#[test]
fn acp_log_tells_its_story() {
    let refused = "trouble";
    for opened in [1, 2] {
        let denied =
            |iteration: &mut Iteration| iteration.denied.push("execute: execute it".to_owned());
        let project = project("acp", &acp_log(opened), denied);
        let story = story(&project, WhichIteration::Number(1)).unwrap();
        let expected = [
            "said I read the file.",
            "Some(Done) read read it",
            "Some(Denied) execute execute it",
            refused,
            "Some(Done) edit edit it",
            "said I may not run it.",
        ];
        assert_eq!(seen(&story), expected, "{opened}");
        assert_eq!(story.log_problem, None);
    }
    // Where nothing was denied, what was asked for ran.
    let project = project("acp", &acp_log(1), |_| ());
    let story = story(&project, WhichIteration::Number(1)).unwrap();
    assert_eq!(seen(&story)[2], "Some(Failed) execute execute it");
}

#[test]
fn check_output_is_not_agents() {
    let own = recording("claude");
    let log = [own.as_slice(), recording("claude-denied").as_slice()].concat();
    let project = project("claude", &log, |iteration| iteration.agent_log_bytes = own.len() as u64);
    let story = story(&project, WhichIteration::Number(1)).unwrap();
    assert_eq!(story.steps.len(), 3, "{:?}", story.steps);
}

#[test]
fn unreadable_log_is_named() {
    let gone = project("claude", b"", |_| ());
    let root = gone.path().canonicalize().unwrap();
    let folder = find_state_folder(&root, CHANGE).unwrap().unwrap();
    fs::remove_file(folder.join("logs/a-0001.log")).unwrap();
    let story_of = |project: &tempfile::TempDir| story(project, WhichIteration::Number(1)).unwrap();
    assert_eq!(
        story_of(&gone).log_problem.unwrap(),
        "the log is gone: the oldest ones are removed"
    );
    let other = project("another", b"", |_| ());
    assert!(story_of(&other).log_problem.unwrap().contains("`another`"));
}

#[test]
fn last_failed_log_is_found() {
    let good = project("claude", b"", |_| ());
    let said = |which| format!("{:#}", story(&good, which).unwrap_err());
    assert!(said(WhichIteration::LastFailed).starts_with("no iteration of `001-01_x` has failed"));
    assert!(said(WhichIteration::Number(2)).contains("no iteration 2: the last one is 1"));
    let bad = project("claude", b"", |iteration| iteration.failure = "it crashed".to_owned());
    assert_eq!(story(&bad, WhichIteration::LastFailed).unwrap().past.iteration.n, 1);
}

#[test]
fn many_steps_keep_both_ends() {
    let mut steps = Steps::in_pieces(false);
    for number in 0..2_500_u64 {
        steps.take(AgentEvent::Called { tool: "T".to_owned(), what: number.to_string() });
        steps.take(AgentEvent::Returned { call: number, outcome: CallOutcome::Done });
    }
    steps.take(AgentEvent::Returned { call: 2_499, outcome: CallOutcome::Denied });
    steps.take(AgentEvent::Returned { call: 2_499, outcome: CallOutcome::Failed });
    // That one is left out.
    steps.take(AgentEvent::Returned { call: 1_200, outcome: CallOutcome::Denied });
    let (all, left_out) = steps.finish();
    assert_eq!((all.len(), left_out), (2_000, 500));
    let words: Vec<&str> = [0, 999, 1_000, 1_999].map(|at: usize| all[at].words.as_str()).into();
    assert_eq!(words, ["0", "999", "1500", "2499"]);
    let outcome = |at: usize| all[at].outcome;
    assert_eq!(outcome(0), Some(CallOutcome::Done));
    assert_eq!(outcome(1_999), Some(CallOutcome::Denied));
    let denied = (0..all.len()).filter(|at| outcome(*at) == Some(CallOutcome::Denied));
    assert_eq!(denied.count(), 1);
}

#[test]
fn pieced_words_make_one_step() {
    let mut steps = Steps::in_pieces(true);
    for words in ["I use ", "api_key=abcdefgh12345678", ""] {
        steps.take(AgentEvent::Said(words.to_owned()));
    }
    steps.take(AgentEvent::Said("x".repeat(10_000)));
    let (all, _) = steps.finish();
    assert_eq!(all.len(), 1);
    assert!(all[0].words.starts_with("I use api_key=[masked]"), "{}", all[0].words);
    assert!(all[0].words.chars().count() <= WORDS);
}
