//! `spool statusline`: one line on the loop of a session, and silence for everything else.

use std::fs;
use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::hook::support::{ALL_DONE, Bench, FEATURE};
use crate::support::limited::Limited;
use crate::support::schema;
use crate::support::scratch::Said;

/// What Claude Code hands to a status line command in a folder.
fn asked(bench: &Bench, session: &str) -> Value {
    json!({
        "hook_event_name": "Status", "session_id": session, "cwd": bench.root, "version": "2.1.332",
        "workspace": {"current_dir": bench.root, "project_dir": bench.root},
    })
}

fn line(bench: &Bench, input: &str) -> String {
    Said::with_input(bench.spool().arg("statusline"), input).ok()
}

/// The parts of the line of a session; the last one is an age.
fn parts(bench: &Bench, session: &str) -> Vec<String> {
    let line = line(bench, &asked(bench, session).to_string());
    let mut parts: Vec<String> = line.trim_end().split(" · ").map(str::to_owned).collect();
    let age = parts.pop().unwrap();
    assert!(age.ends_with(" s ago") || age.ends_with(" min ago"), "{line:?}");
    parts
}

fn in_json(bench: &Bench, session: &str) -> Value {
    let input = asked(bench, session).to_string();
    let said = Said::with_input(bench.spool().args(["statusline", "--json"]), input).json();
    schema::holds("statusline", &said);
    said
}

#[test]
fn a_live_loop_is_one_line() {
    let bench = Bench::armed();
    assert_eq!(
        parts(&bench, "s1"),
        [&format!("{FEATURE} ██░░░░░░ 1 of 3"), "iteration 1", "next T002"]
    );
    bench.stop("s1").run();
    assert_eq!(parts(&bench, "s1")[1], "iteration 2");
    Said::of(bench.spool().arg("pause")).ok();
    assert_eq!(parts(&bench, "s1")[2], "paused");
    assert_eq!(in_json(&bench, "s1")["end"], Value::Null);
}

#[test]
fn t5_line_counts_as_stop() {
    let bench = Bench::armed();
    let list = bench.feature_path("tasks.md");
    let unticked = fs::read_to_string(&list).unwrap();
    fs::write(&list, unticked.replacen("- [ ]", "- [x]", 1)).unwrap();
    let stop = bench.stop("s1").run();
    assert!(stop.message().contains("1 of 3"), "{stop}");
    assert_eq!(parts(&bench, "s1")[0], format!("{FEATURE} ██░░░░░░ 1 of 3"));
}

#[test]
fn only_programs_read_the_end() {
    let bench = Bench::armed();
    bench.write_tasks(ALL_DONE);
    bench.stop("s1").run().silent();
    assert_eq!(line(&bench, &asked(&bench, "s1").to_string()), "");
    let words = format!("{FEATURE} · done: 3 of 3 tasks · 1 iteration");
    assert_eq!(
        in_json(&bench, "s1"),
        json!({"version": 2, "line": null, "end": {"name": "completed", "words": words}})
    );

    let bench = Bench::armed();
    bench.cancel("s1", "");
    assert_eq!(line(&bench, &asked(&bench, "s1").to_string()), "");
    let words = format!("{FEATURE} · ended (cancelled) · 1 of 3 tasks · 0 iterations");
    assert_eq!(in_json(&bench, "s1")["end"], json!({"name": "cancelled", "words": words}));
}

#[test]
fn task_loop_shows_first_words() {
    let bench = Bench::project();
    bench.command("s1", "speckit:ralph-loop", "\"Make it whole and sound and round\"").run();
    assert_eq!(parts(&bench, "s1"), ["Make it whole and s…", "iteration 1"]);
}

#[test]
fn no_loop_shows_nothing() {
    let bench = Bench::ready();
    assert_eq!(line(&bench, &asked(&bench, "s1").to_string()), "");
    bench.implement("s1", "");
    let before = bench.everything();
    for input in [
        asked(&bench, "s2").to_string(),
        asked(&bench, "../s1").to_string(),
        json!({"session_id": "s1"}).to_string(),
        json!({"session_id": 1, "cwd": []}).to_string(),
        json!({"session_id": "s1", "cwd": "/nowhere"}).to_string(),
        String::new(),
        "{".to_owned(),
        "x".repeat(2 << 20),
    ] {
        assert_eq!(line(&bench, &input), "", "{input:.80}");
    }
    assert_eq!(bench.everything(), before);
}

#[test]
fn file_text_steers_no_terminal() {
    let bench = Bench::armed();
    bench.write_tasks("- [ ] T\u{1b}[31m1 Create it\n- [ ] T002 Fill it\n");
    bench.write_state("{ broken");
    let line = line(&bench, &asked(&bench, "s1").to_string());
    assert!(!line.contains('\u{1b}'), "{line:?}");
}

#[test]
fn unclosed_input_is_not_awaited() {
    let bench = Bench::armed();
    for (input, is_shown) in [(asked(&bench, "s1").to_string(), true), (String::new(), false)] {
        let mut command = bench.spool();
        command.arg("statusline").stdin(std::process::Stdio::piped());
        let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut open = child.stdin.take().unwrap();
        open.write_all(input.as_bytes()).unwrap();
        let mut line = String::new();
        child.stdout.take().unwrap().read_to_string(&mut line).unwrap();
        assert_eq!(!line.is_empty(), is_shown);
        drop(open);
        child.finish();
    }
}
