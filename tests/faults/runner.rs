//! The operations of `spool ralph`, and what must hold when something breaks in them.

use std::fs;

use serde_json::Value;

use super::story::{Case, Outcome, Story, ensure, same};
use super::tracer::Fault;
use super::world::{Call, World};

const CHANGE: &str = "002-01_login";
/// It counts its runs, works, and promises that all is done from its second run on.
const AGENT: &str = "n=$(cat ../home/runs 2>/dev/null || echo 0)\nn=$((n + 1))\necho $n >../home/runs\necho more >>work\necho did $n\n[ $n -lt 2 ] || echo '<promise>COMPLETE</promise>'\n";

/// Returns the stories of the runner.
pub fn stories() -> Vec<Story> {
    let story = |name, before, call, judge| Story {
        stride: 9,
        long_stride: 2,
        ..Story::new(name, before, call, judge)
    };
    vec![
        story("spool ralph", change, ralph, finishes),
        story("spool ralph, cut off before", cut_off, ralph, finishes),
        story("spool ralph, last iteration", change, one_iteration, is_stuck),
        story("spool ralph --add-context", change, add_context, adds_context),
        story("spool ralph --clear-context", with_context, clear_context, clears_context),
        story("spool ralph --status", finished, show, only_looks),
    ]
}

fn change(world: &World) {
    world.write(&format!(".spool/changes/{CHANGE}/proposal.md"), "# Log in\n");
    fs::write(world.top().join("home/agent.sh"), AGENT).unwrap();
}

/// A runner that was killed in the middle of its first iteration.
fn cut_off(world: &World) {
    change(world);
    let steps = world.run(&ralph(world), Fault::None).steps;
    for folder in [".spool/.state", ".claude"] {
        fs::remove_dir_all(world.path(folder)).unwrap();
    }
    fs::remove_file(world.path("work")).unwrap();
    fs::remove_file(world.top().join("home/runs")).unwrap();
    let in_the_middle = steps.iter().position(|step| step.words.contains("logs/")).unwrap();
    let run = world.run(&ralph(world), Fault::Kill(in_the_middle + 2));
    assert_eq!(run.signal, Some(9), "{run:?}");
}

fn with_context(world: &World) {
    change(world);
    assert_eq!(world.plain(&add_context(world)).code, Some(0));
}

fn finished(world: &World) {
    change(world);
    let run = world.plain(&ralph(world));
    assert_eq!(run.code, Some(0), "{run:?}");
}

fn call(arguments: &[&str]) -> Call {
    Call::spool(None, &[&["ralph", "--change", CHANGE, "--no-interactive"], arguments].concat())
}

fn ralph(_: &World) -> Call {
    call(&["do it", "--harness-command", "sh ../home/agent.sh", "--max-iterations", "9"])
}

fn one_iteration(_: &World) -> Call {
    call(&["do it", "--harness-command", "sh ../home/agent.sh", "--max-iterations", "1"])
}

fn add_context(_: &World) -> Call {
    call(&["--add-context", "Mind the gap."])
}

fn clear_context(_: &World) -> Call {
    call(&["--clear-context"])
}

fn show(_: &World) -> Call {
    call(&["--status"])
}

/// The loop's document, null where there is none.
fn document(world: &World) -> Value {
    let bytes = fs::read(world.path(".claude/loop-state.json")).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// The iterations of all runs that can be read, as the start of the run and the number.
fn history(world: &World) -> Vec<(String, u64)> {
    let path = world.path(&format!(".spool/.state/ralph/{CHANGE}/history.jsonl"));
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of = |line: Value| (line["run_started_at"].to_string(), line["n"].as_u64().unwrap_or(0));
    lines.map(of).collect()
}

/// How often the agent was started.
fn runs(world: &World) -> usize {
    let text = fs::read_to_string(world.top().join("home/runs")).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

/// Each run of the agent is in the history, once; one line more where it was killed before its start.
fn is_in_the_history(case: &Case<'_>, when: &str) -> Outcome {
    let (history, runs) = (history(case.world), runs(case.world));
    let mut once = history.clone();
    once.dedup();
    same(&history.len(), &once.len(), &format!("{when}, an iteration is in the history twice"))?;
    let said = format!("{when}: {runs} runs, {history:?}");
    ensure(history.len() >= runs, &format!("a run is not in the history\n    {said}"))?;
    let more = history.len() - runs;
    ensure(more <= 2, &format!("iterations in the history that never were\n    {said}"))
}

fn finishes(case: &Case<'_>) -> Outcome {
    if case.acknowledged() {
        ensure(runs(case.world) >= 2, "it says done, and nobody has promised it")?;
        same(&document(case.world)["status"], &"done".into(), "it says done: the document")?;
        is_in_the_history(case, "done")?;
    }
    ensure(case.run.code != Some(0) || runs(case.world) >= 2, "done without the promise")?;
    // The next one begins where this one was cut off, and comes to its end.
    let next = case.later(case.call);
    same(&next.code, &Some(0), "the next run: its code")?;
    same(&document(case.world)["status"], &"done".into(), "the next run: the document")?;
    is_in_the_history(case, "after the next run")
}

fn is_stuck(case: &Case<'_>) -> Outcome {
    if case.run.code == Some(3) {
        same(&document(case.world)["reason"], &"max_iters".into(), "it says stuck: the document")?;
        is_in_the_history(case, "stuck")?;
    }
    ensure(case.run.code != Some(0), "done without the promise")?;
    let next = case.later(&ralph(case.world));
    same(&next.code, &Some(0), "the next run: its code")?;
    is_in_the_history(case, "after the next run")
}

/// The context as it stands, and whether the runner reads it.
fn context(world: &World) -> String {
    let path = world.path(&format!(".spool/.state/ralph/{CHANGE}/context.md"));
    fs::read_to_string(path).unwrap_or_default()
}

fn adds_context(case: &Case<'_>) -> Outcome {
    let times = || context(case.world).matches("Mind the gap.").count();
    if case.acknowledged() {
        same(&times(), &1, "it says added: how often")?;
    } else if !case.killed() && !case.is_mute() {
        same(&times(), &0, "it says that it failed: how often")?;
    }
    ensure(times() <= 1, "added twice")?;
    let before = times();
    let next = case.later(case.call);
    same(&next.code, &Some(0), "added again: its code")?;
    // To add the same again is what was asked for.
    same(&times(), &(before + 1), "added again: how often")
}

fn clears_context(case: &Case<'_>) -> Outcome {
    let is_there = context(case.world).contains("Mind the gap.");
    if case.acknowledged() {
        ensure(!is_there, "it says cleared, and it is there")?;
    } else if !case.killed() && !case.is_mute() {
        ensure(is_there, "it says that it failed, and it is gone")?;
    }
    case.later(case.call);
    ensure(!context(case.world).contains("Mind the gap."), "cleared again, and it is there")
}

fn only_looks(case: &Case<'_>) -> Outcome {
    same(&document(case.world)["status"], &"done".into(), "what only looks has changed something")?;
    same(&case.now, case.before, "what only looks has changed something")
}
