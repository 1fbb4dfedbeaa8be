//! What a stop costs: two or three lines for an agent that knows its contract, all of it again from time to time, and more
//! urgent words for one that asks for the same again.

use crate::hook::support::{Bench, FEATURE, numbered_tasks};
use crate::support::has::Has;

const SIGNAL: &str = "ALL_TASKS_COMPLETE";
/// The characters of an average stop with 50 tasks before there was a short text; newer clients handed it over twice.
const BEFORE: usize = 1_066;

fn length(text: &str) -> usize {
    text.chars().count()
}

/// A stop without a tool call, as the transcript shows.
fn idle(bench: &Bench, words: &str) -> String {
    bench.transcript("s1").assistant(words);
    bench.stop("s1").held().saying(words).run().reason().to_owned()
}

/// A stop after a tool call.
fn busy(bench: &Bench, words: &str) -> String {
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").held().saying(words).run().reason().to_owned()
}

/// What the agent gets after a compaction.
fn compacted(bench: &Bench) -> String {
    let start = bench.event("SessionStart", "s1").with("source", "compact").run();
    let output = &start.answer.as_ref().unwrap()["hookSpecificOutput"];
    output["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn ordinary_stop_is_three_lines() {
    let bench = Bench::project().current_feature(FEATURE).tasks(&numbered_tasks(50, 0));
    bench.implement("s1", "");
    let mut sum = 0;
    for done in 1..=49 {
        bench.write_tasks(&numbered_tasks(50, done));
        bench.transcript("s1").tool("Edit");
        let stop = bench.stop("s1").held().run();
        let reason = stop.reason();
        sum += length(reason);
        let next = format!("{} of 50: T{:03}", 50 - done, done + 1);
        reason.has_all(&[
            &format!("Continue feature: 001-login (Task {}/50, Iter {done})\n", done + 1),
            "State: .specify/specs/001-login/.speckit-state.json",
            &next,
            "spool task next",
            "spool task done",
            "spool task fail",
            "spool task block",
            "spec-executor",
            "qa-engineer",
            "[VERIFY]",
            SIGNAL,
        ]);
        assert!(!reason.contains(bench.root.to_str().unwrap()), "{reason}");
        let is_whole = done % 10 == 0;
        assert_eq!(reason.contains("How to resume:"), is_whole, "{reason}");
        if is_whole {
            assert!(length(reason) < 1_200, "{} characters:\n{reason}", length(reason));
        } else {
            assert_eq!(reason.lines().count(), 3, "{reason}");
            assert!(length(reason) < 500, "{} characters:\n{reason}", length(reason));
        }
    }
    eprintln!("an average stop with 50 tasks: {} characters", sum / 49);
    assert!(sum * 3 <= 2 * BEFORE * 49, "{} characters on average", sum / 49);
}

#[test]
fn unread_command_gets_the_contract() {
    let bench = Bench::in_execution();
    bench.transcript("s1").tool("Edit");
    let first = bench.stop("s1").run();
    assert!(first.reason().contains("How to resume:\n1. `spool task next`"), "{first}");
    assert!(!busy(&bench, "no").contains("How to resume:"));
}

#[test]
fn idle_agent_hears_the_last_warning() {
    let bench = Bench::armed();
    assert!(!busy(&bench, "one").contains("did nothing"));
    let second = idle(&bench, "two");
    second.has("You were sent back and did nothing. Run `spool task next`");
    let third = idle(&bench, "three");
    assert!(third.contains("Last warning: 2 stops in a row without a tool call."), "{third}");
    assert!(third.contains("ends the loop (no_progress)"), "{third}");
    assert!(length(&second) < 900 && length(&third) < 900);
    bench.transcript("s1").assistant("four");
    assert!(bench.stop("s1").held().saying("four").run().told().contains("(no_progress)"));
}

#[test]
fn stuck_agent_is_told_to_the_end() {
    let bench = Bench::armed();
    let mut reasons = Vec::new();
    loop {
        bench.transcript("s1").tool("Edit");
        let stop = bench.stop("s1").held().run();
        let answer = stop.answer.clone().unwrap();
        let Some(reason) = answer["reason"].as_str() else { break };
        reasons.push(reason.to_owned());
        assert!(reasons.len() < 20, "it never ends: {reason}");
    }
    let verdicts = bench.verdicts("s1");
    assert_eq!(verdicts.last().unwrap(), "end no_progress");
    let (last, before) = reasons.split_last().unwrap();
    assert!(last.contains("Last warning: 9 iterations in a row got no further."), "{last}");
    assert!(!reasons[0].contains("The same tasks are open"), "{}", reasons[0]);
    for reason in &before[1..] {
        assert!(reason.contains("The same tasks are open as at your last stop"), "{reason}");
    }
    // Getting further takes it back.
    let bench = Bench::armed();
    for _ in 0..3 {
        busy(&bench, "no");
    }
    bench.tick("T002");
    assert!(!busy(&bench, "no").contains("The same tasks are open"));
}

#[test]
fn repeated_claim_counts_its_refusals() {
    let bench = Bench::armed();
    let first = busy(&bench, SIGNAL);
    assert!(first.contains("tasks are still open") && !first.contains("refused"), "{first}");
    let second = busy(&bench, SIGNAL);
    assert!(second.contains("That claim was refused 2 times"), "{second}");
}

#[test]
fn same_failure_is_shown_once() {
    let bench = Bench::project().current_feature(FEATURE).tasks("- [ ] T001 a\n");
    let bench = bench.settings("---\nchecks: ['seq 1 900; false']\n---\n");
    bench.implement("s1", "");
    bench.tick("T001");
    let first = busy(&bench, SIGNAL);
    let second = busy(&bench, SIGNAL);
    assert!(second.contains("The check fails as it did before"), "{second}");
    assert!(length(&first) > 1_600 && length(&second) < 1_300, "{second}");
    assert!(second.contains("spec-executor") && second.contains(SIGNAL), "{second}");
}

#[test]
fn compaction_brings_the_contract_back() {
    let bench = Bench::armed();
    let start = compacted(&bench);
    start.has_all(&[
        "spool task next",
        "spool task done",
        "spool task fail",
        "spool task add",
        "spool task block",
        "spec-executor",
        "qa-engineer",
        "[VERIFY]",
        "[P]",
        "Never tick a box by hand",
        ".speckit-state.json",
        ".progress.md in .specify/specs/001-login",
        SIGNAL,
    ]);
}

#[test]
fn t9_continuation_carries_the_task() {
    let line = "Write a parser for the configuration language, with a test for each rule.\n";
    let task = line.repeat(27);
    let task = task.trim();
    assert!((1_900..=2_000).contains(&length(task)));
    let bench = Bench::project();
    let start = bench.command("s1", "speckit:ralph-loop", &format!("\"{task}\"")).run();
    assert!(start.context().contains(task), "{start}");
    let whole = format!("\nOriginal task: {task}");
    for iteration in 1..=20 {
        bench.write(format!("made/{iteration}"), "x");
        let reason = busy(&bench, "no");
        assert!(reason.ends_with(&whole), "{reason}");
        assert_eq!(reason.contains("The rules are strict"), iteration % 10 == 0, "{reason}");
        assert!(reason.contains("<promise>DONE</promise>"), "{reason}");
        assert!(reason.contains("spool block"), "{reason}");
    }
    bench.write("made/more", "x");
    assert!(shown(&bench, "no").0.ends_with(&whole));
    let again = compacted(&bench);
    assert!(again.ends_with(&whole), "{again}");
    assert!(again.contains("The rules are strict"), "{again}");
}

/// The room that the client leaves on 80 columns, after its margin.
const ROOM: usize = 74;

/// How many lines a text takes there, broken between words as the client does.
fn lines_on_80_columns(text: &str) -> usize {
    let line = |line: &str| {
        let mut sum = (1, 0);
        for word in line.split(' ').map(length) {
            let (lines, used) = sum;
            let joined = if used == 0 { word } else { used + 1 + word };
            sum = if joined > ROOM { (lines + 1, word) } else { (lines, joined) };
        }
        sum.0
    };
    text.lines().map(line).sum()
}

/// What an agent of a newer client reads at this stop, what the person does, and how many lines of 80 columns both take.
fn shown(bench: &Bench, words: &str) -> (String, String, usize) {
    bench.transcript("s1").tool("Edit");
    let call = bench.stop("s1").by_plugin().held().saying(words);
    let call = call.variable("AI_AGENT", "claude-code_2-1-330_harness");
    let stop = call.variable("CLAUDE_CODE_SESSION_ID", "s1").run();
    let answer = stop.answer.as_ref().unwrap();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().expect("more context");
    let message = answer["systemMessage"].as_str().unwrap();
    let heads = [format!("Stop hook says: {text}"), format!("Stop says: {message}")];
    let lines = heads.iter().map(|text| lines_on_80_columns(text)).sum();
    (text.to_owned(), message.to_owned(), lines)
}

#[test]
fn context_stop_takes_four_narrow_lines() {
    let feature = "012-real-time-chat-system";
    let bench = Bench::project().current_feature(feature).tasks(&numbered_tasks(50, 0));
    bench.implement("s1", "");
    let mut sum = 0;
    for done in 1..=49 {
        bench.write_tasks(&numbered_tasks(50, done));
        let (text, message, lines) = shown(&bench, "One more.");
        sum += length(&text);
        assert!(lines <= 4, "{lines} lines: {message}\n{text}");
        let head = format!("Continue feature: {feature} (Task {}/50, Iter {done}) ", done + 1);
        let open = format!("{} of 50 open, next T{:03}.", 50 - done, done + 1);
        text.has_all(&[
            &*head,
            &open,
            "spec-executor",
            "spool task next",
            "spool task block",
            SIGNAL,
        ]);
    }
    eprintln!("with more context: {} characters", sum / 49);
    // After a compaction the agent has all of it again.
    assert!(compacted(&bench).contains("spool task done"));
}

#[test]
fn refused_claim_takes_four_narrow_lines() {
    let feature = "012-real-time-chat-system";
    let bench = Bench::project().current_feature(feature).tasks(&numbered_tasks(50, 0));
    bench.implement("s1", "");
    for done in 1..=12 {
        bench.write_tasks(&numbered_tasks(50, done));
        let (text, message, lines) = shown(&bench, SIGNAL);
        assert!(lines <= 4, "{lines} lines: {message}\n{text}");
        let said =
            format!("claimed done, but {} of 50 are open · next T{:03}", 50 - done, done + 1);
        assert_eq!(message, format!("Ralph-speckit: {said}"));
        let times = if done == 1 { ".".to_owned() } else { format!(", {done} times now.") };
        let refused = format!("{SIGNAL} is refused{times} {} of 50 open, next ", 50 - done);
        text.has_all(&[&*refused, "spec-executor", "spool task next", "spool task block"]);
    }
}

#[test]
fn stuck_agent_takes_few_lines() {
    let bench = Bench::project().current_feature(FEATURE).tasks(&numbered_tasks(50, 12));
    bench.implement("s1", "");
    for number in 1..=10 {
        let (text, message, lines) = shown(&bench, "No.");
        assert_eq!(text.contains("No box was ticked since: "), (2..=9).contains(&number), "{text}");
        assert_eq!(text.contains("Last warning: 9 iterations"), number == 10, "{text}");
        assert!(text.contains("38 of 50 open, next T013."), "{text}");
        assert!(number == 10 || lines <= 4, "{lines} lines: {message}\n{text}");
    }
}

#[test]
fn e2_continuations_carry_instruction_and_rule() {
    for command in ["ralph-loop", "ulw-loop"] {
        let bench = Bench::project();
        bench.command("s1", &format!("speckit:{command}"), "\"Write a parser\"").run();
        for number in 1..=11 {
            bench.write(format!("made/{number}"), "x");
            let (text, ..) = shown(&bench, "no");
            text.has_all(&[
                "you did not output the completion promise <promise>DONE</promise>",
                "Only output the promise when the task is fully complete.",
                "spool block",
                "\nOriginal task: Write a parser",
            ]);
            let begins = text.starts_with("ULTRAWORK MODE: full effort.");
            assert_eq!(begins, command == "ulw-loop", "{text}");
        }
    }
}
