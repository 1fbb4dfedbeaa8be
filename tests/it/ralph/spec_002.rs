//! Spec 002 (the ralph loop command): its acceptance tests by their names, and what it injects.

use crate::hook::support::Bench;
use crate::ralph::cli::{printed, spool};
use crate::ralph::{PROMISE, armed, change, ralph, works_and_says};
use crate::support::has::Has;

#[test]
fn acceptance_1_stops_on_promise() {
    let bench = armed("\"Write the parser\"");
    works_and_says(&bench, "Not yet.").reason();
    let stop = works_and_says(&bench, &format!("All is done. {PROMISE}"));
    assert_eq!(
        stop.told(),
        "Ralph-speckit: done (PROMISE_ACCEPTED): Write the parser · on the agent's word alone: no check · 2 iterations"
    );
    let last = bench.journal("s1").pop().unwrap();
    assert_eq!(last["reason"], "completed");
    assert_eq!(last["status"], "PROMISE_ACCEPTED");
    assert_eq!(last["promise"], "accepted");
    assert_eq!(last["iteration"], 2);
    bench.stop("s1").run().silent();
}

#[test]
fn acceptance_2_blocks_exit_without_promise() {
    let bench = armed("\"Write the parser\"");
    let stop = works_and_says(&bench, "I'm done");
    let reason = stop.reason();
    reason.has_all(&["You attempted to end the loop, but you did not output the completion promise <promise>DONE</promise>.", "Continue working on the original task below. Only output the promise when the task is fully complete.", "iteration 1 of 50", "Original task: Write the parser"]);
    assert_eq!(stop.message(), "Ralph-speckit: iteration 1 of 50 · no promise yet");
    assert_eq!(bench.journal("s1").last().unwrap()["promise"], "missing");
}

#[test]
fn acceptance_3_max_iterations() {
    let bench = armed("\"Write the parser\" --max-iterations 3");
    works_and_says(&bench, "one").reason();
    works_and_says(&bench, "two").reason();
    let stop = works_and_says(&bench, "three");
    stop.told().has("ended (max_iters, MAX_ITERATIONS_REACHED): Write the parser · the limit of 3 iterations was reached · no promise yet · 3 iterations");
    assert_eq!(bench.verdicts("s1"), ["continue", "continue", "end max_iters"]);
    assert_eq!(bench.journal("s1").last().unwrap()["status"], "MAX_ITERATIONS_REACHED");
    bench.stop("s1").run().silent();
}

#[test]
fn acceptance_4_bypass_rejected() {
    let bench = armed("\"Write the parser\"");
    // The client has written the answer: it is known that no tool was called.
    bench.transcript("s1").assistant(PROMISE);
    let stop = bench.stop("s1").saying(PROMISE).run();
    stop.reason().has("Promise detected, but no tool calls/work were performed; you must actually complete the task before emitting the promise.");
    assert!(stop.reason().contains("Original task: Write the parser"), "{stop}");
    assert_eq!(
        stop.message(),
        "Ralph-speckit: iteration 1 of 50 · promise refused: 0 of 1 tool calls"
    );
    assert_eq!(bench.journal("s1").last().unwrap()["promise"], "refused");
    works_and_says(&bench, PROMISE).told();
}

#[test]
fn acceptance_5_promise_detector_correctness() {
    for words in [
        PROMISE.to_owned(),
        format!("Everything is in place.\n\n{PROMISE}\n"),
        format!("```\n{PROMISE}\n```"),
        format!("first {PROMISE} then a few more words"),
        format!("{}{PROMISE}", "long ".repeat(100_000)),
    ] {
        let bench = armed("\"Write the parser\"");
        let stop = works_and_says(&bench, &words);
        assert!(stop.told().contains("PROMISE_ACCEPTED"), "{stop}");
    }
}

#[test]
fn the_contract_has_the_task_the_rule_the_strictness_and_the_valve() {
    let bench = Bench::folder();
    let start = ralph(&bench, "s1", "\"Write the parser\" --completion-promise 'ALL GREEN'");
    let contract = start.context();
    contract.has_all(&["Task:\nWrite the parser\n", "The rules are strict, do not violate them:", "Only when the task is fully done, output <promise>ALL GREEN</promise> in your final message.", "It has to match exactly: the same letters in the same case, no blank inside the tags, no variant.", "While the task is not done, do not output it", "`spool block \"what the person must do\"`", "Limit: 50 iterations."]);
    assert_eq!(
        start.message(),
        "Ralph-speckit: armed: Write the parser · until <promise>ALL GREEN</promise> · at most 50 iterations\nNo check: the agent's word decides. To add one: /speckit:ralph-loop \"TASK\" --check \"cargo test\"\nTo stop it: Esc, then /speckit:cancel-ralph"
    );
}

#[test]
fn ulw_loop_is_the_same_but_for_the_instruction_in_front_of_every_text() {
    let texts = |command: &str| {
        let bench = Bench::folder();
        let start = bench.command("s1", command, "\"Write the parser\"").run();
        let first = works_and_says(&bench, "I'm done");
        bench.transcript("s1").assistant("nothing");
        let second = bench.stop("s1").saying("nothing").run();
        let compacted = bench.event("SessionStart", "s1").with("source", "compact").run();
        let compacted =
            compacted.answer.unwrap()["hookSpecificOutput"]["additionalContext"].clone();
        let reminder = compacted.as_str().unwrap().to_owned();
        [
            start.context().to_owned(),
            first.reason().to_owned(),
            second.reason().to_owned(),
            reminder,
        ]
    };
    let plain = texts("speckit:ralph-loop");
    let ultrawork = texts("speckit:ulw-loop");
    for (plain, ultrawork) in plain.iter().zip(&ultrawork) {
        assert!(!plain.contains("ULTRAWORK"), "{plain}");
        let (instruction, rest) = ultrawork.split_once("\n\n").unwrap();
        assert!(instruction.starts_with("ULTRAWORK MODE: "), "{ultrawork}");
        assert_eq!(rest, plain);
    }
}

#[test]
fn fewer_tool_calls_than_asked_for_are_not_enough() {
    let bench = armed("\"Write the parser\" --min-tool-calls 3");
    bench.transcript("s1").tool("Read").assistant(PROMISE);
    let stop = bench.stop("s1").saying(PROMISE).run();
    assert!(stop.reason().contains("only 1 tool call of 3 were performed"), "{stop}");
    bench.transcript("s1").tool("Edit").assistant(PROMISE);
    bench.stop("s1").saying(PROMISE).run().reason();
    bench.transcript("s1").tool("Bash").assistant(PROMISE);
    change(&bench);
    bench.stop("s1").saying(PROMISE).run().told();
}

#[test]
fn the_policy_decides_over_a_promise_without_work() {
    let words = " · on the agent's word alone: no check, no changed file";
    for policy in ["accept", "warn"] {
        let bench = armed(&format!("\"Write the parser\" --on-promise-no-work {policy}"));
        bench.transcript("s1").assistant(PROMISE);
        let stop = bench.stop("s1").saying(PROMISE).run();
        assert_eq!(
            stop.told(),
            format!(
                "Ralph-speckit: done (PROMISE_ACCEPTED): Write the parser{words} · 1 iteration"
            )
        );
    }
}

#[test]
fn e5_an_exact_promise_is_the_plain_substring() {
    let bench = armed("\"Write the parser\" --promise-match exact");
    works_and_says(&bench, "<promise>done</promise>").reason();
    works_and_says(&bench, &format!("The marker:\n```\n{PROMISE}\n```\nis written.")).told();
}

#[test]
fn a_promise_before_its_iteration_is_refused() {
    let bench = armed("\"Write the parser\" --min-iterations 3");
    for _ in 0..2 {
        let stop = works_and_says(&bench, PROMISE);
        assert!(stop.reason().contains("does not end before iteration 3"), "{stop}");
    }
    works_and_says(&bench, PROMISE).told();
}

#[test]
fn d3_a_promise_that_is_denied_or_quoted_does_not_end_the_loop() {
    let bench = armed("\"Write the parser\"");
    for words in [
        format!("I will not write {PROMISE} yet."),
        format!("The marker, not written yet:\n```\n{PROMISE}\n```"),
        format!("The marker is `{PROMISE}`."),
    ] {
        let stop = works_and_says(&bench, &words);
        assert!(stop.reason().contains("that is not the completion promise"), "{stop}");
    }
    works_and_says(&bench, &format!("All 14 tests pass. {PROMISE} Bye.")).told();
}

#[test]
fn d9_a_call_that_was_denied_or_failed_is_no_work_behind_a_promise() {
    let bench = armed("\"Write the parser\"");
    let denied = r#"{"type":"user","isSidechain":false,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"This needs approval","is_error":true}]}}"#;
    bench.transcript("s1").tool("Bash").raw(denied).assistant(PROMISE);
    let stop = bench.stop("s1").saying(PROMISE).run();
    assert!(stop.reason().contains("no tool calls/work were performed"), "{stop}");
    // What was denied before is no work later either.
    bench.transcript("s1").assistant(PROMISE);
    bench.stop("s1").saying(PROMISE).run().reason();
    bench.transcript("s1").tool("Bash").tool_result("fine").assistant(PROMISE);
    change(&bench);
    bench.stop("s1").saying(PROMISE).run().told();
}

#[test]
fn t1_a_promise_with_nothing_behind_it() {
    let todo = "- [x] Begin\n- [ ] Write\n- [ ] Test\n";
    let bench = Bench::folder().file("TODO.md", todo);
    let shown = ralph(&bench, "s1", "\"Do everything in TODO.md.\"");
    assert!(shown.message().contains("\nNo check: the agent's word decides. "), "{shown}");
    bench.transcript("s1").tool("Read");
    let stop = bench.stop("s1").saying(PROMISE).run();
    let why = "no check, no changed file, 2 tasks open in TODO.md";
    assert!(stop.reason().contains(&format!("nothing stands behind it: {why}.")), "{stop}");
    bench.transcript("s1").tool("Read");
    let stop = bench.stop("s1").saying(PROMISE).run();
    let told =
        format!("(PROMISE_ACCEPTED): Do everything in TODO.md. · on the agent's word alone: {why}");
    assert!(stop.told().contains(&told), "{stop}");
    let words = format!("done on the agent's word alone: {why}");
    assert_eq!(bench.journal("s1").pop().unwrap()["words"], words);
    for arguments in [&["status"][..], &["status", "--json"], &["log"], &["log", "--json"]] {
        let printed = printed(&spool(&bench, None, arguments));
        assert!(printed.contains(&words["done ".len()..]), "{arguments:?}: {printed}");
        assert!(!printed.contains("done: done") && !printed.contains("done  done"), "{printed}");
        assert!(!printed.contains("all the work is done"), "{arguments:?}: {printed}");
    }
}

#[test]
fn t1_checks_hide_no_open_box() {
    let why = "the checks passed, but 2 tasks open in TODO.md";
    for promise in ["", " --completion-promise DONE"] {
        let bench = Bench::folder().file("TODO.md", "- [x] Begin\n- [ ] Write\n- [ ] Test\n");
        ralph(&bench, "s1", &format!("\"Do everything in TODO.md.\" --check true{promise}"));
        let stop = works_and_says(&bench, PROMISE);
        assert!(stop.told().contains(why), "{stop}");
        for arguments in [&["status"][..], &["status", "--json"], &["log"], &["log", "--json"]] {
            let printed = printed(&spool(&bench, None, arguments));
            assert!(printed.contains(why), "{arguments:?}: {printed}");
            assert!(!printed.contains("all the work is done"), "{arguments:?}: {printed}");
        }
    }
}

#[test]
fn t1_a_changed_file_is_something_behind_it() {
    let bench = armed("\"Write the parser\"");
    let stop = works_and_says(&bench, PROMISE);
    assert!(stop.told().contains("· on the agent's word alone: no check ·"), "{stop}");
    let checked = armed("\"Write the parser\" --check true");
    checked.transcript("s1").tool("Read");
    let stop = checked.stop("s1").saying(PROMISE).run();
    assert!(!stop.told().contains("word alone"), "{stop}");
}
