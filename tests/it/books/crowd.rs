//! Many at once: twenty processes keep the books of one list of 200 tasks, and nothing is lost.

use crate::support::amounts::few_or_all;
use crate::support::limited::{Limited, Over};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};

use serde_json::json;

use super::support::{Project, boxes, text};

const PROCESSES: usize = 20;

fn list(tasks: usize) -> String {
    (1..=tasks).fold(String::from("# Tasks\n\n"), |mut list, number| {
        let _ = writeln!(list, "- [ ] T{number:03} Do number {number}\n  - Files: src/{number}.rs");
        list
    })
}

/// Runs the same story in twenty threads that begin together; each call is a process of its own.
fn all_at_once(story: impl Fn(usize) + Sync) {
    let begin = Barrier::new(PROCESSES);
    std::thread::scope(|scope| {
        for worker in 0..PROCESSES {
            let (begin, story) = (&begin, &story);
            scope.spawn(move || {
                begin.wait();
                story(worker);
            });
        }
    });
}

#[test]
fn twenty_processes_lose_nothing() {
    let project = Project::armed_with(&list(200), "--max-task-iterations 1000");
    let each = few_or_all(3, 7);
    all_at_once(|worker| {
        let id = |number: usize| format!("T{:03}", worker * 10 + number);
        for number in 1..=each {
            project.task(&["done", &id(number)]).ok();
        }
        project.task(&["fail", &id(8), "once"]).ok();
        project.task(&["fail", &id(9), "twice"]).ok();
        project.task(&["fail", &id(9), "twice"]).ok();
        // One task that all of them fail at.
        project.task(&["fail", "T200", &format!("worker {worker}")]).ok();
        project.task(&["add", "--after", &id(1), &format!("Added by {worker}")]).ok();
    });
    project.assert_books_agree();
    let tasks = project.tasks();
    assert_eq!(boxes(&tasks).len(), 220);
    assert_eq!(boxes(&tasks).iter().filter(|ticked| **ticked).count(), PROCESSES * each);
    let state = project.state();
    let mut ids = BTreeSet::new();
    for worker in 0..PROCESSES {
        let id = |number: usize| format!("T{:03}", worker * 10 + number);
        for number in 1..=each {
            assert!(tasks.contains(&format!("- [x] {} Do", id(number))), "{} is open", id(number));
        }
        assert_eq!(state["taskAttempts"][id(8)], 1);
        assert_eq!(state["taskAttempts"][id(9)], 2);
        let added =
            tasks.lines().find(|line| line.ends_with(&format!(" Added by {worker}"))).unwrap();
        assert!(ids.insert(added.split(' ').nth(3).unwrap()), "an id was given twice: {added}");
    }
    assert_eq!(
        ids,
        (201..=220)
            .map(|number| format!("T{number}"))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str)
            .collect()
    );
    assert_eq!(state["taskAttempts"]["T200"], 20);
    assert_eq!(project.entries().len(), PROCESSES * (each + 5));
    // Nothing but boxes and new lines has changed.
    let untouched =
        tasks.lines().filter(|line| !line.contains(" Added by ")).collect::<Vec<_>>().join("\n");
    assert_eq!(untouched.replace("[x]", "[ ]") + "\n", list(200));
}

#[test]
fn twenty_processes_end_loop_once() {
    let project = Project::armed_with(&list(20), "--max-task-iterations 10 --recovery-mode");
    all_at_once(|worker| {
        project.task(&["fail", "T005", &format!("worker {worker}")]).ok();
    });
    assert_eq!(project.state()["taskAttempts"]["T005"], 20);
    let ends = project.log().iter().filter(|entry| entry["event"] == "ended").count();
    assert_eq!(ends, 1);
    assert_eq!(project.end(), "task_failed");
    let repairs = &project.state()["fixTaskMap"]["T005"];
    assert_eq!(repairs["fixTaskIds"], json!(["T005.F1"]), "the open repair is the only one");
    project.assert_books_agree();
    assert!(project.stop("We give up.").told().contains("task_failed"));
}

#[test]
fn readers_see_whole_files() {
    let project = Project::armed(&list(60));
    all_at_once(|worker| {
        for round in 0..3 {
            if worker % 2 == 0 {
                project.task(&["done", &format!("T{:03}", worker * 3 + round + 1)]).ok();
                continue;
            }
            let next = project.task(&["next", "--json"]).json();
            assert_eq!((text(&next["status"]), &next["total"]), ("task", &json!(60)));
            let status = project.status();
            assert_eq!((&status["phase"], &status["total"]), (&json!("execution"), &json!(60)));
        }
    });
    project.assert_books_agree();
}

/// How often a call is made again that failed because a file was taken away under it.
const TRIES: usize = 50;

#[test]
fn l5_ticks_survive_git_clean() {
    let project = Project::with(&list(200));
    // What git tracks, `git clean` leaves alone: the work of a task is a line more in its file.
    for number in 1..=200 {
        project.write(format!("src/{number}.rs"), "");
    }
    project.init();
    project.commit("all");
    project.arm("");
    let acknowledged = Mutex::new(BTreeSet::new());
    let each = few_or_all(3, 10);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                project.command("git").args(["clean", "-fdxq"]).finish();
            }
        });
        let _end = Over(&is_over);
        all_at_once(|worker| {
            for number in 1..=each {
                let id = format!("T{:03}", worker * 10 + number);
                // A call may fail where a file is taken away under it; then it says so, and is made again.
                if (0..TRIES).any(|_| project.task(&["done", &id]).code == Some(0)) {
                    acknowledged.lock().unwrap().insert(id);
                }
            }
        });
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    let tasks = project.tasks();
    let lost: Vec<_> =
        acknowledged.iter().filter(|id| !tasks.contains(&format!("- [x] {id} "))).collect();
    assert!(lost.is_empty(), "{} of {} lost: {lost:?}", lost.len(), acknowledged.len());
    assert_eq!(
        acknowledged.len(),
        PROCESSES * each,
        "acknowledged after at most {TRIES} calls each"
    );
}

#[test]
fn n1_personal_lines_stay() {
    const LINES: usize = 2000;
    let project = Project::armed_with(&list(30), "--max-task-iterations 1000");
    let (written, is_over) = (Mutex::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let _end = Over(&is_over);
        scope.spawn(|| {
            for line in 0..LINES {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let mut file =
                    std::fs::File::options().append(true).open(project.tasks_path()).unwrap();
                std::io::Write::write_all(&mut file, format!("- [ ] Mine {line}.\n").as_bytes())
                    .unwrap();
                *written.lock().unwrap() = line + 1;
                std::thread::yield_now();
            }
        });
        for number in 1..=30 {
            let id = format!("T{number:03}");
            project.task(&["add", "--after", &id, &format!("More of {number}")]).ok();
            project.task(&["done", &id]).ok();
        }
    });
    let (tasks, written) = (project.tasks(), written.into_inner().unwrap());
    let lost: Vec<_> =
        (0..written).filter(|line| !tasks.contains(&format!("- [ ] Mine {line}.\n"))).collect();
    assert!(lost.is_empty(), "{} of {written} lost: {lost:?}", lost.len());
    assert_eq!(tasks.matches("- [x] T").count(), 30);
    assert_eq!(tasks.matches("More of ").count(), 30);
}
