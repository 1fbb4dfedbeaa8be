//! An end that is interrupted between its files keeps its name and its words, and a repeated call doubles
//! nothing.

use std::fs;
use std::path::PathBuf;

use super::support::{FOUR, Project, SESSION};
use serde_json::Value;

/// Ends the loop with these calls, and puts the session's files back to before the last of them, as a kill
/// right after the pin was ended leaves them.
fn ended_and_interrupted(project: &Project, calls: &[&[&str]]) {
    let paths = || [project.record_path(SESSION), project.notes_of(SESSION).join("journal.jsonl")];
    let files = || -> Vec<(PathBuf, Vec<u8>)> {
        paths().into_iter().filter_map(|path| Some((path.clone(), fs::read(path).ok()?))).collect()
    };
    let (last, first) = calls.split_last().unwrap();
    for call in first {
        project.task(call).ok();
    }
    let before = files();
    project.task(last).ok();
    for path in paths() {
        if before.iter().all(|(known, _)| *known != path) {
            let _ = fs::remove_file(path);
        }
    }
    for (path, bytes) in before {
        fs::write(path, bytes).unwrap();
    }
}

/// The next stop tells the person by name, the one after it is silent, and the journal has the end once.
#[track_caller]
fn is_told_once(project: &Project, reason: &str, words: &str) {
    let stop = project.stop("That is all.");
    let told = stop.told();
    assert!(told.contains(&format!("({reason})")) && told.contains(words), "{told}");
    project.stop("That is all.").silent();
    let ends: Vec<Value> =
        project.log().into_iter().filter(|entry| entry["verdict"] == "end").collect();
    assert_eq!(ends.len(), 1, "{ends:#?}");
    assert_eq!(ends[0]["reason"], reason, "{ends:#?}");
    let record = fs::read_to_string(project.record_path(SESSION)).unwrap();
    assert!(record.contains(&format!("\"reason\": \"{reason}\"")), "{record}");
}

#[test]
fn l2_interrupted_block_is_told() {
    let project = Project::armed(FOUR);
    project.stop("Not yet.").reason();
    ended_and_interrupted(&project, &[&["block", "a key for the API"]]);
    is_told_once(&project, "blocked", "a key for the API");
}

#[test]
fn l2_interrupted_failure_is_told() {
    let project = Project::armed_with(FOUR, "--max-task-iterations 2");
    project.stop("Not yet.").reason();
    ended_and_interrupted(&project, &[&["fail", "T002", "no"], &["fail", "T002", "no"]]);
    is_told_once(&project, "task_failed", "T002");
}

#[test]
fn l2_recordless_end_is_told() {
    let project = Project::with(FOUR);
    project.write(
        "specs/001-user-login/.speckit-state.json",
        r#"{"phase": "execution", "taskIndex": 1, "totalTasks": 4}"#,
    );
    ended_and_interrupted(&project, &[&["block", "a key for the API"]]);
    is_told_once(&project, "blocked", "a key for the API");
}

#[test]
fn l2_interrupted_cancel_is_told() {
    let project = Project::armed(FOUR);
    let record = project.record_path(SESSION);
    let before = fs::read(&record).unwrap();
    project.spool(&["cancel"]).ok();
    fs::write(&record, before).unwrap();
    let stop = project.stop("That is all.");
    assert!(stop.told().contains("asked for inside of an agent's session"), "{stop:?}");
    project.stop("That is all.").silent();
}

#[test]
fn l2_a_stop_ends_the_pin_that_is_still_open() {
    let project = Project::armed(FOUR);
    let pin = project.record_path(SESSION).with_file_name("feature-001-user-login.json");
    let open = fs::read(&pin).unwrap();
    project.task(&["block", "a key"]).ok();
    project.stop("I need a key.").told();
    fs::write(&pin, open).unwrap();
    project.stop("I need a key.").silent();
    let pin: Value = serde_json::from_slice(&fs::read(&pin).unwrap()).unwrap();
    assert_eq!(pin["ended"]["reason"]["reason"], "blocked", "{pin:#}");
}

#[test]
fn l7_a_repeated_add_adds_nothing() {
    let project = Project::armed(FOUR);
    // The journal cannot be written: the call fails after the list has the task.
    let journal = project.notes_of(SESSION).join("journal.jsonl");
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    project.task(&["add", "--after", "T002", "Sign the tokens"]).refused();
    fs::remove_dir(&journal).unwrap();
    for _ in 0..2 {
        let said = project.task(&["add", "--after", "T002", "Sign the tokens"]).ok();
        assert!(said.starts_with("T005 was added already after T002."), "{said}");
    }
    assert_eq!(project.tasks().matches("Sign the tokens").count(), 1, "{}", project.tasks());
    assert_eq!(project.entries(), ["added T005 behind T002: Sign the tokens"]);
    project.assert_books_agree();
    // Another one after it, and the first call once more.
    project.task(&["add", "--after", "T002", "Rotate the keys"]).ok();
    let said = project.task(&["add", "--after", "T002", "Sign the tokens"]).ok();
    assert!(said.starts_with("T005 was added already after T002."), "{said}");
    assert_eq!(project.tasks().matches("Sign the tokens").count(), 1, "{}", project.tasks());
}

#[test]
fn l7_cancel_says_what_was() {
    let project = Project::armed(FOUR);
    project.task(&["block", "a key"]).ok();
    let said = project.spool(&["cancel"]).ok();
    assert!(said.contains("The loop had ended before (blocked)"), "{said}");
    assert!(!said.contains("Loop cancelled"), "{said}");
}

#[test]
fn l7_unjournaled_work_is_done() {
    let project = Project::armed(FOUR);
    let journal = project.notes_of(SESSION).join("journal.jsonl");
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    for (call, words) in [("pause", "paused: "), ("resume", "continued: ")] {
        let said = project.spool(&[call]).ok();
        assert!(said.contains(words) && said.contains("It is not in the journal"), "{said}");
        let record = fs::read_to_string(project.record_path(SESSION)).unwrap();
        assert_eq!(record.contains("\"paused\": null"), call == "resume", "{record}");
    }
    let said = project.spool(&["cancel"]).ok();
    assert!(said.contains("Loop cancelled.") && said.contains("not in the journal"), "{said}");
}
