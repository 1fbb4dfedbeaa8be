//! What the loop says is short, plain, and never mistaken for what the agent says.

use super::*;
use crate::engine::promise::stands_alone;
use crate::engine::tasks::TaskList;
use crate::engine::{CheckResult, Obstacle, Stall, Tampered, TerminalReason};
use crate::feature::project::Project;
use crate::feature::state::State;
use crate::session::messages::ends::*;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A feature's files as they are read from a folder of their own.
fn snapshot(name: &str, tasks: Option<&str>, state: &str) -> (TempDir, FeatureSnapshot) {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join(".specify/specs").join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(STATE), state).unwrap();
    if let Some(tasks) = tasks {
        fs::write(folder.join(TASKS), tasks).unwrap();
    }
    let project = Project::around(scratch.path()).unwrap();
    let snapshot = FeatureSnapshot::read(&project.feature(name).unwrap()).unwrap();
    (scratch, snapshot)
}

const EXECUTING: &str = r#"{"phase":"execution","taskIndex":0,"totalTasks":3,"maxGlobalIterations":4294967295,"maxTaskIterations":4294967295,"taskIteration":4294967295}"#;

fn record() -> Record {
    Record { about: SIGNAL.to_owned(), ..Record::default() }
}

/// A record with this ledger.
fn of(ledger: &Ledger) -> Record {
    Record { ledger: ledger.clone(), ..Record::default() }
}

/// Everything that can be missing, with long and hostile words in it.
fn everything_missing() -> Vec<Shortfall> {
    let signal = format!("{SIGNAL}\n").repeat(200);
    let hostile = format!("x\n{SIGNAL}\n\u{1b}[31m");
    let check = CheckResult {
        run: hostile.clone(),
        passed: false,
        outcome: "exit code 1".to_owned(),
        tail: signal,
        review: None,
    };
    vec![
        Shortfall::ClaimedWithOpenTasks,
        Shortfall::OpenTasks,
        Shortfall::EmptyList,
        Shortfall::NoToken,
        Shortfall::PromiseNotMade,
        Shortfall::NoWork { calls: 0, needed: 9 },
        Shortfall::TooEarly { first: 9 },
        Shortfall::CheckFailed(check),
        Shortfall::ChecksNotRun,
        Shortfall::Tampered(Tampered {
            removed: vec![hostile.clone(); 200],
            reworded: vec![hostile; 200],
        }),
    ]
}

fn every_end() -> Vec<TerminalReason> {
    let hostile = format!("x\n{SIGNAL}\n\u{1b}[31m");
    vec![
        TerminalReason::Completed,
        TerminalReason::MaxIters { limit: 1 },
        TerminalReason::NoProgress { stall: Stall::NoToolCall, times: 3 },
        TerminalReason::NoProgress { stall: Stall::SameFingerprint, times: 3 },
        TerminalReason::TaskFailed { task: hostile.clone(), used: 6, limit: 5 },
        TerminalReason::Blocked { need: hostile.clone(), by: Obstacle::Other },
        TerminalReason::Cancelled,
        TerminalReason::Stopped,
        TerminalReason::TimedOut { limit: 60 },
        TerminalReason::HarnessFailed { why: hostile },
        TerminalReason::CorruptState,
    ]
}

#[test]
fn reason_stays_under_4000_characters() {
    let long = "9".repeat(180);
    let list: String = (0..5_000).fold(String::new(), |list, number| {
        list + &format!("- [ ] T{number:06}{long} \u{1f600} a title\n")
    });
    let (_scratch, mut snapshot) = snapshot(&"\u{fc}".repeat(90), Some(&list), EXECUTING);
    assert_eq!(snapshot.tasks.as_ref().map(|list| list.tasks.len()), Some(5_000));
    snapshot.feature.folder = PathBuf::from(format!("/{}", "folder-name/".repeat(340)));
    assert!(snapshot.feature.folder.as_os_str().len() > 4_000);
    let ledger = Ledger { iterations: u32::MAX, ..Ledger::default() };
    for missing in [Vec::new(), vec![Shortfall::ClaimedWithOpenTasks], everything_missing()] {
        let text = resume(&snapshot, &of(&ledger), &missing, ContinueForm::Block);
        assert!(text.chars().count() < 4_000, "{} characters", text.chars().count());
        assert!(text.starts_with("Continue feature: "));
    }
    let text =
        resume(&snapshot, &of(&ledger), &[Shortfall::ClaimedWithOpenTasks], ContinueForm::Block);
    for words in [STATE, TASKS, "spec-executor", "qa-engineer", "[VERIFY]", SIGNAL, "more"] {
        assert!(text.contains(words), "`{words}` is cut off:\n{text}");
    }
    for reason in every_end() {
        assert!(end_message(&snapshot, &record(), &reason, None).chars().count() < 4_000);
    }
}

#[test]
fn our_texts_never_complete() {
    let list = format!("- [ ] {SIGNAL}\n- [ ] T002 {SIGNAL}\n");
    let desks = [
        snapshot("001-a", Some(&list), EXECUTING),
        snapshot(SIGNAL, None, EXECUTING),
        snapshot(SIGNAL, Some(""), "{"),
        snapshot("001-a", Some(&list), &format!("{{\n{SIGNAL}\n}}")),
    ];
    let ledger = Ledger::default();
    for (_scratch, snapshot) in &desks {
        let mut texts = vec![
            resume(snapshot, &of(&ledger), &everything_missing(), ContinueForm::Block),
            progress(snapshot, &ledger, &everything_missing()),
            corrupt(snapshot),
            stopped_line(snapshot),
            gone_message(&record(), snapshot.place()),
        ];
        let by_command = Record { armed_by: crate::store::names::ArmedBy::Command, ..of(&ledger) };
        for missing in everything_missing() {
            let missing = std::slice::from_ref(&missing);
            texts.push(resume(snapshot, &by_command, missing, ContinueForm::Context));
        }
        for missing in everything_missing() {
            let missing = std::slice::from_ref(&missing);
            texts.push(resume(snapshot, &of(&ledger), missing, ContinueForm::Block));
        }
        for reason in every_end() {
            texts.push(end_message(snapshot, &record(), &reason, Some("check failed: `x`")));
            texts.push(end_line(snapshot, &reason));
        }
        for text in texts {
            assert!(!stands_alone(&text, SIGNAL), "{text}");
        }
    }
}

#[test]
fn our_texts_never_draw() {
    let list = "- [ ] **\u{1b}[31mT001** a\n- [ ] T002\u{9b} b\n";
    let (_scratch, mut snapshot) = snapshot("001-a", Some(list), "{\"a\":\u{1b}}");
    snapshot.feature.folder = PathBuf::from("/a\u{1b}[31m/b\n/c");
    let ledger = Ledger::default();
    let mut texts = vec![
        resume(&snapshot, &of(&ledger), &everything_missing(), ContinueForm::Block),
        corrupt(&snapshot),
    ];
    texts.extend(
        every_end()
            .iter()
            .map(|reason| end_message(&snapshot, &record(), reason, Some("check \u{1b}failed"))),
    );
    for text in texts {
        let drawn = text.chars().find(|letter| letter.is_control() && *letter != '\n');
        assert_eq!(drawn, None, "{text:?}");
    }
}

#[test]
fn ends_say_what_is_next() {
    let (_scratch, snapshot) = snapshot("001-a", Some("- [x] T001 a\n- [ ] T002 b\n"), EXECUTING);
    for reason in every_end() {
        let message = end_message(&snapshot, &record(), &reason, None);
        let head = match reason {
            TerminalReason::Completed => "Ralph-speckit: done: ".to_owned(),
            _ => format!("Ralph-speckit: ended ({}): ", reason.name()),
        };
        assert!(message.starts_with(&head), "{message}");
        assert!(message.contains("/speckit:implement"), "{message}");
    }
}

#[test]
fn fitting_open_tasks_are_named() {
    let (_scratch, mut snapshot) = snapshot("001-a", None, EXECUTING);
    assert_eq!(open_tasks(&snapshot), "");
    let list = |text: &str| Some(TaskList::parse(text.as_bytes()));
    snapshot.tasks = list("");
    assert_eq!(open_tasks(&snapshot), "none, the list holds no task");
    snapshot.tasks = list("- [x] T001 a\n- [ ] T002 b\n- [ ] T003 c\n");
    assert_eq!(open_tasks(&snapshot), "2 of 3: T002, T003");
    let text = (0..1_000).fold(String::new(), |all, at| all + &format!("- [ ] T001 a{at}\n"));
    snapshot.tasks = list(&text);
    let text = open_tasks(&snapshot);
    assert!(text.starts_with("1000 of 1000: T001, T001~2, "), "{text}");
    assert!(text.ends_with(" more") && text.len() < LIST + 60, "{text}");
}

#[test]
fn list_outranks_state_place() {
    let place = |tasks, state: &str| {
        let (_scratch, snapshot) = snapshot("001-a", tasks, state);
        (snapshot.place().task, snapshot.place().total, snapshot.place().done)
    };
    assert_eq!(place(Some("- [x] T1 a\n- [ ] T2 b\n"), EXECUTING), (2, 2, 1));
    assert_eq!(place(Some("- [x] T1 a\n- [x] T2 b\n"), EXECUTING), (2, 2, 2));
    assert_eq!(place(None, r#"{"taskIndex":1,"totalTasks":3}"#), (2, 3, 1));
    assert_eq!(place(None, r#"{"taskIndex":9,"totalTasks":3}"#), (3, 3, 3));
    assert_eq!(place(None, "{}"), (1, 0, 0));
    assert_eq!(State::parse(b"{}").unwrap().max_global_iterations(), 100);
}
