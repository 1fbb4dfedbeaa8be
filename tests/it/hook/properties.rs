//! What holds for every input: no panic, a valid answer, one box ticked.

use crate::hook::support::{Bench, FEATURE, executing};
use crate::support::amounts::few_or_all;
use proptest::prelude::*;
use ralph_speckit::cli::slash;
use ralph_speckit::engine::edit::tick;
use ralph_speckit::engine::tasks::TaskList;
use ralph_speckit::world;
use serde_json::{Value, json};
use std::fs;

/// Pieces of which task lists, and what looks like one, are made.
const PIECES: [&str; 36] = [
    "- [ ] ",
    "- [x] ",
    "* [X] ",
    "-[ ]",
    "- []",
    "- [ ]",
    "- [~] ",
    "+ [ ] ",
    "1. [ ] ",
    "T001 ",
    "T001 ",
    "1.1 ",
    "1.10 ",
    "**T002** ",
    "[P] ",
    "[US1] ",
    "[VERIFY] ",
    "[FIX T001] ",
    "[FIX ",
    "CHK001 ",
    "`",
    "```",
    "~~~~",
    "<!--",
    "-->",
    "# ",
    "## Phase 1",
    "text ",
    "\n",
    "\n",
    "\r\n",
    "\t",
    "  ",
    "\u{e9}\u{1f600}",
    "\u{0}",
    "~2",
];

fn task_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)
        .prop_map(|pieces| pieces.concat())
}

/// Any JSON value that is not too deep.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        "\\PC*".prop_map(Value::from),
        prop::sample::select(vec!["execution", "true", "5", "-1", "1e99", "ALL_TASKS_COMPLETE"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Value::from))
}

fn is_valid(bytes: &[u8]) -> Result<(), TestCaseError> {
    let answer = slash::answer_event(bytes);
    if let Some(line) = &answer.stdout {
        prop_assert!(!line.contains('\n'));
        prop_assert!(serde_json::from_str::<Value>(line).is_ok_and(|value| value.is_object()));
    }
    prop_assert!(answer.stderr.iter().all(|line| line.starts_with("[ralph-speckit] ")));
    prop_assert!(!answer.stderr.iter().any(|line| line.chars().any(char::is_control)));
    Ok(())
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(few_or_all(200, 1_000)))]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        is_valid(&bytes)?;
    }

    #[test]
    fn no_event_makes_it_panic(fields in prop::collection::hash_map(
        prop::sample::select(vec!["hook_event_name", "session_id", "transcript_path",
            "stop_hook_active", "last_assistant_message", "background_tasks", "command_name",
            "command_args", "agent_id", "error", "source"]),
        json_value(),
        0..8,
    )) {
        is_valid(json!(fields).to_string().as_bytes())?;
    }

    #[test]
    fn texts_read_and_ticks_change_boxes(text in task_text()) {
        let list = TaskList::parse(text.as_bytes());
        for task in &list.tasks {
            let before = &text.as_bytes()[..task.mark_at];
            prop_assert!(before.trim_ascii_end().ends_with(b"["));
            prop_assert!(task.block.contains(&task.mark_at));
            let ticked = tick(text.as_bytes(), task);
            let behind = |text: &[u8]| {
                let end = text[task.mark_at..].iter().position(|byte| *byte == b']');
                text[task.mark_at + end.unwrap()..].to_vec()
            };
            prop_assert_eq!(&ticked[..task.mark_at], &text.as_bytes()[..task.mark_at]);
            prop_assert_eq!(behind(&ticked), behind(text.as_bytes()));
            prop_assert_eq!(ticked == text.as_bytes(), task.done);
            let after = TaskList::parse(&ticked);
            prop_assert_eq!(after.done(), list.done() + usize::from(!task.done));
            let ids = |list: &TaskList| {
                list.tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>()
            };
            prop_assert_eq!(ids(&after), ids(&list));
            prop_assert!(after.find(&task.id).is_some_and(|task| task.done));
        }
        let mut taken: Vec<_> = list.tasks.iter().map(|task| task.id.to_ascii_uppercase()).collect();
        taken.sort();
        taken.dedup();
        prop_assert_eq!(taken.len(), list.tasks.len(), "every task has an id of its own");
    }

    #[test]
    fn any_bytes_are_a_list(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        TaskList::parse(&bytes);
    }
}

proptest! {
    #![proptest_config(cases(few_or_all(15, 60)))]

    /// The library is asked here, not the program: hundreds of projects, each with files of its own.
    #[test]
    fn no_project_makes_it_panic(
        list in task_text(),
        field in prop::sample::select(vec!["phase", "taskIndex", "totalTasks", "taskIteration",
            "maxTaskIterations", "globalIteration", "maxGlobalIterations", "awaitingApproval"]),
        value in json_value(),
        words in "\\PC*|ALL_TASKS_COMPLETE",
        transcript in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut state = executing(1, 3);
        state[field] = value;
        let bench = Bench::project().current_feature(FEATURE).tasks(&list).state(&state);
        fs::write(bench.transcript("s1").path, transcript).unwrap();
        for held in [false, true, true, true] {
            let event = json!({"session_id": "s1", "cwd": &bench.root, "stop_hook_active": held,
                "transcript_path": bench.transcript("s1").path, "last_assistant_message": words});
            is_valid(event.to_string().as_bytes())?;
        }
        // The loop is kept in the home folder that the library has seen.
        let home = world::home().unwrap();
        let last = bench.stop("s1").saying(&words).variable("HOME", home.to_str().unwrap()).run();
        prop_assert!(!last.is_block(), "held for ever: {}", last);
    }
}
