//! Spec-kit's converge command in a session: asked for when all is ticked, run by the client as any skill, at most twice.

use crate::headless::ClientRun;
use crate::support::on_every_client;
use crate::workshop::{Worker, Workshop};
use scripted_model::{Asked, Reply, ScriptedModel};
use serde_json::json;

on_every_client! {
    night night converge_tasks_come_before_end
    night night older_converge_passes_once_asked
}

/// What `specify init` writes for Claude Code.
const IMPLEMENT: &str = include_str!("../fixtures/spec-kit/implement-skill.md");
const CONVERGE: &str = include_str!("../fixtures/spec-kit/converge-skill.md");
const TASKS: &str = "specs/001-demo/tasks.md";
const ASKED: &str = "with the Skill tool";

/// A project as spec-kit 1.2.3 lays it out, with one task and a person who wants the command as the last gate.
fn demo() -> Workshop {
    let workshop = Workshop::empty();
    let project = &workshop.project;
    project.write(".claude/skills/speckit-implement/SKILL.md", IMPLEMENT);
    project.write(".specify/feature.json", r#"{"feature_directory": "specs/001-demo"}"#);
    project.write("specs/001-demo/spec.md", "# Demo\n\n- **FR-001**: System MUST show the list\n");
    project.write(TASKS, "# Tasks: Demo\n\n## Phase 1: Setup\n\n- [ ] T001 Show it in T001.txt\n");
    project.write(".claude/ralph-speckit.local.md", "---\nconverge: true\n---\n");
    workshop
}

/// Does a task and ticks its box by hand.
fn work(id: &str) -> Reply {
    Worker::run(&format!("echo work > {id}.txt && sed -i 's/- \\[ \\] {id} /- [X] {id} /' {TASKS}"))
}

/// Appends a phase with one open task, as the command says.
fn appends(phase: u32, id: &str) -> Reply {
    Worker::run(&format!(
        "printf '\\n## Phase {phase}: Convergence\\n\\n- [ ] {id} Log it in {id}.txt per FR-001 (partial)\\n' >> {TASKS}"
    ))
}

fn stops(words: &str) -> Reply {
    Reply::text(words)
}

fn converges(name: &str) -> Reply {
    Reply::tool("Skill", json!({ "skill": name }))
}

/// Plays these replies, each to one request.
fn plays(workshop: &Workshop, version: &str, replies: Vec<Reply>) -> (ClientRun, ScriptedModel) {
    let model = ScriptedModel::playing(replies);
    let run = workshop.client(version, &model).succeeds("/speckit-implement");
    (run, model)
}

/// The numbers of the requests, from 1, in which the agent is asked for the command.
fn asked_for(model: &ScriptedModel) -> Vec<usize> {
    let is_asked =
        |request: &Asked| request.hook_feedback().iter().any(|told| told.contains(ASKED));
    let requests = model.main_requests();
    requests.iter().filter(|request| is_asked(request)).map(|request| request.number).collect()
}

/// Fails unless so many requests were made and the client has launched the command twice; newer clients hand over its text with
/// the first launch alone.
fn assert_launched_twice(model: &ScriptedModel, requests: usize, name: &str) {
    let last = model.main_requests().pop().expect("a request");
    let text = last.body["messages"].to_string();
    assert_eq!(last.number, requests, "{text}");
    assert_eq!(text.matches(&format!("Launching skill: {name}")).count(), 2, "{text}");
    assert!(text.contains("APPEND-ONLY, NEVER REWRITE"), "{text}");
}

fn converge_tasks_come_before_end(version: &str) {
    let workshop = demo();
    workshop.project.write(".claude/skills/speckit-converge/SKILL.md", CONVERGE);
    let done = || stops("All is done.\n\nALL_TASKS_COMPLETE");
    let (run, model) = plays(
        &workshop,
        version,
        vec![
            work("T001"),
            done(),
            converges("speckit-converge"),
            appends(2, "T002"),
            stops("One task is appended."),
            work("T002"),
            done(),
            // This time the agent does at once what it has appended.
            converges("speckit-converge"),
            appends(3, "T003"),
            work("T003"),
            done(),
            stops("There is no third round."),
        ],
    );
    let verdicts = ["continue", "continue", "continue", "end completed"];
    assert_eq!(workshop.verdicts(), verdicts, "{}", run.describe());
    assert_eq!(asked_for(&model), [3, 8], "{}", run.describe());
    assert_launched_twice(&model, 11, "speckit-converge");
    let list = workshop.project.read(TASKS);
    for id in ["T001", "T002", "T003"] {
        assert!(list.contains(&format!("- [X] {id} ")), "{list}");
    }
    assert!(!list.contains("[ ]"), "{list}");
    let told = run.system_messages("Stop").join("\n");
    let words =
        "converge found more to do in both of its rounds: nobody has compared the code since";
    assert!(told.contains(words), "{told}");
}

fn older_converge_passes_once_asked(version: &str) {
    let workshop = demo();
    workshop.project.write(".claude/commands/speckit.converge.md", CONVERGE);
    let (run, model) = plays(
        &workshop,
        version,
        vec![
            // Too early: a box is open, and nobody has asked for it.
            converges("speckit.converge"),
            work("T001"),
            stops("All is done.\n\nALL_TASKS_COMPLETE"),
            converges("speckit.converge"),
            stops("Nothing is missing.\n\nALL_TASKS_COMPLETE"),
            stops("There is no second round."),
        ],
    );
    assert_eq!(workshop.verdicts(), ["continue", "end completed"], "{}", run.describe());
    assert_eq!(asked_for(&model), [4], "{}", run.describe());
    assert_launched_twice(&model, 5, "speckit.converge");
    let words = workshop.journal().pop().expect("an end")["words"].clone();
    assert!(words.to_string().contains("converge found nothing missing"), "{words}");
}
