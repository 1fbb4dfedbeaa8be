//! A tool that hangs is told from a model that thinks long, by what the agent program's output shows.

use std::time::Duration;

use ralph_speckit::world::pause;
use serde_json::json;

use crate::runner::ran::Ran;
use crate::runner::support::{Bench, MORE_THAN_AN_HOUR, PROMISE};
use crate::support::hearing::hear_all_signals;

/// A call of a tool in the stream of Claude Code that does not come back.
const CALLS: &str =
    r#"block '{"type":"tool_use","id":"toolu_x","name":"Bash","input":{"command":"npm run dev"}}'"#;

/// How that call is shown.
const SHOWN: &str = "Bash: npm run dev";

/// Runs a loop in which nothing more is heard for an hour once this is shown.
fn hung(bench: &Bench, flags: &str, shown: &str) -> Ran {
    let mut running = bench.ralph(flags).start();
    running.wait_for(shown);
    bench.let_pass_until(MORE_THAN_AN_HOUR, &mut running, "-- iteration 1 (");
    running.finish()
}

/// What it prints of that call where its tool was killed.
const RETURNED: &str = r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_x","type":"tool_result","content":"Exit code 137","is_error":true}]},"parent_tool_use_id":null,"session_id":"s"}"#;

#[test]
fn r1_hanging_tool_is_named() {
    let bench = Bench::new();
    bench.claude(&format!(
        "if [ $n = 1 ]; then calls Read; {CALLS}; exec sleep 600; fi\ncalls Bash\nsays '{PROMISE}'\nresult '{PROMISE}'"
    ));
    // An hour is the time of a tool; a model has three of them.
    let ran =
        hung(&bench, "--idle-timeout 1h --iteration-timeout 24h --grace 1s", SHOWN).with_code(0);
    ran.says("nothing was heard of it, and `Bash: npm run dev` did not come back");
    let first = &bench.iterations()[0];
    assert_eq!(first["timed_out"], json!(true), "{first:#}");
    assert_eq!(first["failure"], "`Bash: npm run dev` did not come back", "{first:#}");
    let prompt = bench.arguments(2).join("\n");
    assert!(prompt.contains("This tool call did not come back: Bash: npm run dev."), "{prompt}");
    bench.spool("log --change 2-1 --iteration 1").run().with_code(0).says("did not come back");
}

/// The real Claude Code ends its own tool when it is asked to end, and prints that the call has failed: it hung all the same.
#[test]
fn r1_tool_released_by_ending_hung() {
    let bench = Bench::new();
    bench.claude(&format!(
        "if [ $n = 2 ]; then calls Bash; says '{PROMISE}'; result '{PROMISE}'; exit; fi\n\
         ended() {{ printf '{RETURNED}\\n'; exit 1; }}\n\
         trap ended TERM INT\n{CALLS}\nwhile :; do sleep 0.1; done"
    ));
    let ran = hung(&bench, "--idle-timeout 1h --iteration-timeout 24h", SHOWN).with_code(0);
    ran.says("nothing was heard of it, and `Bash: npm run dev` did not come back");
    let prompt = bench.arguments(2).join("\n");
    assert!(prompt.contains("This tool call did not come back: Bash: npm run dev."), "{prompt}");
}

#[test]
fn r1_time_limit_names_the_tool() {
    let bench = Bench::new();
    bench.claude(&format!("calls Read\n{CALLS}\nexec sleep 600"));
    let ran = hung(&bench, "--iteration-timeout 1h --grace 1s --max-iterations 1", SHOWN);
    ran.with_code(3).says("cut short by its time limit, and `Bash: npm run dev` did not come back");
}

#[test]
fn r1_thinking_model_has_triple_time() {
    let bench = Bench::new();
    let gate = bench.gate();
    // The first thinks longer than a tool may be silent, the second longer than that three times.
    bench.claude(&format!(
        "calls Bash\nsays \"Thought $n\"\n\
         if [ $n = 1 ]; then read -r _ < \"$DESK/gate\"; says 'Got it'; result 'On it.'; exit; fi\n\
         if [ $n = 2 ]; then exec sleep 600; fi\nsays '{PROMISE}'\nresult '{PROMISE}'"
    ));
    let two_hours = Duration::from_hours(2);
    let mut running = bench.ralph("--idle-timeout 1h --iteration-timeout 24h").start();
    running.wait_for("Thought 1");
    bench.let_pass(two_hours);
    // The runner looks at its limits meanwhile, unless the machine is very busy.
    pause(Duration::from_millis(300));
    gate.open();
    running.wait_for("Thought 2");
    bench.let_pass_until(two_hours, &mut running, "-- iteration 2 (");
    let ran = running.finish().with_code(0);
    let list = bench.iterations();
    assert_eq!([&list[0]["timed_out"], &list[1]["timed_out"]], [&json!(null), &json!(true)]);
    assert!(list[1]["seconds"].as_f64().unwrap() >= 3.0 * 3600.0, "{:#}", list[1]);
    assert!(!ran.output.contains("did not come back"), "{ran}");
}

#[test]
fn r1_shown_calls_name_their_tool() {
    hear_all_signals();
    // The recordings up to the first call that has begun, and then silence. opencode shows a call only once it has ended.
    for (name, version, begun, tool) in [
        ("claude", "2.1.332 (Claude Code)", "\"tool_use\"", "Bash"),
        ("codex", "codex-cli 0.169.0", "\"item.started\"", "command"),
        ("gemini", "0.61.0", "\"type\":\"tool_use\"", "run_shell_command"),
        ("copilot", "1.0.102", "\"tool.execution_start\"", "bash"),
    ] {
        let bench = Bench::new();
        bench.recorded(name, version);
        let program = bench.beside("bin").join(name);
        let text = std::fs::read_to_string(&program).unwrap();
        let (before, recording) = text.rsplit_once("sed '").unwrap();
        let recording = recording.rsplit('\'').nth(1).unwrap();
        let script = format!("{before}sed '/{begun}/q' '{recording}'\nexec sleep 600\n");
        bench.program(name, &script);
        let call = format!(
            "--harness {name} --idle-timeout 1h --iteration-timeout 24h --grace 1s --max-iterations 1"
        );
        let ran = hung(&bench, &call, &format!("  {tool}"));
        let first = bench.iterations()[0].clone();
        let failure = first["failure"].as_str().unwrap();
        let is_named = failure.to_lowercase().contains(&tool.to_lowercase());
        assert!(is_named && failure.contains("did not come back"), "{name}: {failure}\n{ran}");
    }
}
