//! Readers that are hostile: they print what no reader should, or do not leave. None of them passes, none ends a loop, and nothing
//! of them is left.

use std::fs;

use serde_json::{Value, json};

use crate::review::support::{Built, FR_001, FR_002, US1_1};
use crate::runner::ran::Ran;
use crate::runner::support::Bench;
use crate::support::hostile_words as hostile;
use crate::support::memory::peak_of;
use crate::support::witness::Witness;

/// The most memory that a review or its supervisor may take, in KiB: less than the lines, and less than the one line.
const MOST: u64 = 30 << 10;
/// Prints the hostile words wherever a program can print.
const SAYS_ALL: &str = "tee /dev/stderr < \"$DESK/words\"";

/// A project with the hostile words on the desk of its reader.
fn built() -> Built {
    let built = Built::new();
    built.write("../desk/words", format!("{}\n", hostile::text()));
    built.waits_for_nobody();
    built
}

/// A judgement of this requirement with the hostile words as its reason.
fn not_met(id: &str) -> String {
    let words = hostile::in_json();
    format!(
        r#"{{"id":"{id}","verdict":"not met","why":"{words}","evidence":[{{"file":"src/login.rs","line":1,"quote":"fn login"}}]}}"#
    )
}

/// Fails unless nothing that was printed steers a terminal.
#[track_caller]
fn steers_nothing(ran: &Ran) -> &Ran {
    for text in [&ran.output, &ran.errors] {
        assert!(!text.chars().any(|sign| sign.is_control() && sign != '\n'), "{text:?}");
    }
    ran
}

#[test]
fn floods_hit_the_output_limit() {
    let built = Built::new();
    // The reader looks at the memory of its supervisor and of the review when it is asked to end.
    built.script(
        "look() {
             cat /proc/$PPID/status > \"$DESK/supervisor\"
             review=$(sed -n 's/^PPid:[^0-9]*//p' \"$DESK/supervisor\")
             cat \"/proc/$review/status\" > \"$DESK/review\"
             exit 0
         }
         trap look TERM
         { yes 'a line of an answer that goes on and on' | head -c 33000000; head -c 70000000 /dev/zero | tr '\\0' a; } &
         wait",
    );
    let ran = built.review("").with_code(8);
    ran.says("no pass: the reader printed more than it may\n");
    ran.says("it printed more than 64 MiB\n");
    for name in ["supervisor", "review"] {
        let peak = peak_of(&built.beside("desk").join(name));
        assert!(peak < MOST, "the {name} took {peak} KiB");
    }
    let log = fs::metadata(built.path(".spool/.state/ralph/001-login/review.log")).unwrap().len();
    assert!(log < 66 << 20, "the log has {log} bytes");
}

#[test]
fn loop_endings_are_no_answer() {
    let built = built();
    built.script(SAYS_ALL);
    let ran = built.review("").with_code(4);
    steers_nothing(&ran).says("it has no line with `REVIEW` and the code of this review");
    // An answer that has passed, kept for the next review.
    built.reader(&[US1_1, FR_001, FR_002]);
    let path = built.beside("bin/agent");
    let script = fs::read_to_string(&path).unwrap();
    built.executable("bin/agent", format!("#!/bin/sh\n{{\n{script}\n}} | tee \"$DESK/earlier\"\n"));
    built.review("").with_code(0);
    assert!(built.desk("earlier").contains("FR-002"));
    let earlier = format!("cat \"$DESK/earlier\"; {SAYS_ALL}");
    built.script(&earlier);
    let ran = built.review("").with_code(4);
    steers_nothing(&ran).says("it has no line with `REVIEW` and the code of this review");
    // Both of them: the one with the code of this review is its answer.
    let lines = [US1_1, FR_001, &not_met("FR-002")].join("\n");
    let answer = format!(
        "echo \"REVIEW $code\"\ncat <<'ANSWER'\n{lines}\nANSWER\necho \"END $code\"\n{earlier}"
    );
    built.script(&answer);
    let ran = built.review("").with_code(3);
    steers_nothing(&ran).says("not passed (2 of 3 met)\n").says("FR-002 not met: <promise>");
}

#[test]
fn reader_words_follow_the_loop_line() {
    let built = built();
    let finding = |number: u64| {
        let words = hostile::in_json();
        format!(r#"{{"finding":"{number} {words}","severity":"critical"}}"#)
    };
    let mut lines = vec![US1_1.to_owned(), not_met("FR-001"), not_met("FR-002")];
    lines.extend((0..300).map(finding));
    built.reader(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let call = built.spool("review --may-write --harness-command agent");
    let ran = call.env("RALPH_CHECKS", "\u{1e}").run().with_code(3);
    let (first, rest) = steers_nothing(&ran).output.split_once('\n').unwrap();
    let numbers: serde_json::Value = serde_json::from_str(first).unwrap();
    assert_eq!(numbers["judged"], true, "{ran}");
    assert_eq!(numbers["met"], 1, "one of three is met: {ran}");
    assert!(rest.starts_with("not passed (1 of 3 met), by command\n"), "{ran}");
    // The end of an output that a loop keeps holds it whole.
    assert!(ran.output.len() < 1_500, "{ran}");
}

#[test]
fn reader_leftovers_end_without_answer() {
    let built = built();
    let witness = Bench::witness();
    built.script(&format!("( {} ) &\n{SAYS_ALL}\nexit 0", witness.stubborn()));
    witness_of(&built.review("--timeout 1m"), &witness, 4);
}

#[test]
fn staying_reader_is_no_pass() {
    let built = built();
    let witness = Bench::witness();
    built.reader(&[US1_1, FR_001, FR_002]);
    let path = built.beside("bin/agent");
    let stays = format!("\nexec >&- 2>&-\n{}", witness.stubborn());
    let script = fs::read_to_string(&path).unwrap() + &stays;
    built.executable("bin/agent", script);
    let ran = built.review("--timeout 1s");
    witness_of(&ran, &witness, 7);
    ran.says("no pass: the reader was over its time\n");
}

/// Fails unless a review ended with this code and nothing of the reader is alive.
#[track_caller]
fn witness_of(ran: &Ran, witness: &Witness, code: i32) {
    witness.is_over();
    assert_eq!(steers_nothing(ran).code, Some(code), "{ran}");
}

/// Three readings of a `claude`: the hostile words and processes that do not leave; the same words as reasons; a pass.
fn three_readings(built: &Built, work: &str, witness: &Witness) {
    let words = Built::answer_of_claude(&[US1_1, FR_001, &not_met("FR-002")]);
    let met = Built::met();
    let (stays, said) = (witness.stubborn(), hostile::in_json());
    let read = format!(
        "case $(wc -l < \"$DESK/reviews\") in
         1) ( {stays} ) &
         {SAYS_ALL}
         result '{said}' ;;
         2) {words} ;;
         *) {met} ;;
         esac"
    );
    built.write("specs/001-login/tasks.md", "- [ ] T001 Write src/more.rs\n");
    built.commit("open tasks");
    built.worker_and_reader(work, &read);
}

#[test]
fn runner_ends_only_by_pass() {
    let (built, witness) = (built(), Bench::witness());
    let tick = "echo more >> src/more.rs\nsed -i 's/- \\[ \\]/- [x]/' specs/001-login/tasks.md\nresult worked";
    three_readings(&built, tick, &witness);
    let ran = built.loop_with("--review");
    witness_of(&ran, &witness, 0);
    assert_eq!((built.reviews(), built.iterations().len()), (3, 3), "{ran}");
    let journal = built.read(".spool/.state/ralph/001-login/journal.jsonl");
    let entries = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let verdicts: Vec<Value> = entries.map(|entry| entry["verdict"].clone()).collect();
    let verdicts: Vec<_> = verdicts.iter().filter(|verdict| *verdict != "").collect();
    assert_eq!(verdicts, ["continue", "continue", "end"], "{journal}");
    ran.says("no pass: the answer cannot be used").says("passed: passed (3 of 3 met), by claude");
}

#[test]
fn session_ends_only_by_pass() {
    let (built, witness) = (built(), Bench::witness());
    three_readings(&built, "exit 1", &witness);
    built.spool("start 001-login --review").run().with_code(0);
    assert!(built.stop("On it.").contains("T001"), "the session takes the loop");
    built.write("src/more.rs", "fn more() {}\n");
    built.write("specs/001-login/tasks.md", "- [x] T001 Write src/more.rs\n");
    let answers = [1, 2, 3].map(|_| built.stop("It is done.\n\nALL_TASKS_COMPLETE"));
    witness.is_over();
    assert_eq!(built.reviews(), 3, "{answers:#?}");
    for (answer, words) in answers.iter().zip(["the answer cannot be used", "FR-002 not met"]) {
        let answer: Value = serde_json::from_str(answer).unwrap();
        assert_eq!((&answer["decision"], &answer["continue"]), (&json!("block"), &Value::Null));
        let reason = answer["reason"].as_str().unwrap();
        assert!(reason.contains(words), "{words}: {reason}");
        let is_steering = |sign: char| sign.is_control() && sign != '\n';
        assert!(!reason.chars().any(is_steering), "{reason:?}");
    }
    // A loop that is done ends without a word of the hook.
    assert_eq!(answers[2], "");
    let journal = built.spool("log --json").run().with_code(0);
    let ends = journal.output.matches(r#""verdict":"end","reason":"completed""#).count();
    assert_eq!(ends, 1, "{journal}");
}
