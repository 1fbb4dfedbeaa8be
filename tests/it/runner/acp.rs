//! An agent program that speaks the Agent Client Protocol, as a small script.

use crate::runner::support::{Bench, CHANGE, MORE_THAN_AN_HOUR, PROMISE};

/// What an agent does until it has its prompt; `prompt` is what it does then.
fn speaks(prompt: &str) -> String {
    format!(
        r#"#!/bin/sh
n=0
if [ -f "$DESK/runs" ]; then read -r n < "$DESK/runs"; fi
n=$((n + 1))
echo "$n" > "$DESK/runs"
update() {{ echo '{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s1","update":'"$1"'}}}}'; }}
says() {{ update '{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"'"$1"'"}}}}'; }}
ends() {{ echo '{{"jsonrpc":"2.0","id":5,"result":{{"stopReason":"end_turn"}}}}'; }}
ask='{{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{{"sessionId":"s1","toolCall":{{"toolCallId":"c1","kind":"execute","title":"make it"}},"options":[{{"optionId":"yes","kind":"allow_once"}},{{"optionId":"no","kind":"reject_once"}}]}}}}'
while read -r line; do
  printf '%s\n' "$line" >> "$DESK/told-$n"
  case "$line" in
  *'"initialize"'*) echo '{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":1}}}}' ;;
  *'"session/new"'*) echo '{{"jsonrpc":"2.0","id":1,"result":{{"sessionId":"s1"}}}}' ;;
  *'"session/prompt"'*) {prompt} ;;
  *'"optionId":"yes"'*) echo "$n" > "made-$n.txt"; says '{PROMISE}'; ends ;;
  *'"optionId":"no"'*) says 'I may not.'; ends ;;
  *'"session/cancel"'*) echo cancelled > "$DESK/cancelled"; exit 0 ;;
  esac
done
"#
    )
}

#[test]
fn agent_runs_five_iterations_to_promise() {
    let bench = Bench::with_tasks("- [ ] 1.1 Make it\n");
    bench.program("agent", &speaks("echo \"$ask\""));
    let call = bench.spool(&format!(
        "ralph Build --change {CHANGE} --done manual --allow-all --commit --min-iterations 5 --no-interactive"
    ));
    let ran = call.arg("--harness").arg("acp:agent").run();
    ran.says(", acp:agent, until ");
    let plan = bench.spool(&format!("ralph Build --change {CHANGE} --dry-run"));
    let plan = plan.arg("--harness").arg("acp:agent").run().with_code(0);
    plan.says("\nAgent: acp:agent\n");
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.output, ran.errors);
    assert_eq!(bench.runs(), 5);
    let iterations = bench.iterations();
    assert_eq!(iterations.len(), 5);
    for n in 1..=5 {
        assert_eq!(bench.read(&format!("made-{n}.txt")), format!("{n}\n"));
        let told = bench.desk(&format!("told-{n}"));
        assert!(told.contains(&format!("\"cwd\":\"{}\"", bench.root.display())), "{told}");
        assert!(told.contains("WHAT THE PROPOSAL WANTS"), "{told}");
    }
    assert!(bench.git(&["log", "--oneline"]).lines().count() >= 5);
}

#[test]
fn refused_twice_ends_as_blocked() {
    let bench = Bench::with_tasks("- [ ] 1.1 Make it\n");
    bench.program("agent", &speaks("echo \"$ask\""));
    let call =
        bench.spool(&format!("ralph Build --change {CHANGE} --done manual --no-interactive"));
    let ran = call.arg("--harness").arg("acp:agent").run();
    assert_eq!(bench.runs(), 2, "{}\n{}", ran.output, ran.errors);
    assert!(ran.errors.contains("execute: make it"), "{}\n{}", ran.output, ran.errors);
    assert!(!bench.root.join("made-1.txt").exists());
    let log = bench.spool(&format!("log --change {CHANGE} --iteration 1")).run().output;
    assert!(log.contains("denied  execute: make it") && log.contains("I may not."), "{log}");
}

#[test]
fn overdue_turn_is_cancelled_first() {
    let bench = Bench::with_tasks("- [ ] 1.1 Make it\n");
    bench.program("agent", &speaks(": > \"$DESK/asked\""));
    let call = bench.spool(&format!(
        "ralph Build --change {CHANGE} --done manual --max-iterations 1 --iteration-timeout 1h --no-interactive"
    ));
    let running = call.arg("--harness").arg("acp:agent").start();
    bench.wait_for_desk("asked");
    bench.let_pass(MORE_THAN_AN_HOUR);
    let ran = running.finish();
    assert_eq!(bench.runs(), 1, "{}\n{}", ran.output, ran.errors);
    assert_eq!(bench.desk("cancelled"), "cancelled\n", "{}\n{}", ran.output, ran.errors);
}

#[test]
fn project_sets_no_protocol_command() {
    let bench = Bench::with_tasks("- [ ] 1.1 Make it\n");
    bench.program("agent", &speaks("echo \"$ask\""));
    bench.write(".spool/ralph.toml", "harness = \"acp:agent\"\n");
    let call =
        bench.spool(&format!("ralph Build --change {CHANGE} --trust-project --no-interactive"));
    let ran = call.run();
    assert_eq!(ran.code, Some(2), "{}\n{}", ran.output, ran.errors);
    assert!(ran.errors.contains("a project's file cannot give"), "{}", ran.errors);
    assert_eq!(bench.runs(), 0);
}
