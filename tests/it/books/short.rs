//! What a model reads is short, also on a list of 500 tasks with long titles: it reads it 500 times.

use crate::support::has::Has;
use std::fmt::Write;

use super::support::{FEATURE, Project, Said};

/// 500 tasks, the first 100 done; each title is long, each block longer.
fn long_list() -> String {
    let words =
        "a long sentence about what is to be built, with \u{e4}\u{f6}\u{fc} and a path ".repeat(5);
    (1..=500).fold(String::from("# Tasks\n\n"), |mut list, number| {
        let mark = if number <= 100 { 'x' } else { ' ' };
        let _ = writeln!(list, "- [{mark}] T{number:04} [P] {words} src/{number}.rs");
        let _ = writeln!(list, "  - **Do**: {words}\n  - **Files**: `src/{number}.rs`");
        list
    })
}

#[track_caller]
fn assert_short(said: &Said, most: usize) {
    let length = said.out.chars().count() + said.err.chars().count();
    assert!(length <= most, "{length} characters, {most} are allowed:\n{said:?}");
}

#[test]
fn long_list_answers_stay_short() {
    let project = Project::armed_with(&long_list(), "--recovery-mode");
    assert_short(&project.task(&["done", "T0101"]), 120);
    assert_short(&project.task(&["done", "T0101"]), 120);
    assert_short(&project.task(&["fail", "T0102", &"no ".repeat(2_000)]), 200);
    assert_short(&project.task(&["add", "--after", "T0300", &"more ".repeat(2_000)]), 200);
    assert_short(&project.task(&["verify", "T0102"]), 200);
    assert_short(&project.task(&["done", "T9999"]), 200);
    assert_short(&project.task(&["fail", &"T".repeat(5_000), "no"]), 500);
    assert_short(&project.task(&["list"]), 60 * 115);
    assert_short(&project.task(&["block", &"a key ".repeat(2_000)]), 200);
    assert_short(&project.task(&["next"]), 200);
}

#[test]
fn next_adds_little() {
    let list = long_list();
    let project = Project::armed(&list);
    let next = project.task(&["next"]);
    let blocks: usize = (101..=110)
        .map(|number| {
            let start = list.find(&format!("- [ ] T{number:04}")).unwrap();
            let end = list.find(&format!("- [ ] T{:04}", number + 1)).unwrap();
            list[start..end].chars().count()
        })
        .sum();
    assert_short(&next, blocks + 500);
    assert!(next.ok().contains("delegate it in one message: T0101 spec-executor, "));
    let project = Project::armed(&list.replace(" [P]", ""));
    let next = project.task(&["next"]);
    assert_short(&next, blocks / 10 + 200);
}

#[test]
fn list_shows_open_tasks() {
    let project = Project::armed(&long_list());
    let list = project.task(&["list"]).ok();
    assert_eq!(list.lines().count(), 61);
    assert!(list.starts_with("[ ] T0101 a long sentence"), "{list}");
    assert!(
        list.ends_with("100 of 500 done; `spool task list --all` shows every task\n"),
        "{list}"
    );
    let list = project.task(&["list", "--all"]).ok();
    assert_eq!(list.lines().count(), 501);
    assert!(list.ends_with("\n100 of 500 done\n"));
}

#[test]
fn refusal_shows_output_end() {
    let project = Project::armed("- [ ] T001 a\n  - Verify: `seq 1 100000; false`\n");
    assert_short(&project.task(&["done", "T001"]), 1_800);
    assert_short(&project.task(&["verify", "T001"]), 1_700);
}

#[test]
fn hook_and_reminder_stay_short() {
    let project = Project::armed(&long_list());
    let reason = project.stop("Not done.");
    assert!(reason.reason().chars().count() < 3_000, "{}", reason.reason().chars().count());
    let reminder = project.session_start("compact");
    assert!(reminder.context().chars().count() < 1_200);
}

#[test]
fn compaction_brings_one_paragraph() {
    let project = Project::armed(&long_list());
    for source in ["startup", "clear", "other", ""] {
        project.session_start(source).silent();
    }
    for source in ["compact", "resume"] {
        let reminder = project.session_start(source);
        let paragraph = reminder.context();
        assert_eq!(paragraph.lines().count(), 1);
        paragraph.has(&format!("feature {FEATURE}, task 101 of 500, iteration 1."));
        assert!(paragraph.contains("`spool task next`"), "{paragraph}");
    }
    project.task(&["block", "a key"]).ok();
    project.session_start("compact").silent();
    let idle = Project::with(&long_list());
    idle.session_start("compact").silent();
    idle.session_start("resume").silent();
}

#[test]
fn reminder_is_for_its_session() {
    let project = Project::armed(&long_list());
    let mut event = project.stop_event("");
    event["hook_event_name"] = "SessionStart".into();
    event["source"] = "compact".into();
    event["session_id"] = "somebody-else".into();
    project.hook(&event).silent();
}
