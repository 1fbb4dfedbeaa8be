//! Budgets that end an iteration in its middle, at most one call of the model over.

use serde_json::json;

use crate::runner::claude::TOKENS;
use crate::runner::support::{Bench, CHANGE};

/// A `claude` that calls the model this often, each time with 161 tokens, and then stays: where the last call passes the
/// limit, it is ended after it, or the loop never ends.
fn calls(times: u32) -> String {
    format!("for i in $(seq {times}); do calls Bash; done\nexec sleep 600")
}

#[test]
fn used_tokens_end_the_iteration_soon() {
    let bench = Bench::new();
    // The third one passes the limit.
    bench.claude(&calls(3));
    let ran = bench.ralph("--token-budget 400").run().with_code(8);
    ran.says("(cut short: the budget is used up)").says("483 tokens are used, and 400 are allowed");
    assert_eq!(bench.runs(), 1);
    let entry = &bench.iterations()[0];
    assert_eq!(
        (&entry["tokens_used"], &entry["verdict"]),
        (&json!(483), &json!("end")),
        "{entry:#?}"
    );
    assert_eq!(bench.state()["reason"], "budget");
}

#[test]
fn earlier_tokens_shorten_later_iterations() {
    let bench = Bench::new();
    bench.claude(&format!(
        "if [ $n = 1 ]; then calls Bash; echo $n > made.txt; result 'On it.'; exit; fi\n{}",
        calls(2)
    ));
    // The first one uses 420.
    bench.ralph("--token-budget 700").run().with_code(8);
    assert_eq!(bench.runs(), 2);
}

#[test]
fn finished_run_is_not_cut() {
    let bench = Bench::new();
    bench.claude("calls Bash\nresult '<promise>COMPLETE</promise>'\nsleep 0.5");
    bench.ralph("--token-budget 300").run().with_code(0);
    let entry = &bench.iterations()[0];
    assert_eq!((&entry["done_check"], &entry["exit_code"]), (&json!(true), &json!(0)));
}

#[test]
fn own_record_tokens_show_meanwhile() {
    let bench = Bench::new();
    let record = r#"printf '{"timestamp":"%s","type":"token_usage_record","payload":{"usage":{"input_tokens":150,"output_tokens":50}}}\n' "$(date -u +%Y-%m-%dT%H:%M:%S.999Z)" >> "$HOME/.codex/sessions/rollout-$thread.jsonl""#;
    let script = format!(
        "thread=01a20085-9b33-7a03-b25f-398d5274d1d9\nmkdir -p \"$HOME/.codex/sessions\"\n\
         echo '{{\"type\":\"thread.started\",\"thread_id\":\"'$thread'\"}}'\n\
         for i in 1 2 3; do {record}\n\
         echo '{{\"type\":\"item.completed\",\"item\":{{\"id\":\"item_'$i'\",\"type\":\"agent_message\",\"text\":\"On it.\"}}}}'; done\nexec sleep 600"
    );
    bench.named_agent(
        "codex",
        "--version) echo 'codex-cli 0.169.0'; exit ;;\nlogin) echo 'Logged in using an API key'; exit ;;",
        &script,
    );
    let ran = bench.ralph("--token-budget 500 --harness codex").run().with_code(8);
    ran.says("(cut short: the budget is used up)");
    assert_eq!(bench.iterations()[0]["tokens_used"], json!(600));
}

#[test]
fn priced_money_ends_the_iteration_soon() {
    let bench = Bench::new();
    bench.claude(&calls(3));
    // Each call is 0.00134 dollars: 100 sent, 1 received, 40 read from a cache, 20 written to one.
    let prices = "--prices claude-sonnet=10/50/1/12.50";
    let ran = bench.ralph(&format!("--max-usd 0.004 {prices}")).run().with_code(8);
    let spent = 3.0 * 0.00134;
    ran.says("(cut short: the budget is used up)")
        .says(&format!("ralph: ended (budget): ~${spent:.4} are used, and $0.0040 are allowed"));
    ran.says(&format!(" tokens, ~${spent:.4}, ")).says("--max-usd sets another limit");
    assert_eq!(bench.runs(), 1);
    let (state, entry) = (bench.state(), &bench.iterations()[0]);
    assert!((entry["cost_usd"].as_f64().unwrap() - spent).abs() < 1e-9, "{entry:#?}");
    assert_eq!((&entry["cost_estimated"], &state["cost_estimated"]), (&json!(true), &json!(true)));
    assert_eq!(
        (&state["reason"], &state["total_cost_usd"]),
        (&json!("budget"), &entry["cost_usd"])
    );
}

#[test]
fn reported_money_is_no_estimate() {
    let bench = Bench::new();
    bench.claude("cost=0.75\ncalls Bash\necho $n > made.txt\nresult 'On it.'");
    let ran = bench.ralph("--max-usd 1").run().with_code(8);
    ran.says("ralph: ended (budget): $1.50 are used, and $1.00 are allowed")
        .says(" tokens, $1.50, ");
    ran.warns(
        "claude says what a run cost only at its end: --max-usd is judged after each iteration",
    );
    assert_eq!(bench.runs(), 2);
    let state = bench.state();
    assert_eq!((&state["total_cost_usd"], &state["cost_estimated"]), (&json!(1.5), &json!(null)));
    let form = bench.spool(&format!("ralph --status --json --change {CHANGE}")).run();
    let form: serde_json::Value = serde_json::from_str(&form.output).unwrap();
    let runner = &form["runner"];
    assert_eq!(
        (&runner["cost_usd"], &runner["cost_complete"], &runner["iterations"][1]["cost_usd"]),
        (&json!(1.5), &json!(true), &json!(0.75)),
        "{form:#?}"
    );
}

#[test]
fn run_without_costs_is_named() {
    let bench = Bench::new();
    bench.claude("calls Bash\necho $n > made.txt\nresult 'On it.'");
    let ran = bench.ralph("--max-usd 1 --max-iterations 1").run().with_code(3);
    ran.warns("nothing tells what this iteration cost, so --max-usd does not count it");
    assert_eq!(bench.state()["cost_unknown"], json!(true));
}

/// A word for the script of a `claude`: a message by its id, with so many tokens sent.
const MESSAGE: &str = r#"used() {
    printf '{"type":"assistant","message":{"id":"%s","model":"claude-sonnet-4-5","content":[{"type":"text","text":"On it."}],"usage":{"input_tokens":%s,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"%s"}\n' "$1" "$2" "$session"
}
"#;

#[test]
fn smaller_repeat_takes_nothing_back() {
    let bench = Bench::new();
    bench.claude(&format!(
        "{MESSAGE}for i in 1 2 3; do for tokens in 400 0 -5 null; do used $i $tokens; done; done\nexec sleep 600"
    ));
    let ran = bench.ralph("--token-budget 1000").run().with_code(8);
    ran.says("(cut short: the budget is used up)");
    assert_eq!(bench.state()["total_tokens"], json!(1_203));
}

#[test]
fn later_result_lowers_no_usage() {
    let bench = Bench::new();
    let less = r#"printf '{"type":"result","subtype":"success","is_error":false,"result":"On it.","modelUsage":{"claude-sonnet-4-5":{"inputTokens":1}}}\n'"#;
    bench.claude(&format!("calls Bash\nresult 'On it.'\nbegin\n{less}"));
    bench.ralph("--max-iterations 1").run().with_code(3);
    assert_eq!(bench.iterations()[0]["tokens_used"], TOKENS);
}

#[test]
fn later_result_lowers_no_cost() {
    let bench = Bench::new();
    bench.claude(
        "cost=2\ncalls Bash\nresult 'On it.'\nbegin\ncost=0.01\ncalls Bash\nresult 'On it.'",
    );
    let ran = bench.ralph("--max-usd 1").run().with_code(8);
    ran.says("$2.00 are used, and $1.00 are allowed");
    assert_eq!(bench.runs(), 1);
}

#[test]
fn usage_after_result_costs_too() {
    let bench = Bench::new();
    // An agent in the background wakes the session again. Each call is 0.00134 dollars: the twelfth one passes the limit.
    bench.claude(&format!("cost=0.01\nresult 'On it.'\nbegin\n{}", calls(12)));
    let prices = "--prices claude-sonnet=10/50/1/12.50";
    let ran = bench.ralph(&format!("--max-usd 0.015 {prices}")).run().with_code(8);
    ran.says("(cut short: the budget is used up)");
    let spent = bench.iterations()[0]["cost_usd"].as_f64().unwrap();
    assert!((spent - 12.0 * 0.00134).abs() < 1e-9, "{spent}");
}

#[test]
fn impossible_cost_ends_the_loop() {
    for cost in ["1e300", "18000000000000"] {
        let bench = Bench::new();
        bench.claude(&format!("cost={cost}\ncalls Bash\necho $n > made.txt\nresult 'On it.'"));
        bench.ralph("--max-iterations 2").run().with_code(3);
        assert_eq!(bench.state()["total_cost_usd"], json!(2e9), "{cost}");
        let ran = bench.ralph("--max-usd 5").run().with_code(8);
        ran.says("$1000000000.00 are used, and $5.00 are allowed");
    }
}
