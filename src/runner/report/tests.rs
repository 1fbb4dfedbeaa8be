//! Reports on loops that live, are dead, or have ended.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::engine::TerminalReason;
use crate::forms::runner::RunnerForm;
use crate::forms::spent::Spent;
use crate::runner::options::Counting;
use crate::runner::requests::RunnerRequest;
use crate::runner::state::{
    AgentShare, LoopStatus, StateFiles, iso, make_state_folder, state_folder,
};
use crate::runner::target::{Change, ChangeKind};
use crate::store::names::VerdictName;
use crate::world;

const ID: &str = "002-01_add-ralph-loop";

fn project() -> (TempDir, PathBuf) {
    let scratch = TempDir::with_prefix("report-").unwrap();
    let root = scratch.path().canonicalize().unwrap();
    (scratch, root)
}

fn state_files(root: &Path) -> StateFiles {
    let change = Change {
        id: ID.to_owned(),
        kind: ChangeKind::Spool,
        folder: root.to_owned(),
        root: root.to_owned(),
        worktree: root.to_owned(),
        module: None,
    };
    let state = LoopState {
        task: "Make it work\nand nice".to_owned(),
        harness: "claude".to_owned(),
        harness_version: "2.1.332".to_owned(),
        max_iterations: 50,
        ..LoopState::default()
    };
    StateFiles::open_with(&change, state, Counting::FromZero, |_, _| Spent::default()).unwrap()
}

fn iteration(n: u32) -> Iteration {
    Iteration {
        n,
        started: iso(WallTime::from_millis(1_795_305_912_000 + u64::from(n) * 60_000)),
        ended: Some(iso(WallTime::from_millis(1_795_305_912_000))),
        seconds: f64::from(n) * 50.0,
        commits: vec!["c".to_owned(); 2],
        tokens_used: 12_345,
        tasks_ticked: vec!["T001".to_owned()],
        verdict: VerdictName::Continue,
        words: "3 tasks are open".to_owned(),
        ..Iteration::default()
    }
}

#[test]
fn status_command_shows_iteration_and_history() {
    let (_scratch, root) = project();
    let mut files = state_files(&root);
    files.state.status = LoopStatus::Running;
    files.state.total_tokens = 1_234_567;
    for n in 1..=12 {
        files.begin(&iteration(n)).unwrap();
        files.end(&iteration(n)).unwrap();
    }
    files.state.doing = "iteration 13".to_owned();
    files.begin(&Iteration { started: iso(world::now()), ..iteration(13) }).unwrap();
    let report = RunnerReport::of(&root, ID).unwrap();
    let text = report.text();
    let pid = format!("Loop: running (process {})", std::process::id());
    for words in [
        "Change: 002-01_add-ralph-loop\n",
        pid.as_str(),
        "Doing: iteration 13\n",
        "Iteration: 13 (of 50)\n",
        "This one: began 2",
        "Task: Make it work…\n",
        "Agent: claude 2.1.332\n",
        "Tokens: 1,234,567\n",
        "    12  ",
        "10 min 00 s",
        "12,345",
        "  continue\n        3 tasks are open\n",
        "End it: spool stop --change 002-01_add-ralph-loop\n",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let rows = text.lines().filter(|line| line.ends_with("3 tasks are open")).count();
    assert_eq!(rows, 10, "{text}");
    let table = text.split_once("Last iterations").unwrap().1.split_once("All of it").unwrap().0;
    let widest = table.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{widest} columns\n{text}");
    let json = serde_json::to_value(RunnerForm::from(&report)).unwrap();
    assert_eq!((&json["loop"]["state"], &json["loop"]["iterations"]), (&json!("live"), &json!(13)));
    assert_eq!(json["running_iteration"]["number"], 13);
    assert_eq!(json["iterations"].as_array().unwrap().len(), 10);
}

#[test]
fn gone_runner_is_dead() {
    let (_scratch, root) = project();
    let folder = make_state_folder(&root, ID).unwrap();
    let state = json!({"change_id": ID, "status": "running", "pid": 4711, "current_iteration": 3,
        "updated_at": iso(WallTime::from_millis(world::now().millis() - 120_000)), "running_iteration": {"n": 3, "started": iso(WallTime::from_millis(5))}});
    fs::write(folder.join("state.json"), state.to_string()).unwrap();
    let report = RunnerReport::of(&root, ID).unwrap();
    assert_eq!(report.is, LoopFormState::Dead);
    let said = report.line();
    assert!(said.contains(": its runner was killed, the same command continues it, "), "{said}");
    let form = serde_json::to_value(RunnerForm::from(&report)).unwrap();
    assert_eq!((&form["loop"]["state"], &form["loop"]["process"]), (&json!("dead"), &Value::Null));
    let text = report.text();
    for words in [
        "Loop: dead. Its file says running, but process 4711 was killed",
        "(2 min ago)",
        "Next: Run the same command again: it continues this loop.",
        "was cut off; began 1970-01-01",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(!text.contains("spool stop"), "{text}");
    let after: Value =
        serde_json::from_slice(&fs::read(folder.join("state.json")).unwrap()).unwrap();
    assert_eq!(after, state, "who looks changes nothing");
}

#[test]
fn ended_loop_says_why() {
    let (_scratch, root) = project();
    for words in ["all the work is done", "the limit was reached"] {
        let mut files = state_files(&root);
        files.begin(&iteration(1)).unwrap();
        let strange = "\u{1b}[31m".to_owned() + words;
        let strange = strange + &" and more".repeat(20);
        let last =
            Iteration { tokens_estimated: true, timed_out: true, failure: strange, ..iteration(1) };
        files.end(&last).unwrap();
        files.state.status = LoopStatus::Stuck;
        files.state.reason = "max_iters".to_owned();
        files.state.words = words.to_owned();
        files.state.total_tokens = 12_345;
        files.state.total_cost_usd = 0.25;
        files.state.agents = vec![AgentShare { tokens_estimated: true, ..AgentShare::default() }];
        files.state.ended_at = iso(world::now());
        files.save().unwrap();
    }
    let text = RunnerReport::of(&root, ID).unwrap().text();
    assert!(text.contains("Loop: ended (max_iters): the limit was reached\n"), "{text}");
    assert!(text.contains("Tokens: ~12,345\n"), "an estimate is marked: {text}");
    assert!(text.contains("Cost: $0.2500\n"), "{text}");
    assert!(text.contains("  Ended: 2"), "{text}");
    assert_eq!(text.matches("-- a new run --").count(), 1, "{text}");
    assert!(text.contains("~12,345"), "{text}");
    assert!(text.contains("over its time limit; "), "{text}");
    let table = text.split_once("Last iterations").unwrap().1.split_once("All of it").unwrap().0;
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn stopped_loop_says_next_step() {
    let (_scratch, root) = project();
    let mut files = state_files(&root);
    files.state.status = LoopStatus::Stopped;
    files.state.reason = "stopped".to_owned();
    files.state.words = "it was stopped with Ctrl-C".to_owned();
    files.state.ledger.ended = Some(TerminalReason::Stopped);
    files.save().unwrap();
    drop(files);
    let report = RunnerReport::of(&root, ID).unwrap();
    let text = report.text();
    assert!(text.contains("  Loop: ended (stopped): it was stopped with Ctrl-C\n"), "{text}");
    assert!(text.contains("  Next: Run the same command again: it continues this loop;"), "{text}");
    assert!(report.line().contains(": ended (stopped), iteration"), "{}", report.line());
}

#[test]
fn asked_pause_shows_way_out() {
    let (_scratch, root) = project();
    let mut files = state_files(&root);
    files.save().unwrap();
    Requests::of(&state_folder(&root, ID)).ask(RunnerRequest::Pause).unwrap();
    let report = RunnerReport::of(&root, ID).unwrap();
    let text = report.text();
    assert!(text.contains("Pause: asked for 0 s ago; `spool resume --change"), "{text}");
    assert!(text.contains("` cancels it\n"), "{text}");
    assert!(report.line().contains(": to be paused, "), "{}", report.line());
    files.state.doing = "paused at a usage limit, lifted at 07:00".to_owned();
    files.save().unwrap();
    let report = RunnerReport::of(&root, ID).unwrap();
    assert!(report.text().contains("Doing: paused at a usage limit"), "{}", report.text());
    assert!(report.text().contains("` continues the loop\n"), "{}", report.text());
    let line = report.line();
    assert!(line.contains(": paused at a usage limit, lifted at 07:00, iteration"), "{line}");
    drop(files);
    let text = RunnerReport::of(&root, ID).unwrap().text();
    assert!(!text.contains("Pause"), "{text}");
}

#[test]
fn unreadable_state_shows_history() {
    let (_scratch, root) = project();
    let mut files = state_files(&root);
    files.begin(&iteration(1)).unwrap();
    files.end(&iteration(1)).unwrap();
    drop(files);
    fs::write(state_folder(&root, ID).join("state.json"), "{").unwrap();
    let text = RunnerReport::of(&root, ID).unwrap().text();
    assert!(text.contains("State: it cannot be read"), "{text}");
    assert!(text.contains("3 tasks are open"), "{text}");
}

#[test]
fn loopless_report_says_where() {
    let (_scratch, root) = project();
    assert_eq!(select(&root).unwrap(), None);
    let words = RunnerReport::of(&root, "x").unwrap_err().to_string();
    assert!(words.contains("start one with `spool ralph"), "{words}");
    let files = state_files(&root);
    let words = RunnerReport::of(&root, "x").unwrap_err().to_string();
    assert!(words.contains(&format!("loops have run on: {ID}")), "{words}");
    assert_eq!(live(&root).unwrap(), [ID]);
    drop(files);
    assert_eq!(live(&root).unwrap(), Vec::<String>::new());
    assert_eq!(select(&root).unwrap().as_deref(), Some(ID));
}
