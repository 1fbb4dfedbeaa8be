//! The recordings of the real programs as kept logs.

use std::fs;

use super::*;
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
    let step = |step: &Step| match &step.kind {
        StepKind::Said => format!("said {}", step.words),
        StepKind::Called { tool, outcome } => format!("{outcome:?} {tool} {}", step.words),
        StepKind::Trouble => "trouble".to_owned(),
    };
    story.steps.iter().map(step).collect()
}

#[test]
fn the_logs_of_all_five_programs_say_what_was_said_and_done() {
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
        let denied = |it: &mut Iteration| it.denied.extend(was_denied.then(|| "Bash".to_owned()));
        let project = project(harness, &recording(name), denied);
        let story = story(&project, WhichIteration::Number(1)).unwrap();
        assert_eq!(seen(&story), expected, "{name}");
        assert_eq!((story.log_problem.as_str(), story.left_out), ("", 0), "{name}");
        assert_eq!(story.prompt.unwrap().1, "Do it.\n");
    }
}

#[test]
fn what_checks_have_printed_behind_it_is_not_taken_for_the_agents() {
    let own = recording("claude");
    let log = [own.as_slice(), recording("claude-denied").as_slice()].concat();
    let project = project("claude", &log, |it| it.agent_log_bytes = own.len() as u64);
    let story = story(&project, WhichIteration::Number(1)).unwrap();
    assert_eq!(story.steps.len(), 3, "{:?}", story.steps);
}

#[test]
fn a_log_that_cannot_be_read_is_named_and_the_rest_is_told() {
    let gone = project("claude", b"", |_| ());
    let root = gone.path().canonicalize().unwrap();
    let folder = find_state_folder(&root, CHANGE).unwrap().unwrap();
    fs::remove_file(folder.join("logs/a-0001.log")).unwrap();
    let story_of = |it: &tempfile::TempDir| story(it, WhichIteration::Number(1)).unwrap();
    assert_eq!(story_of(&gone).log_problem, "the log is gone: the oldest ones are removed");
    let other = project("another", b"", |_| ());
    assert!(story_of(&other).log_problem.contains("`another`"));
}

#[test]
fn the_last_one_that_failed_is_found_and_a_number_that_is_not_there_is_refused() {
    let good = project("claude", b"", |_| ());
    let said = |which| format!("{:#}", story(&good, which).unwrap_err());
    assert!(said(WhichIteration::LastFailed).starts_with("no iteration of `001-01_x` has failed"));
    assert!(said(WhichIteration::Number(2)).contains("no iteration 2: the last one is 1"));
    let bad = project("claude", b"", |it| it.failure = "it crashed".to_owned());
    assert_eq!(story(&bad, WhichIteration::LastFailed).unwrap().past.iteration.n, 1);
}
