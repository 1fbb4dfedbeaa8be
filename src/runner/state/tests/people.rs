//! What a person adds or asks while a runner runs.

use super::*;

#[test]
fn context_changes_during_runs() {
    let desk = Desk::new();
    let files = desk.open();
    assert_eq!(Context::of(&files.folder).read().unwrap(), "");
    let context = Context::of(&desk.folder());
    context.add("Use port 8081 $(touch pwned)").unwrap();
    context.add("Über\nalles\n").unwrap();
    assert_eq!(
        Context::of(&files.folder).read().unwrap(),
        "Use port 8081 $(touch pwned)\n\nÜber\nalles\n"
    );
    assert!(context.add(" \n").unwrap_err().to_string().contains("no words"));
    let words = context.add(&"x".repeat(MOST_CONTEXT)).unwrap_err().to_string();
    assert!(words.contains("--clear-context"), "{words}");
    context.clear().unwrap();
    context.clear().unwrap();
    assert_eq!(Context::of(&files.folder).read().unwrap(), "");
    fs::write(desk.folder().join("context.md"), b"\xff").unwrap();
    assert!(Context::of(&files.folder).read().unwrap_err().to_string().contains("not UTF-8"));
}

#[test]
fn context_writers_lose_nothing() {
    let desk = Desk::new();
    let folder = make_state_folder(desk.root(), ID).unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let context = Context::of(&folder);
            scope.spawn(move || {
                for line in 0..10 {
                    context.add(&format!("word {number} {line}")).unwrap();
                }
            });
        }
    });
    let text = Context::of(&folder).read().unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("word")).count(), 80);
}

#[test]
fn requests_can_be_withdrawn() {
    let desk = Desk::new();
    let files = desk.open();
    let person = Requests::of(&desk.folder());
    let runner = Requests::of(&files.folder);
    assert_eq!((runner.pending(), runner.paused()), (None, None));
    person.ask(RunnerRequest::Pause).unwrap();
    assert_eq!(runner.pending(), Some(RunnerRequest::Pause));
    assert!(runner.paused().unwrap() <= world::now());
    person.ask(RunnerRequest::Stop).unwrap();
    assert_eq!(runner.pending(), Some(RunnerRequest::Stop), "a stop outranks a pause");
    runner.clear_stop();
    person.ask(RunnerRequest::Resume).unwrap();
    person.ask(RunnerRequest::Resume).unwrap();
    assert_eq!((runner.pending(), runner.paused()), (None, None));
}

#[test]
fn stale_stop_ends_no_run() {
    let desk = Desk::new();
    drop(desk.open());
    Requests::of(&desk.folder()).ask(RunnerRequest::Stop).unwrap();
    let files = desk.open();
    assert_eq!(Requests::of(&files.folder).pending(), None, "it was there before the run began");
    // It was asked of another process, and only written down now.
    let stale = json!({"runner": std::process::id() + 1, "at": 5}).to_string();
    fs::write(desk.folder().join("stop"), stale).unwrap();
    assert_eq!(Requests::of(&files.folder).pending(), None);
    // One that a person made by hand is meant for whoever runs.
    fs::write(desk.folder().join("stop"), "").unwrap();
    assert_eq!(Requests::of(&files.folder).pending(), Some(RunnerRequest::Stop));
}
