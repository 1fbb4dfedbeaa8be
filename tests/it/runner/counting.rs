//! What a loop has used survives every restart, and only an end of its own begins at 0.

use rustix::process::Signal;
use serde_json::json;

use crate::runner::claude::TOKENS;
use crate::runner::support::{Bench, CHANGE, PROMISE};

/// A `claude` that does its work in all runs but one: in that it has called the model once, and is never finished.
fn stuck_in(bench: &Bench, run: u32) {
    bench.claude(&format!(
        "cost=0.75\ncalls Bash\nif [ $n = {run} ]; then calls Edit; sleep 600; fi\n\
         echo $n > made.txt\nresult 'On it.'"
    ));
}

/// Starts a loop, and sends its runner this signal in the middle of its second iteration.
fn stopped_in_the_second(bench: &Bench, arguments: &str, signal: Signal) {
    stuck_in(bench, 2);
    let mut running = bench.ralph(arguments).start();
    running.wait_for("-- iteration 2");
    running.wait_for("Edit: true");
    running.signal(signal);
    running.finish();
}

#[test]
fn sigtermed_loop_counts_on() {
    let bench = Bench::new();
    stopped_in_the_second(&bench, "--max-iterations 3", Signal::TERM);
    let run = bench.state()["started_at"].clone();
    let ran = bench.ralph("--max-iterations 3 --token-budget 5000 --max-usd 9").run().with_code(3);
    // 420 of the first, and two messages of 161 of the one that was cut.
    ran.says(
        "ralph: continues: iteration 3 of 3, ~742 of 5,000 tokens, at least $0.7500 of $9.00, ",
    );
    ran.says("; --restart begins at 0").says("-- iteration 3/3");
    ran.says("the limit of 3 iterations was reached").says("3 iterations, ");
    assert_eq!(bench.runs(), 3);
    let (state, list) = (bench.state(), bench.iterations());
    let numbers: Vec<u64> = list.iter().map(|iteration| iteration["n"].as_u64().unwrap()).collect();
    assert_eq!((&state["started_at"], numbers), (&run, vec![1, 2, 3]));
    assert_eq!(state["total_tokens"], json!(2 * TOKENS + 322));
    assert_eq!(state["ledger"]["tokens"], state["total_tokens"]);
    let history = bench.state_lines("history.jsonl");
    assert!(history.iter().all(|line| line["run_started_at"] == run), "{history:#?}");
    assert!(bench.state_lines("journal.jsonl").iter().any(|entry| entry["event"] == "resumed"));
}

#[test]
fn killed_iteration_usage_counts() {
    let bench = Bench::new();
    let prices = "--prices claude-sonnet=10/50/1/12.50 --max-usd 9 --token-budget 5000";
    stopped_in_the_second(&bench, prices, Signal::KILL);
    let ran = bench.ralph(&format!("{prices} --max-iterations 3 --json")).run().with_code(3);
    let went_on = ran.events().into_iter().find(|event| event["event"] == "continued").unwrap();
    // Two messages of 100 sent, 1 received, 40 read from a cache, 20 written to one; before that, the program said $0.75.
    assert_eq!(went_on["cost_estimated"], true, "{went_on:#?}");
    let cost = went_on["cost_usd"].as_f64().unwrap();
    assert!((cost - 0.75 - 2.0 * 0.00134).abs() < 1e-9, "{went_on:#?}");
    assert_eq!(
        (&went_on["iterations"], &went_on["tokens"]),
        (&json!(2), &json!(TOKENS + 322)),
        "{went_on:#?}"
    );
    let (state, list) = (bench.state(), bench.iterations());
    assert_eq!(list.len(), 3, "{list:#?}");
    assert_eq!(
        (&list[1]["interrupted"], &list[1]["tokens_used"], &list[1]["cost_estimated"]),
        (&json!(true), &json!(322), &json!(true))
    );
    assert_eq!(state["total_tokens"], json!(2 * TOKENS + 322));
    assert_eq!(state["ledger"]["iterations"], json!(3));
}

#[test]
fn used_limit_starts_no_agent() {
    for (arguments, code) in
        [("--max-iterations 2", 3), ("--token-budget 700", 8), ("--max-usd 0.75", 8)]
    {
        let bench = Bench::new();
        stopped_in_the_second(&bench, "", Signal::TERM);
        bench.ralph(arguments).run().with_code(code).says("ralph: continues: ");
        assert_eq!(bench.runs(), 2, "{arguments}");
    }
}

#[test]
fn time_before_a_restart_counts() {
    let bench = Bench::new();
    stopped_in_the_second(&bench, "", Signal::TERM);
    let ran = bench.state()["ran_seconds"].as_f64().unwrap();
    assert!(ran > 0.0, "{ran}");
    // As if it had run for an hour.
    let path = format!(".spool/.state/ralph/{CHANGE}/state.json");
    let mut state: serde_json::Value = serde_json::from_str(&bench.read(&path)).unwrap();
    state["ran_seconds"] = json!(3600.0);
    bench.write(&path, state.to_string());
    let ran = bench.ralph("--max-runtime 30m").run().with_code(7);
    ran.says("1 h 00 min of 30 min").says("the time limit of 30 min 00 s was reached");
    assert_eq!(bench.runs(), 2);
}

#[test]
fn restart_begins_at_0() {
    let bench = Bench::new();
    stopped_in_the_second(&bench, "", Signal::TERM);
    let run = bench.state()["started_at"].clone();
    let ran = bench.ralph("--restart --max-iterations 1").run().with_code(3);
    assert!(!ran.output.contains("ralph: continues"), "{ran}");
    let state = bench.state();
    assert_eq!((bench.runs(), &state["total_tokens"]), (3, &json!(TOKENS)));
    assert_ne!(state["started_at"], run);
}

#[test]
fn loop_after_limit_begins_at_0() {
    let bench = Bench::new();
    stuck_in(&bench, 0);
    bench.ralph("--max-iterations 2").run().with_code(3);
    let ran = bench.ralph("--max-iterations 2").run().with_code(3);
    ran.says("the loop before this one ended with `max_iters`: iterations, time, tokens and money begin at 0");
    ran.says("-- iteration 2/2");
    assert_eq!((bench.runs(), &bench.state()["total_tokens"]), (4, &json!(2 * TOKENS)));
}

#[test]
fn loop_after_done_begins_at_0() {
    let bench = Bench::new();
    bench.claude(&format!("calls Bash\necho $n > made.txt\nresult '{PROMISE}'"));
    bench.ralph("").run().with_code(0);
    let ran = bench.ralph("").run().with_code(0);
    assert!(
        !ran.output.contains("ralph: continues") && !ran.output.contains("begin at 0"),
        "{ran}"
    );
    assert_eq!(bench.state()["current_iteration"], json!(1));
}
