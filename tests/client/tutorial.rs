//! The tutorial, word for word: what it says to type is typed, and what it says is shown is shown.

use crate::screen::{start, tmux_is_there, type_line};
use crate::support::{Project, on_every_client};
use crate::workshop::Workshop;
use scripted_model::{Reply, ScriptedModel};
use serde_json::json;
use std::fs;
use std::path::Path;

on_every_client! {
    night night tutorial_steps_hold
}

/// One block of the page with the lines that it says are shown then.
struct Step {
    kind: String,
    text: String,
    shown: Vec<String>,
}

/// The blocks of the page that a person types, in their order.
fn steps() -> Vec<Step> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tutorial.md");
    let page = fs::read_to_string(page).expect("the tutorial");
    let mut steps: Vec<Step> = Vec::new();
    for block in page.split("\n```").skip(1).step_by(2) {
        let (kind, text) = block.split_once('\n').expect("a block");
        if kind == "text" {
            let step = steps.last_mut().expect("a step before what is shown");
            step.shown = text.lines().map(|line| plain(line).to_owned()).collect();
        } else {
            let (kind, text) = (kind.to_owned(), text.to_owned());
            steps.push(Step { kind, text, shown: Vec::new() });
        }
    }
    steps
}

/// Fails unless these lines stand in this order in what was shown; `…` is for any words.
fn assert_shown(lines: &[String], shown: &str, step: &str) {
    let mut rest = shown.lines().map(plain);
    for line in lines.iter().filter(|line| !line.is_empty()) {
        assert!(
            rest.any(|other| is_like(line, other)),
            "{line:?} is missing after {step:?} in:\n{shown}"
        );
    }
}

/// A line without what the client draws at its start.
fn plain(line: &str) -> &str {
    line.trim().trim_start_matches('⎿').trim_start()
}

/// Whether a line is the one of the page, where that leaves words out with `…`.
fn is_like(page: &str, shown: &str) -> bool {
    let mut parts = page.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = shown.strip_prefix(first) else { return false };
    let mut is_open = false;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        is_open = part.is_empty();
    }
    rest.is_empty() || is_open
}

/// An agent that stops after the first task, says too much after the second, and then does the third.
fn agent() -> ScriptedModel {
    let work = |words: &str, command: &str| {
        let input = json!({"command": command, "description": words});
        Reply::text(words).and_tool("Bash", input)
    };
    let replies = vec![
        work(
            "I write the program.",
            "echo 'echo \"Hello, $1!\"' > greet.sh && spool task done T001",
        ),
        Reply::text("The greeting works. Shall I go on?"),
        work(
            "Now without a name.",
            "sed -i '1i test -n \"$1\" || { echo \"usage: sh greet.sh NAME\"; exit 2; }' greet.sh && spool task done T002",
        ),
        Reply::text("All done!\n\nALL_TASKS_COMPLETE"),
        work(
            "The test is missing.",
            "echo 'test \"$(sh greet.sh Ada)\" = \"Hello, Ada!\" && ! sh greet.sh' > test.sh && spool task done T003",
        ),
        Reply::text("All three are done, and the test passes."),
    ];
    ScriptedModel::playing(replies)
}

fn tutorial_steps_hold(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::at(Project::named("greeter"));
    let model = agent();
    let client = workshop.client(version, &model);
    let above = workshop.project.path().parent().expect("a folder").to_owned();
    let mut folder = above;
    let mut terminal = None;
    for step in steps() {
        let shown = if step.kind == "claude" {
            let terminal = terminal.get_or_insert_with(|| start(&workshop, &client));
            type_line(terminal, step.text.trim());
            let last = step.shown.last().expect("what is shown").trim_end_matches([' ', '…']);
            terminal.wait_for(last);
            terminal.screen()
        } else {
            let printed;
            (printed, folder) = workshop.shell(&folder, &step.text);
            printed
        };
        assert_shown(&step.shown, &shown, &step.text);
    }
    assert_eq!(model.complaints(), [""; 0]);
}
