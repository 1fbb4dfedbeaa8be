//! The operations of `spool ralph`, and what must hold when something breaks in them.

use std::fs::{self, File};

use serde_json::{Value, json};

use super::story::{Case, Outcome, Story, ensure, same};
use super::tracer::{Fault, Run};
use super::world::{Call, World};

const CHANGE: &str = "002-01_login";
/// It counts its runs, works, and promises that all is done from its second run on.
const AGENT: &str = "n=$(cat ../home/runs 2>/dev/null || echo 0)\nn=$((n + 1))\necho $n >../home/runs\necho more >>work\necho did $n\n[ $n -lt 2 ] || echo '<promise>COMPLETE</promise>'\n";

pub fn stories() -> Vec<Story> {
    let story = |name, before, call, judge| Story {
        stride_of_looks: 9,
        stride_of_changes: 2,
        ..Story::new(name, before, call, judge)
    };
    let long = |name, before, call, judge| Story {
        stride_of_looks: 31,
        stride_of_changes: 5,
        ..Story::new(name, before, call, judge)
    };
    let beside = |name, before, call, judge| Story {
        beside: |world| Some(at_work(world)),
        ..Story::new(name, before, call, judge)
    };
    // Of what keeps the beginning of a run, each call that changes something fails, and one in five of the others.
    let proof = |name, before| Story {
        about: "receipts-002-01_login.run-began",
        stride_of_looks: 5,
        ..Story::new(name, before, in_list, proves)
    };
    vec![
        story("spool ralph", change, ralph, finishes),
        long("spool ralph, cut off before", cut_off, ralph, finishes),
        story("spool ralph, last iteration", change, one_iteration, is_stuck),
        story("spool ralph --add-context", change, add_context, adds_context),
        story("spool ralph --clear-context", with_context, clear_context, clears_context),
        story("spool ralph --status", finished, show, only_looks),
        Story { stride_of_looks: 90, ..long("spool ralph --commit", in_git, commit, commits) },
        Story {
            stride_of_changes: 2,
            ..proof("spool ralph, what its ticks are judged by", with_list)
        },
        proof("spool ralph, the same after a kill", killed),
        proof("spool ralph, the same after a stop", stopped),
        beside("spool stop", finished, stop, stops),
        beside("spool pause --change", finished, pause, pauses),
        beside("spool resume --change", paused, resume, resumes),
    ]
}

fn change(world: &World) {
    world.write(format!(".spool/changes/{CHANGE}/proposal.md"), "# Log in\n");
    fs::write(world.beside("home/agent.sh"), AGENT).unwrap();
}

/// A runner that was killed in the middle of its first iteration, by an agent that has done nothing yet.
fn cut_off(world: &World) {
    change(world);
    fs::write(world.beside("home/agent.sh"), kills_its_runner()).unwrap();
    let run = world.plain(&ralph(world));
    assert_eq!(run.signal, Some(9), "{run:?}");
    fs::write(world.beside("home/agent.sh"), AGENT).unwrap();
}

fn kills_its_runner() -> String {
    let state = format!(".spool/.state/ralph/{CHANGE}/state.json");
    format!("kill -9 $(sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p' {state} | head -n 1)\n")
}

/// It writes `a.rs` and `b.rs` in its first run, ticks one of them, and another task with nothing behind it. It ticks the second one
/// in its next run, and does the third in one after that. What a full disk did not take it does again.
const PROVED: &str = "n=$(cat ../home/runs 2>/dev/null || echo 0)\nn=$((n + 1))\necho $n >../home/runs\n\
    list=.spool/changes/002-01_login/tasks.md\n\
    tick() { sed \"s/\\[ \\] $1 /[x] $1 /\" $list >../home/list && cp ../home/list $list; }\n\
    does() { [ -s $1.rs ] || echo \"fn $1() {}\" >$1.rs; }\n\
    does a; tick 1.1; does b\n\
    case $n in\n1) tick 1.3; sh ../home/ends.sh ;;\n2) tick 1.2 ;;\n*) tick 1.2; does c; tick 1.3 ;;\nesac\n";

fn in_list(_: &World) -> Call {
    runs_loop(&["--max-iterations", "5", "--no-stay-awake"])
}

fn with_list(world: &World) {
    change(world);
    let list = "- [ ] 1.1 Write `a.rs`\n- [ ] 1.2 Write `b.rs`\n- [ ] 1.3 Write `c.rs`\n";
    world.write(format!(".spool/changes/{CHANGE}/tasks.md"), list);
    fs::write(world.beside("home/agent.sh"), PROVED).unwrap();
    fs::write(world.beside("home/ends.sh"), "").unwrap();
}

/// A runner that was killed, or stopped by this, at the end of the agent's first run.
fn ended_by(world: &World, words: &str) -> Run {
    with_list(world);
    fs::write(world.beside("home/ends.sh"), words).unwrap();
    world.plain(&in_list(world))
}

fn killed(world: &World) {
    let run = ended_by(world, &kills_its_runner());
    assert_eq!(run.signal, Some(9), "{run:?}");
}

fn stopped(world: &World) {
    let run = ended_by(world, &format!(": >.spool/.state/ralph/{CHANGE}/stop\nexec sleep 60\n"));
    assert_eq!(run.code, Some(130), "{run:?}");
}

/// No tick with nothing behind it counts, and none that has its work is refused.
fn proves(case: &Case<'_>) -> Outcome {
    let all_is_done = |when: &str| {
        let list =
            fs::read_to_string(case.world.path(&format!(".spool/changes/{CHANGE}/tasks.md")));
        let is_there = ["a.rs", "b.rs", "c.rs"].iter().all(|name| case.world.path(name).exists());
        let list = list.unwrap_or_default();
        ensure(
            is_there && !list.contains("[ ]"),
            &format!("{when}, and there is work left\n    {list}"),
        )
    };
    let is_fair = |run: &Run, when: &str| {
        let refused = ["1.1 is open", "1.2 is open"].iter().any(|words| run.stdout.contains(words));
        ensure(!refused, &format!("{when}: a tick is refused that has its work"))
    };
    if matches!(case.fault, Fault::FullDisk(_)) {
        let is_kept = !case.run.stderr.contains("what this run begins with is not kept");
        ensure(is_kept || runs(case.world) == 0, "an agent runs, and the beginning is not kept")?;
    } else {
        is_fair(&case.run, "with the fault")?;
    }
    if case.acknowledged() {
        all_is_done("it says done")?;
    }
    let next = case.later(case.call);
    is_fair(&next, "the next run")?;
    same(&next.code, &Some(0), "the next run: its code")?;
    all_is_done("the next run is done")
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

fn runs_loop(arguments: &[&str]) -> Call {
    call(&[&["do it", "--harness-command", "sh ../home/agent.sh"], arguments].concat())
}

fn ralph(_: &World) -> Call {
    runs_loop(&["--max-iterations", "9"])
}

fn one_iteration(_: &World) -> Call {
    runs_loop(&["--max-iterations", "1"])
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

fn in_git(world: &World) {
    change(world);
    world.init();
    // Git's examples would only be put back before every run.
    fs::remove_dir_all(world.path(".git/hooks")).unwrap();
    world.commit("Begin");
}

fn commit(_: &World) -> Call {
    runs_loop(&["--max-iterations", "9", "--commit"])
}

fn state(world: &World, name: &str) -> std::path::PathBuf {
    world.path(&format!(".spool/.state/ralph/{CHANGE}/{name}"))
}

/// This process holds the change, as a runner that is at work does.
fn at_work(world: &World) -> File {
    let lock = File::options().write(true).create(true).truncate(true).open(state(world, "lock"));
    let mut lock = lock.unwrap();
    let holder = json!({"pid": std::process::id(), "since": "2026-11-22T09:00:00Z"});
    std::io::Write::write_all(&mut lock, holder.to_string().as_bytes()).unwrap();
    lock.lock().unwrap();
    lock
}

fn stop(_: &World) -> Call {
    Call::spool(None, &["stop", "--change", CHANGE, "--wait", "0"])
}

fn pause(_: &World) -> Call {
    Call::spool(None, &["pause", "--change", CHANGE])
}

fn resume(_: &World) -> Call {
    Call::spool(None, &["resume", "--change", CHANGE])
}

fn paused(world: &World) {
    finished(world);
    let _runner = at_work(world);
    assert_eq!(world.plain(&pause(world)).code, Some(0));
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
    let text = fs::read_to_string(world.beside("home/runs")).unwrap_or_default();
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

/// Whether the person reads that something is not committed.
fn names_what_is_open(run: &Run) -> bool {
    ["not committed", "could not be committed"].iter().any(|words| run.stdout.contains(words))
}

/// The agent's work is in commits, or the person reads that it is not.
fn commits(case: &Case<'_>) -> Outcome {
    let is_clean = || case.world.git(&["status", "--porcelain", "--", "work"]).is_empty();
    if case.acknowledged() {
        ensure(runs(case.world) >= 2, "it says done, and nobody has promised it")?;
        ensure(
            is_clean() || names_what_is_open(&case.run),
            "it says done, and the work is neither committed nor named",
        )?;
        is_in_the_history(case, "done")?;
    }
    let next = case.later(case.call);
    same(&next.code, &Some(0), "the next run: its code")?;
    ensure(
        is_clean() || names_what_is_open(&next),
        "after the next run: the work is neither committed nor named",
    )?;
    let tracked = case.world.git(&["ls-files", "--", ".spool/.state", ".claude"]);
    ensure(tracked.is_empty(), &format!("the loop's own files are committed: {tracked}"))?;
    is_in_the_history(case, "after the next run")
}

/// Whether this process was asked for it; on a full disk the name of the request alone asks whoever runs.
fn is_asked(world: &World, what: &str) -> bool {
    let Ok(asked) = fs::read(state(world, what)) else { return false };
    let runner = serde_json::from_slice::<Value>(&asked).unwrap_or_default()["runner"].take();
    asked.is_empty() || runner == std::process::id()
}

fn stops(case: &Case<'_>) -> Outcome {
    is_asked_for(case, "stop", true)
}

fn pauses(case: &Case<'_>) -> Outcome {
    is_asked_for(case, "pause", true)
}

fn resumes(case: &Case<'_>) -> Outcome {
    is_asked_for(case, "pause", false)
}

/// The runner finds what was asked of it, where that was said and only there.
fn is_asked_for(case: &Case<'_>, what: &str, wanted: bool) -> Outcome {
    let is = is_asked(case.world, what);
    if case.acknowledged() {
        same(&is, &wanted, &format!("it says asked: whether `{what}` is"))?;
    } else if !case.killed() && !case.is_mute() {
        same(&is, &!wanted, &format!("it says that it failed: whether `{what}` is asked"))?;
        for lie in ["no runner", "nothing to end"] {
            ensure(!case.run.stderr.contains(lie), "it says that no runner is there")?;
        }
    }
    let again = case.later(case.call);
    same(&again.code, &Some(0), "asked again: its code")?;
    same(&is_asked(case.world, what), &wanted, &format!("asked again: whether `{what}` is"))
}
