//! The limits of a reader are those of its loop: what is lifted later is waited for, and what is left bounds it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::review::support::Built;
use crate::runner::ran::Running;
use crate::runner::support::MORE_THAN_AN_HOUR;
use crate::support::limited::until;

const LIST: &str = "specs/001-login/tasks.md";
const TICK: &str =
    "echo more >> src/more.rs\nsed -i 's/- \\[ \\]/- [x]/' specs/001-login/tasks.md\nresult worked";

/// A loop of one task, with a reader that does this.
fn built(read: &str) -> Built {
    let built = Built::open();
    built.worker_and_reader(TICK, read);
    built
}

fn start(built: &Built, flags: &str) -> Running {
    let call = built.spool(&format!("ralph --change 001-login --review --no-stay-awake {flags}"));
    call.arg("Build it").start()
}

#[test]
fn v2_reader_usage_limit_is_awaited() {
    // A time that is over already: it is tried again after 5 s, then after twice as long.
    let tried_again = ["5", "10", "20", "40"];
    for (at, waits) in [("$(($(date +%s) + 1800))", &[""][..]), ("1000", &tried_again)] {
        let times = waits.len() + 1;
        let read = format!(
            "cost=0.10\nif [ $(wc -l < \"$DESK/reviews\") -lt {times} ]; then limit \"{at}\"; fi\n{}",
            Built::met()
        );
        let built = built(&read);
        let mut running = start(&built, "--max-limit-wait 0");
        for wait in waits {
            running.wait_for(&format!("waiting for the usage limit, {wait}"));
            built.let_pass(MORE_THAN_AN_HOUR);
        }
        let ran = running.finish().with_code(0);
        assert_eq!(built.reviews(), times, "{ran}");
        // The agent has nothing to do meanwhile.
        assert_eq!(built.iterations().len(), 1, "{ran}");
        ran.says("passed: passed (3 of 3 met), by claude").says("reviews 420 tokens, $0.1000");
    }
}

#[test]
fn v2_worker_rests_at_readers_limit() {
    let read =
        format!("if [ $(wc -l < \"$DESK/reviews\") -lt 3 ]; then limit 1000; fi\n{}", Built::met());
    let built = built(&read);
    let mut running = start(&built, "--max-limit-wait 0 --max-iterations 1");
    for wait in ["5", "10"] {
        running.wait_for(&format!("waiting for the usage limit, {wait}"));
        built.let_pass(MORE_THAN_AN_HOUR);
    }
    let ran = running.finish().with_code(0);
    assert_eq!((built.reviews(), built.read("src/more.rs").as_str()), (3, "more\n"), "{ran}");
    let history = built.read(".spool/.state/ralph/001-login/history.jsonl");
    assert_eq!(history.lines().count(), 1, "{history}");
    ran.says("1 iteration, ").says(" 420 tokens, ");
}

#[test]
fn v2_fallback_reads_at_the_limit() {
    let read = format!(
        "case \"$*\" in *haiku*) {}\n;; *) limit $(($(date +%s) + 600)) ;; esac",
        Built::met()
    );
    let fallback = "--fallback-model haiku --max-limit-wait 5s";
    let first = built(&read);
    let ran = start(&first, fallback).finish().with_code(0);
    assert_eq!((first.reviews(), first.read("src/more.rs").as_str()), (2, "more\n"), "{ran}");
    // The reader that a person names is waited for.
    let named = built(&read);
    let ran = start(&named, &format!("{fallback} --review-harness claude")).finish().with_code(13);
    assert_eq!(named.read("src/more.rs"), "more\n", "{ran}");
    assert!(!ran.output.contains("haiku continues"), "{ran}");
}

#[test]
fn v2_late_limit_says_so() {
    let built = built("limit $(($(date +%s) + 7200))");
    for flags in ["", "--max-limit-wait 30m"] {
        let ran = start(&built, flags).finish().with_code(13);
        ran.says("the usage limit is lifted at 20").says("; --max-limit-wait is ");
    }
    // Lifted, the same command continues.
    built.worker_and_reader("result done", &Built::met());
    start(&built, "").finish().with_code(0);
}

#[test]
fn v2_waiting_session_stays_armed() {
    let built = built(&format!(
        "if [ $(wc -l < \"$DESK/reviews\") -lt 5 ]; then limit 9999999999; fi\n{}",
        Built::met()
    ));
    built.spool("start 001-login --review").run().with_code(0);
    assert!(built.stop("On it.").contains("T001"), "the session takes the loop");
    built.write("src/more.rs", "fn more() {}\n");
    built.write(LIST, "- [x] T001 Write src/more.rs\n");
    for _ in 1..5 {
        let said = built.stop("ALL_TASKS_COMPLETE");
        assert!(!said.contains("\"block\"") && !said.contains("blocked"), "{said}");
        assert!(built.spool("status").run().with_code(0).output.contains("usage limit"));
    }
    assert_eq!(built.stop("ALL_TASKS_COMPLETE"), "");
    let journal = built.spool("log --json").run().with_code(0);
    assert_eq!(journal.output.matches(r#""reason":"completed""#).count(), 1, "{journal}");
}

#[test]
fn v7_hand_reviews_are_awaited() {
    let built = built(&format!(
        "if [ $(wc -l < \"$DESK/reviews\") = 1 ]; then read -r _ < \"$DESK/gate\"; fi\n{}",
        Built::met()
    ));
    let gate = built.gate();
    let by_hand = built.spool("review").start();
    until("its reader", || (built.reviews() > 0).then_some(()));
    let mut running = start(&built, "");
    running.wait_for("checking `spool review");
    ralph_speckit::world::pause(Duration::from_secs(4));
    gate.open();
    // What was read by hand had other work in it.
    by_hand.finish();
    running.finish().with_code(0).says("passed: passed (3 of 3 met), by claude");
}

#[test]
fn v8_short_time_starts_no_reader() {
    let built = Built::open();
    built.worker_and_reader(&format!("sleep 2\n{TICK}"), &Built::met());
    built.loop_with("--review --max-runtime 100s").with_code(2).warns("too short for the review");
    let ran = built.loop_with("--review --max-runtime 101s").with_code(7);
    assert_eq!(built.reviews(), 0, "{ran}");
    ran.warns("what is left of --max-runtime is too short for a review");
    ran.says("ralph: ended (timed_out): ");
}

#[test]
fn v8_remaining_time_bounds_readers() {
    for (flags, what, used) in [
        ("--token-budget 600", "tokens", "840 tokens are used, and 600 are allowed"),
        ("--max-usd 0.30", "money", "$0.4500 are used, and $0.3000 are allowed"),
        // v15: only one of the two limits is passed.
        ("--token-budget 9000 --max-usd 0.30", "money", "$0.4500 are used, and $0.3000 are"),
    ] {
        let built = built(&format!("cost=0.25\n{}", Built::met()));
        built.worker_and_reader(
            &format!("cost=0.20\n{TICK}"),
            &format!("cost=0.25\n{}", Built::met()),
        );
        let ran = built.loop_with(&format!("--review {flags}")).with_code(8);
        ran.says(&format!("no pass: the reader was over its {what}")).says(used);
        let status: Value =
            serde_json::from_str(&built.spool("status --json").run().output).unwrap();
        let of_loop = &status["runners"][0]["loop"];
        assert_eq!(of_loop["review_tokens"], json!(420), "{of_loop:#}");
        assert_eq!(of_loop["review_cost_usd"], json!(0.25), "{of_loop:#}");
    }
    // What is enough is enough.
    let built = built(&Built::met());
    built.loop_with("--review --token-budget 840").with_code(0);
}
