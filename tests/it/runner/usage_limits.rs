//! Usage limits: waited for exactly, interruptible, and no iteration.

use rustix::process::Signal;
use serde_json::json;

use crate::runner::claude::TOKENS;
use crate::runner::ran::Ran;
use crate::runner::support::{Bench, CHANGE, MORE_THAN_AN_HOUR, PROMISE};

/// A `claude` that runs into its limit in its first run, and works in its second.
fn limited(bench: &Bench, resets_at: &str) {
    bench.claude(&format!(
        "if [ $n = 1 ]; then limit {resets_at}; fi\ncalls Bash\nsays '{PROMISE}'\nresult '{PROMISE}'"
    ));
}

/// Runs a loop to its end, and lets each of these waits pass.
fn waited(bench: &Bench, flags: &str, waits: &[&str]) -> Ran {
    let mut running = bench.ralph(flags).start();
    for wait in waits {
        running.wait_for(&format!("waiting for the usage limit, {wait}"));
        bench.let_pass(MORE_THAN_AN_HOUR);
    }
    running.finish()
}

#[test]
fn usage_limit_is_no_iteration() {
    let bench = Bench::new();
    limited(&bench, "$(($(date +%s) + 2))");
    let ran = waited(&bench, "--max-iterations 1 --max-limit-wait 0", &[""]).with_code(0);
    ran.says("  ! You have hit your 5-hour limit\n");
    let state = bench.state();
    assert_eq!((&state["status"], &state["current_iteration"]), (&json!("done"), &json!(1)));
    let list = bench.iterations();
    assert_eq!((list.len(), &list[0]["tokens_used"]), (1, &json!(TOKENS)), "{list:#?}");
    // Its run is not lost, though.
    let history = bench.state_lines("history.jsonl");
    assert_eq!(history.len(), 2, "{history:#?}");
    assert_eq!((&history[0]["verdict"], &history[0]["n"]), (&json!("wait"), &json!(1)));
}

#[test]
fn usage_limit_wait_shows_and_stops() {
    let bench = Bench::new();
    limited(&bench, "$(($(date +%s) + 7200))");
    let mut running = bench.ralph("--max-limit-wait 0").start();
    running.wait_for("waiting for the usage limit, ");
    let status = bench.spool(&format!("ralph --status --change {CHANGE}")).run().with_code(0);
    status.says("Loop: running").says("  Doing: waiting for the usage limit until 20");
    // What the agent program said is not said twice.
    status.says("usage limit: You have hit your 5-hour limit");
    assert_eq!(status.output.matches("You have hit").count(), 1, "{status}");
    let state = bench.state();
    assert!(
        state["waits_until"].as_u64().unwrap() > ralph_speckit::world::now().millis() / 1000 + 7000
    );
    running.signal(Signal::INT);
    let ran = running.finish().with_code(130);
    ran.says("ralph: ended (stopped)").says("0 iterations");
    let state = bench.state();
    assert_eq!((&state["status"], &state["waits_until"]), (&json!("stopped"), &json!(0)));
    assert_eq!((&state["current_iteration"], &state["iterations"]), (&json!(0), &json!([])));
}

#[test]
fn wait_stays_within_loop_limits() {
    let bench = Bench::new();
    limited(&bench, "$(($(date +%s) + 7200))");
    waited(&bench, "--max-runtime 1h --max-limit-wait 0", &[""]).with_code(7);
    assert_eq!(bench.state_lines("history.jsonl").len(), 1, "no agent is started for nothing");
    assert_eq!(bench.state()["reason"], "timed_out");
}

#[test]
fn repeated_usage_limits_are_no_failure() {
    let bench = Bench::new();
    bench.claude(&format!(
        "if [ $n -lt 3 ]; then limit 1000; fi\ncalls Bash\nsays '{PROMISE}'\nresult '{PROMISE}'"
    ));
    let limits = "--max-failures 1 --no-progress 1 --max-iterations 1 --max-limit-wait 0";
    // A time that is over already: it is tried again after 5 s, then after 10 s.
    waited(&bench, limits, &["5", "10"]).with_code(0);
    assert_eq!(bench.runs(), 3);
}

#[test]
fn late_usage_limit_ends_the_loop() {
    let bench = Bench::new();
    limited(&bench, "$(($(date +%s) + 7200))");
    let ran = bench.ralph("--max-limit-wait 30m").run().with_code(13);
    ran.says("the usage limit is lifted at 20").says("; --max-limit-wait is 30m");
    assert_eq!((bench.runs(), &bench.state()["reason"]), (1, &json!("usage_limit")));
    let bench = Bench::new();
    limited(&bench, "$(($(date +%s) + 2))");
    waited(&bench, "--max-limit-wait 30m", &[""]).with_code(0);
    assert_eq!(bench.runs(), 2);
}

#[test]
fn nobody_waits_unasked() {
    let bench = Bench::new();
    bench.claude(&format!(
        "case $n in 1) calls Bash; echo 1 > made.txt; result 'On it.'; exit ;; 2) limit $(($(date +%s) + 7200)) ;; esac\n\
         calls Bash\nresult '{PROMISE}'"
    ));
    let ran = bench.ralph("--max-iterations 9").run().with_code(13);
    ran.says("ralph: ended (usage_limit): the usage limit is lifted at 20")
        .says("; --max-limit-wait is not given");
    ran.says("Run the same command again when it is lifted: it continues.");
    assert_eq!((bench.runs(), &bench.state()["reason"]), (2, &json!("usage_limit")));
    let ran = bench.ralph("--max-iterations 9").run().with_code(0);
    ran.says("ralph: continues: iteration 2 of 9, 420 tokens, ");
}

#[test]
fn person_confirms_a_usage_limit_wait() {
    let bench = Bench::new();
    limited(&bench, "$(($(date +%s) + 2))");
    let Some(mut running) = bench.ralph("").on_a_terminal() else { return };
    // One message, and the live line says what it waits for as long as it does.
    running.wait_for("ralph: paused: the usage limit is lifted at 20");
    running.wait_for("in another terminal, `spool resume --change");
    running.wait_for("paused for `spool resume`: usage limit, lifted at 20");
    assert_eq!(bench.runs(), 1);
    bench.spool(&format!("resume --change {CHANGE}")).run().with_code(0);
    running.finish().with_code(0);
    assert_eq!(bench.runs(), 2);
}

#[test]
fn waits_in_a_row_add_up() {
    let bench = Bench::new();
    // A time that is over already: it is tried again after 5 s, then after 10 s.
    bench.claude("limit 1000");
    let ran = waited(&bench, "--max-limit-wait 8s", &["5"]).with_code(13);
    ran.says("nothing tells when the usage limit is lifted, and the loop has waited 5.0 s so far");
    assert_eq!(bench.runs(), 2);
}

#[test]
fn used_budget_allows_no_wait() {
    let bench = Bench::new();
    // The client reports no tokens for a run that ended at its limit, but for each of its messages.
    bench.claude("calls Bash\ncalls Bash\nlimit $(($(date +%s) + 7200))");
    bench
        .ralph("--token-budget 300")
        .run()
        .with_code(8)
        .says("322 tokens are used, and 300 are allowed");
    assert_eq!(bench.runs(), 1);
}
