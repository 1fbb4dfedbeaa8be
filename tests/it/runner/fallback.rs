//! Who goes on where the agent is at a usage limit, or its service overloaded.

use rustix::process::Signal;
use serde_json::json;

use crate::runner::claude::TOKENS;
use crate::runner::support::{Bench, CHANGE, PROMISE};

/// The beginning of a `claude` that writes down which model it was asked for.
const WHO: &str = r#"case " $* " in *" --model small "*) model=small ;; *) model=main ;; esac
echo $model >> "$DESK/who"
overloaded() {
    printf '{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"API Error: 529 Overloaded","session_id":"%s","usage":{}}\n' "$session"
    exit 1
}
"#;

fn who(bench: &Bench) -> Vec<String> {
    bench.desk("who").lines().map(str::to_owned).collect()
}

#[test]
fn fallback_model_bridges_a_usage_limit() {
    let bench = Bench::new();
    // A time that is over already: the first choice is tried again after 5 s, of which none pass before the third run of the other.
    bench.stop_the_clocks();
    bench.claude(&format!(
        "{WHO}if [ $n = 1 ]; then limit 1000; fi\ncalls Bash\necho $n > made.txt\n\
         if [ $n -ge 4 ]; then echo 0 > \"$DESK/../clock\"; sleep 1; fi\n\
         if [ $model = small ]; then result 'On it.'; else result '{PROMISE}'; fi"
    ));
    let ran = bench.ralph("--fallback-model small --model main").run().with_code(0);
    assert!(!ran.output.contains("waiting for"), "{ran}");
    ran.says(
        "ralph: claude small continues: claude main is at its usage limit, and is tried again at 20",
    );
    ran.says(", claude 2.1.332 (at a usage limit claude small), until ");
    ran.says("ralph: claude main works again");
    bench
        .spool("log")
        .run()
        .with_code(0)
        .says("  claude main: usage limit: ")
        .says("  claude small: ");
    let who = who(&bench);
    let (last, between) = who[1..].split_last().unwrap();
    assert!(between.len() >= 3 && between.iter().all(|model| model == "small"), "{who:?}");
    assert_eq!((who[0].as_str(), last.as_str()), ("main", "main"));
    let shares = bench.state()["agents"].clone();
    assert_eq!(
        (&shares[0]["model"], &shares[0]["runs"], &shares[1]["runs"]),
        (&json!("main"), &json!(2), &json!(between.len())),
        "{shares:#?}"
    );
    ran.says("claude main: 2 runs, ").says("; claude small: ");
    // The program says itself which model has answered.
    let history = bench.state_lines("history.jsonl");
    let known = history.iter().all(|iteration| {
        iteration["model"] == "claude-sonnet-4-5" && iteration["harness"] == "claude"
    });
    assert!(known, "{history:#?}");
}

#[test]
fn fallback_model_precedes_fallback_harness() {
    let bench = Bench::new();
    bench.recorded("codex", "codex-cli 0.169.0");
    bench.claude(&format!("{WHO}limit $(($(date +%s) + 7200))"));
    let ran =
        bench.ralph("--fallback-model small --fallback-harness codex --json").run().with_code(0);
    let agents: Vec<_> =
        ran.events().into_iter().filter(|event| event["event"] == "agent").collect();
    assert_eq!(agents.len(), 2, "{agents:#?}");
    assert_eq!((&agents[0]["harness"], &agents[0]["model"]), (&json!("claude"), &json!("small")));
    assert_eq!((&agents[1]["harness"], &agents[1]["model"]), (&json!("codex"), &json!(null)));
    let history = bench.state_lines("history.jsonl");
    let ran_with: Vec<_> =
        history.iter().map(|iteration| iteration["harness"].as_str().unwrap()).collect();
    assert_eq!(ran_with, ["claude", "claude", "codex"]);
    assert_eq!((bench.runs(), &bench.state()["harness"]), (3, &json!("codex")));
}

#[test]
fn programs_read_what_each_agent_used() {
    let bench = Bench::new();
    bench.claude(&format!(
        "{WHO}cost=0.25\nif [ $model = main ]; then limit 4102444800; fi\ncalls Bash\necho $n > made.txt\n\
         if [ $n = 2 ]; then result 'On it.'; else result '{PROMISE}'; fi"
    ));
    let ran = bench.ralph("--fallback-model small --json").run().with_code(0);
    let share = |model: serde_json::Value, runs: u32, tokens: u64, cost: serde_json::Value| {
        json!({"harness": "claude", "model": model, "runs": runs, "tokens": tokens,
            "tokens_estimated": false, "tokens_complete": true, "cost_usd": cost,
            "cost_estimated": false, "cost_complete": true})
    };
    let expected = json!([
        share(json!(null), 1, 0, json!(null)),
        share(json!("small"), 2, 2 * TOKENS, json!(0.5))
    ]);
    let end = ran.events().pop().unwrap();
    assert_eq!((&end["event"], &end["agents"]), (&json!("end"), &expected), "{end:#}");
    let printed = |arguments: &str| {
        let ran = bench.spool(&format!("{arguments} --change {CHANGE} --json")).run().with_code(0);
        let all = serde_json::Deserializer::from_str(&ran.output).into_iter::<serde_json::Value>();
        all.map(Result::unwrap).collect::<Vec<_>>()
    };
    assert_eq!(printed("ralph --status")[0]["runner"]["agents"], expected);
    assert_eq!(printed("status")[0]["runners"][0]["agents"], expected);
    assert_eq!(printed("log --summary")[0]["agents"], expected);
    for entry in printed("log") {
        let its = if entry["event"] == "ended" { &expected } else { &json!([]) };
        assert_eq!(entry["agents"], *its, "{entry:#}");
    }
}

#[test]
fn killed_run_is_counted_once() {
    let bench = Bench::new();
    bench.claude(&format!(
        "if [ $n = 2 ]; then calls Edit; exec sleep 600; fi\ncalls Bash\n\
         echo $n > made.txt\nif [ $n = 3 ]; then result '{PROMISE}'; else result 'On it.'; fi"
    ));
    let mut running = bench.ralph("").start();
    running.wait_for("Edit: ");
    running.signal(Signal::KILL);
    running.finish();
    let ran = bench.ralph("--json").run().with_code(0);
    let end = ran.events().pop().unwrap();
    let agents = end["agents"].as_array().unwrap();
    assert_eq!((agents.len(), &agents[0]["runs"]), (1, &json!(3)), "{end:#}");
    assert_eq!((&agents[0]["tokens"], &end["tokens"]), (&end["tokens"], &json!(2 * TOKENS + 161)));
}

#[test]
fn earliest_limit_is_awaited_if_asked() {
    let script = format!(
        "{WHO}case $model in small) limit $(($(date +%s) + 3600)) ;; *) limit $(($(date +%s) + 7200)) ;; esac"
    );
    let bench = Bench::new();
    bench.claude(&script);
    let ran = bench.ralph("--fallback-model small").run().with_code(13);
    ran.says("the usage limit is lifted at 20").says("; --max-limit-wait is not given");
    assert_eq!((bench.runs(), &bench.state()["reason"]), (2, &json!("usage_limit")));
    let bench = Bench::new();
    bench.claude(&script);
    let mut running = bench.ralph("--fallback-model small --max-limit-wait 90m").start();
    running.wait_for("waiting for the usage limit, ");
    let left = bench.state()["waits_until"].as_u64().unwrap()
        - ralph_speckit::world::now().millis() / 1000;
    assert!((3500..3620).contains(&left), "{left}");
    running.signal(Signal::INT);
    running.finish().with_code(130);
}

#[test]
fn three_overloads_bring_the_fallback() {
    let bench = Bench::new();
    bench.claude(&format!(
        "{WHO}case $n in 3) calls Bash; echo 3 > made.txt; result 'On it.'; exit ;; esac\n\
         if [ $model = main ]; then overloaded; fi\ncalls Bash\nresult '{PROMISE}'"
    ));
    let ran = bench.ralph("--fallback-model small").run().with_code(0);
    assert_eq!(who(&bench), ["main", "main", "main", "main", "main", "main", "small"]);
    ran.says("ralph: claude small continues: claude is overloaded, and is tried again at 20");
}

#[test]
fn useless_fallback_is_refused_by_name() {
    let bench = Bench::new();
    bench.claude(&format!("result '{PROMISE}'"));
    for (arguments, words) in [
        (
            "--model opus --fallback-model opus",
            "`--fallback-model` is the model that works already",
        ),
        (
            "--fallback-harness claude",
            "`--fallback-harness` is the agent program that works already",
        ),
        ("--fallback-harness command", "`--fallback-harness` is an agent program that is known"),
        ("--fallback-harness demo", "`--fallback-harness` is an agent program that is known"),
        (
            "--harness-command true --fallback-model small",
            "does nothing for this command: it has no {model}",
        ),
        ("--fallback-harness codex --agent-args=--mcp-config", "arguments for the agent program"),
        ("--fallback-harness codex --permission-mode acceptEdits", "`--fallback-harness`: "),
        (
            "--fallback-harness codex --max-usd 5",
            "`--fallback-harness`: `--max-usd` needs the prices",
        ),
    ] {
        bench.ralph(arguments).run().with_code(2).warns(words);
    }
    let ran = bench.ralph("--fallback-harness codex").run().with_code(9);
    ran.warns("--fallback-harness cannot be used: `codex` is not on the PATH");
    assert_eq!(bench.runs(), 0);
}

#[test]
fn dry_run_shows_every_command_line() {
    let bench = Bench::new();
    let ran = bench.ralph("--fallback-model small --fallback-harness codex --dry-run").run();
    let ran = ran.with_code(0);
    ran.says(
        "Continues at a usage limit or an overload: claude\nModel: small\nCommand line: claude -p ",
    );
    ran.says("Continues at a usage limit or an overload: codex\nModel: its own choice\nCommand line: codex exec");
}
