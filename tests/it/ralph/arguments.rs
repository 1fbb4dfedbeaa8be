//! What is typed behind the command: it arrives unchanged, and mistakes cost no token.

use crate::hook::support::Bench;
use crate::ralph::{PROMISE, armed, ralph, works_and_says};
use crate::support::has::Has;
use std::fs;

const AWKWARD: [&str; 10] = [
    "it's the users' task, don't cut it",
    "say \"hi\" to $(touch pwned) and `touch pwned` in * ?",
    "one\ntwo\n\n---\nkey: value\n---\nthree",
    "left -- right",
    "$& $1 \\1 \\n %s {}",
    "\u{1f600} \u{fc}\u{4e2d}",
    "<b>&amp;</b> | ; & > out",
    "  spaces   stay  ",
    "a tab\there",
    "!`touch pwned`",
];

#[test]
fn task_arrives_whole_unrun() {
    for task in AWKWARD {
        let bench = Bench::folder();
        let start = ralph(&bench, "s1", &format!("\"{task}\" --max-iterations 4"));
        start.context().has(&format!("Task:\n{task}\n\nThe rules"));
        let stop = works_and_says(&bench, "no");
        assert!(stop.reason().ends_with(&format!("Original task: {task}")), "{task}\n{stop}");
        assert_eq!(bench.record("s1").assignment.unwrap().task, task);
        let names: Vec<_> =
            fs::read_dir(&bench.root).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert!(names.iter().all(|name| name != "pwned" && name != "out"), "{names:?}");
    }
}

#[test]
fn long_task_goes_by_file() {
    let task = format!("Begin here. {}\n$(x) \"end\"", "word ".repeat(2_000));
    let bench = Bench::folder();
    let start = ralph(&bench, "s1", &format!("\"{task}\""));
    let path = bench.path(".claude/ralph/s1/task.md");
    assert_eq!(fs::read_to_string(&path).unwrap(), task);
    for text in [start.context().to_owned(), works_and_says(&bench, "no").reason().to_owned()] {
        assert!(text.contains(path.to_str().unwrap()), "{text}");
        assert!(text.contains("It begins: Begin here. word"), "{text}");
        assert!(text.chars().count() < 2_500, "{} characters", text.chars().count());
    }
}

#[test]
fn task_may_be_a_file() {
    let bench = Bench::folder().file("plan/task.txt", "Do\n--this\nand \"that\"\n");
    let start = ralph(&bench, "s1", "--prompt-file plan/task.txt --max-iterations 3");
    assert!(start.context().contains("Task:\nDo\n--this\nand \"that\"\n"), "{start}");
    for (file, words) in [("missing.txt", "it does not exist"), ("src", "it is a folder")] {
        let refusal = ralph(&Bench::folder(), "s1", &format!("--prompt-file {file}"));
        assert!(refusal.reason().contains(words), "{refusal}");
    }
}

#[test]
fn mistake_costs_no_token() {
    for (arguments, words) in [
        ("", "there is no task"),
        ("\"Make it\" --max-iteration 3", "unknown option `--max-iteration`"),
        ("Make it --max-iterations three", "not `three`"),
        ("Make it --completion-promise \"\"", "`--completion-promise` is empty"),
        ("Make it --max-iterations 3 now", "`now` comes after the flags"),
    ] {
        let bench = Bench::folder();
        let refusal = ralph(&bench, "s1", arguments);
        assert!(refusal.reason().starts_with("Ralph-speckit: "), "{refusal}");
        assert!(refusal.reason().contains(words), "{refusal}");
        assert!(refusal.reason().contains("Usage: /speckit:ralph-loop"), "{refusal}");
        assert!(!bench.path(".claude").exists(), "nothing is written");
        bench.stop("s1").run().silent();
    }
}

#[test]
fn written_limit_is_a_limit() {
    for (arguments, limit) in [
        ("\"Make it\" --max-iterations=3", 3),
        ("--max-iterations 3 Make it", 3),
        ("Make it --max-iterations=08", 8),
        ("Make it\n--max-iterations\n3", 3),
    ] {
        let bench = armed(arguments);
        let mut stops = 1;
        while works_and_says(&bench, "no").is_block() {
            stops += 1;
        }
        assert_eq!(stops, limit, "{arguments}");
        assert_eq!(bench.record("s1").assignment.unwrap().task, "Make it");
    }
}

#[test]
fn no_limit_is_a_warning() {
    let bench = Bench::folder();
    let start = ralph(&bench, "s1", "Make it --max-iterations 0");
    assert!(start.message().contains(" · no limit of iterations\n"), "{start}");
    assert!(start.context().contains("Warning: no limit of iterations was set"), "{start}");
    for line in 0..60 {
        bench.write("work", "x".repeat(line));
        works_and_says(&bench, "no").reason();
    }
    works_and_says(&bench, PROMISE).told();
}
