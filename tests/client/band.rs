//! What the client draws of a loop besides the transcript: the band above the prompt, the pane of a command that is answered
//! while the agent works, and the toast at the end.

use crate::screen::{Terminal, start_in, tmux_is_there, type_line};
use crate::workshop::Workshop;
use scripted_model::ScriptedModel;
use std::sync::mpsc::{Sender, channel};

/// What is played: an agent that has done one task of three and works on the second one until it is told to go on.
struct AtWork {
    terminal: Terminal,
    go: Sender<()>,
    model: ScriptedModel,
    workshop: Workshop,
}

/// Plays it on a screen of this width; `None` where there is no terminal for it.
fn at_work(version: &str, columns: u16) -> Option<AtWork> {
    if !tmux_is_there() {
        return None;
    }
    let workshop = Workshop::with_tasks(3);
    let worker = workshop.worker();
    let (go, wait_to_go) = channel();
    let model = ScriptedModel::start(move |asked| {
        if asked.number == 3 {
            wait_to_go.recv().expect("the person");
        }
        worker.one_task_then_stop(asked)
    });
    let terminal = start_in(columns, &workshop, &workshop.client(version, &model));
    terminal.press(&["-l", "/speckit:implement"]);
    terminal.wait_for("Work through the feature's tasks.md");
    terminal.press(&["Enter"]);
    model.wait_for_main_request(3);
    Some(AtWork { terminal, go, model, workshop })
}

/// The line of the band on a screen.
fn band(screen: &str) -> Option<&str> {
    screen.lines().find(|line| line.starts_with("001-long-list "))
}

fn working_loop_is_seen(columns: u16) {
    let Some(AtWork { workshop, model, go, terminal }) = at_work("2.1.332", columns) else {
        return;
    };
    terminal.wait_for("001-long-list ██░░░░░░ 1 of 3 · iteration 2 · next T002 · ");
    let screen = terminal.screen();
    let line = band(&screen).expect("the band");
    assert!(line.contains(" ago "), "its last sign of life is not cut off: {line:?}");

    type_line(&terminal, "/speckit-loop");
    terminal.wait_for("(Escape closes this, the arrow keys scroll it)");
    terminal.wait_for("1 of 3 done");
    assert_eq!(model.main_requests().len(), 3, "answered while the agent works");
    let sign = |screen: &str| {
        screen
            .lines()
            .find_map(|line| line.split_once("Sign of life: "))
            .map(|parts| parts.1.to_owned())
    };
    let first = sign(&terminal.screen()).expect("a sign of life");
    terminal.wait_until("a newer sign of life", |screen| {
        sign(screen).is_some_and(|next| next != first)
    });
    terminal.press(&["Escape"]);
    terminal.wait_until("the pane is closed", |screen| {
        !screen.contains("(Escape closes this, the arrow keys scroll it)")
    });
    assert!(!terminal.screen().contains("Interrupted"), "{}", terminal.screen());

    go.send(()).expect("the agent");
    // A narrow toast breaks the line.
    terminal.wait_for("001-long-list · done: 3 of 3");
    terminal.wait_until("the band is gone", |screen| band(screen).is_none());
    workshop.assert_all_done(3);
    assert_eq!(model.complaints(), [""; 0]);
}

#[test]
fn loop_shows_at_80_columns() {
    working_loop_is_seen(80);
}

#[test]
#[ignore = "nightly"]
fn loop_shows_at_120_columns() {
    working_loop_is_seen(120);
}

#[test]
#[ignore = "nightly"]
fn client_without_function_hooks_loops() {
    let Some(AtWork { workshop, model, go, terminal }) = at_work("2.1.143", 80) else {
        return;
    };
    assert_eq!(band(&terminal.screen()), None);
    go.send(()).expect("the agent");
    terminal.wait_for("Ralph-speckit: done: 001-long-list · 3 of 3 tasks");
    workshop.assert_all_done(3);
    assert_eq!(workshop.verdicts(), ["continue", "continue", "end completed"]);
    let screen = terminal.screen();
    for word in ["view.tsx", "modules", "speckit-loop"] {
        assert!(!screen.contains(word), "{word}:\n{screen}");
    }
    assert_eq!(model.complaints(), [""; 0]);
}
