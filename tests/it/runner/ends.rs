//! Each end: its status in the state file, its line on the screen, its exit code.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::runner::ran::Ran;
use crate::runner::support::{Bench, CHANGE, MORE_THAN_AN_HOUR, PROMISE, in_change, says};

/// Checks all that an end leaves behind; `words` stand on the screen behind the end's head.
#[track_caller]
fn ended(bench: &Bench, ran: Ran, status: &str, reason: &str, code: i32, words: &str) -> Ran {
    let ran = ran.with_code(code);
    let head = if reason == "completed" { "done".to_owned() } else { format!("ended ({reason})") };
    ran.says(&format!("\nralph: {head}: {words}"));
    let state = bench.state();
    assert_eq!(state["status"], status, "{ran}");
    assert_eq!(state["reason"], reason, "{ran}");
    assert_eq!(state["exit_code"], code, "{ran}");
    assert!(state["words"].as_str().unwrap().starts_with(words), "{state:#}");
    assert!(state["ended_at"].as_str().unwrap().contains('T'), "{state:#}");
    assert_eq!(state["doing"], "");
    let last = bench.state_lines("journal.jsonl").pop().unwrap();
    assert_eq!((&last["event"], &last["reason"]), (&json!("ended"), &json!(reason)));
    for entry in bench.iterations() {
        assert!(entry["ended"].is_string(), "no iteration stays open: {entry:#}");
    }
    ran
}

#[test]
fn log_says_once_why_it_ended() {
    let bench = Bench::new();
    bench.agent(&format!("echo 1 > made.txt\n{}", says(PROMISE)));
    bench.ralph("").run().with_code(0);
    let log = bench.spool("log").run().with_code(0);
    assert_eq!(log.output.matches("on the agent's word alone: no check").count(), 1, "{log}");
    assert_eq!(log.output.lines().count(), 2, "{log}");
    let last = bench.spool("log --last 1").run().with_code(0);
    assert!(last.output.contains("on the agent's word alone: no check"), "{last}");
}

#[test]
fn last_iteration_promise_is_done() {
    let bench = Bench::new();
    bench.agent(&format!("echo $n > made.txt; if [ $n = 2 ]; then {}; fi", says(PROMISE)));
    let ran = bench.ralph("--max-iterations 2").run();
    ended(&bench, ran, "done", "completed", 0, "on the agent's word alone: no check");
}

#[test]
fn iterations_used_up() {
    let bench = Bench::new();
    bench.agent("echo $n > made.txt");
    let ran = bench.ralph("--max-iterations 2").run();
    let ran = ended(&bench, ran, "stuck", "max_iters", 3, "");
    ran.says("--max-iterations N sets another limit");
}

#[test]
fn stalled_without_commits() {
    let bench = Bench::new();
    bench.agent("echo $n > made.txt\nif [ $n = 2 ]; then git commit -q --allow-empty -m made; fi");
    let ran = bench.ralph("--stall-threshold 2").run();
    ended(&bench, ran, "stalled", "no_progress", 4, "");
    assert_eq!(bench.runs(), 4, "a commit begins the count anew");
}

#[test]
fn no_progress_without_tool_calls() {
    let bench = Bench::new();
    bench.claude("says 'I am on it.'\nresult 'I am on it.'");
    let ran = bench.ralph("--no-progress 2").run();
    ended(&bench, ran, "stalled", "no_progress", 5, "");
}

#[test]
fn blocked_by_what_a_person_does() {
    let bench = Bench::new();
    bench.agent("echo 'I cannot go on.'; echo '<blocked>set API_KEY in .env</blocked>'");
    let ran = ended(&bench, bench.ralph("").run(), "stuck", "blocked", 6, "");
    ran.says("set API_KEY in .env").says("Do that, then run the same command again.");
    assert!(bench.state()["words"].as_str().unwrap().contains("set API_KEY in .env"));
}

#[test]
fn time_is_up() {
    let bench = Bench::new();
    let witness = Bench::witness();
    bench.agent(&format!("{}echo 1 > made.txt\necho made >&9\nexec sleep 600", witness.held()));
    let mut running = bench.ralph("--max-runtime 1h").start();
    witness.wait_for("made");
    bench.let_pass_until(MORE_THAN_AN_HOUR, &mut running, "-- iteration 1 (");
    let ran = running.finish();
    ended(&bench, ran, "stuck", "timed_out", 7, "");
    witness.wait_for_the_end();
    assert_eq!(bench.iterations()[0]["timed_out"], true);
}

#[test]
fn iterations_need_at_least_a_second() {
    for limit in ["300ms", "1300ms"] {
        let bench = Bench::new();
        bench.agent("echo $n > made.txt\necho there\nexec sleep 600");
        bench.stop_the_clocks();
        let mut running = bench.ralph(&format!("--max-runtime {limit} --grace 200ms")).start();
        running.wait_for("there");
        bench.let_pass(Duration::from_secs(3));
        let ran = running.finish();
        ended(&bench, ran, "stuck", "timed_out", 7, "");
        assert_eq!(bench.runs(), 1, "{limit}");
    }
}

#[test]
fn time_over_in_pause_starts_nothing() {
    let bench = Bench::new();
    bench.agent("exit 1");
    let mut running = bench.ralph("--max-runtime 1h --retry-pause 15m").start();
    running.wait_for("waiting for a pause after a failed run");
    bench.let_pass(MORE_THAN_AN_HOUR);
    let ran = running.finish();
    ended(&bench, ran, "stuck", "timed_out", 7, "");
    assert_eq!(bench.iterations().len(), 1);
}

#[test]
fn tokens_used_up() {
    let bench = Bench::new();
    bench.claude("calls Bash\necho $n > made.txt\nresult 'On it.'");
    // The first line of the second run, with its 161 tokens, does not pass the limit: only its result does, and no run is cut.
    let ran = bench.ralph("--token-budget 600").run();
    ended(&bench, ran, "stuck", "budget", 8, "").says("840 tokens");
    assert_eq!(bench.runs(), 2);
}

#[test]
fn the_agent_program_is_not_there() {
    let bench = Bench::new();
    let ran = bench.ralph("--harness opencode").run().with_code(9);
    ran.warns("`opencode` is not on the PATH").warns("install it with");
    assert_eq!(ran.errors.matches("error").count(), 1, "{ran}");
    assert!(!bench.root.join(".claude").exists(), "nothing has begun");
}

#[test]
fn the_agent_program_is_too_old() {
    let bench = Bench::new();
    bench.recorded("claude", "2.1.142 (Claude Code)");
    bench.ralph("").run().with_code(9).warns("2.1.142 is too old: 2.1.143 or later is needed");
}

#[test]
fn agent_program_is_not_logged_in() {
    let bench = Bench::new();
    let answers = "--version) echo 2.1.332; exit ;;\nauth) echo '{\"loggedIn\": false}'; exit 1 ;;";
    bench.named_agent("claude", answers, "");
    bench.ralph("").run().with_code(9).warns("Claude Code is not logged in");
    assert_eq!(bench.runs(), 0);
}

#[test]
fn the_agent_program_goes_away() {
    let bench = Bench::new();
    bench.agent("echo 1 > made.txt\nrm \"$0\"");
    let ran = ended(&bench, bench.ralph("").run(), "stuck", "harness_failed", 9, "");
    ran.says("there is no such program");
    assert_eq!(bench.iterations().len(), 2);
}

#[test]
fn refused_login_ends_at_once() {
    let bench = Bench::new();
    bench.claude(
        r#"printf '{"type":"assistant","message":{"id":"x","model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"Invalid API key"}]},"parent_tool_use_id":null,"error":"authentication_failed","is_api_error_message":true}\n'
printf '{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"Invalid API key","permission_denials":[]}\n'
exit 1"#,
    );
    let ran = ended(&bench, bench.ralph("").run(), "stuck", "harness_failed", 9, "");
    ran.says("Invalid API key");
    assert_eq!(bench.runs(), 1);
}

#[test]
fn failures_without_end() {
    let bench = Bench::new();
    bench.agent("echo \"broken\" >&2; exit 3");
    let ran = bench.ralph("--max-failures 3 --no-progress 2").run();
    ended(&bench, ran, "stuck", "harness_failed", 9, "").says("3 runs in a row failed");
    assert_eq!(bench.runs(), 3);
}

#[test]
fn good_runs_clear_failures() {
    let bench = Bench::new();
    bench.agent(&format!(
        "echo $n > made.txt\nif [ $n = 6 ]; then {}; exit; fi\nexit $((n % 2))",
        says(PROMISE)
    ));
    bench.ralph("--max-failures 2").run().with_code(0);
}

/// An agent at work until it is ended.
fn at_work(bench: &Bench) -> crate::support::witness::Witness {
    let witness = Bench::witness();
    bench.agent(&format!("{}echo ready >&9\nwhile :; do sleep 1; done", witness.held()));
    witness
}

#[test]
fn signals() {
    let all = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129), (Signal::QUIT, 131)];
    for (signal, code) in all {
        let bench = Bench::new();
        let witness = at_work(&bench);
        let running = bench.ralph("").start();
        witness.wait_for("ready");
        running.signal(signal);
        let ran = ended(&bench, running.finish(), "stopped", "stopped", code, "");
        ran.says("(interrupted)").says(
            "Run the same command again: it continues this loop; --restart begins a new one.",
        );
        witness.wait_for_the_end();
    }
}

#[test]
fn ignored_hangups_end_nothing() {
    let bench = Bench::new();
    let gate = bench.gate();
    bench.agent(&format!(
        "if [ $n = 1 ]; then read -r _ < \"$DESK/gate\"; exit; fi\n{}",
        says(PROMISE)
    ));
    let mut running = bench.ralph("").under_nohup().start();
    running.wait_for("-- iteration 1");
    running.signal(Signal::HUP);
    gate.open();
    running.finish().with_code(0);
}

#[test]
fn spool_stop() {
    let bench = Bench::new();
    let witness = at_work(&bench);
    let running = bench.ralph("").start();
    witness.wait_for("ready");
    let stop = bench.spool(&format!("stop --change {CHANGE}")).run().with_code(0);
    stop.says(&format!("The loop of `{CHANGE}` has ended after 1 iteration"));
    ended(&bench, running.finish(), "stopped", "stopped", 130, "");
    witness.wait_for_the_end();
    bench.spool("stop").run().with_code(1).warns("no runner is running");
    // It was for that runner alone.
    bench.agent(&says(PROMISE));
    bench.ralph("").run().with_code(0);
}

#[test]
fn stop_wakes_a_suspended_runner() {
    let bench = Bench::new();
    let witness = at_work(&bench);
    let running = bench.ralph("").start();
    witness.wait_for("ready");
    running.signal(Signal::STOP);
    bench.spool("stop --wait 30").run().with_code(0).says("has ended");
    running.finish().with_code(130);
    witness.wait_for_the_end();
}

#[test]
fn a_signal_while_a_check_runs() {
    let bench = Bench::new();
    let witness = Bench::witness();
    bench.agent(&says(PROMISE));
    let check = format!("{}echo checking >&9; while :; do sleep 1; done", witness.held());
    let running = bench.ralph("").arg("--check").arg(&check).start();
    witness.wait_for("checking");
    running.signal(Signal::INT);
    ended(&bench, running.finish(), "stopped", "stopped", 130, "");
    witness.wait_for_the_end();
    assert_eq!(bench.iterations()[0]["done_check"], false);
}

#[test]
fn signal_in_pause_after_failure() {
    let bench = Bench::new();
    bench.agent("exit 1");
    let mut running = bench.ralph("--retry-pause 15m").start();
    running.wait_for("waiting for a pause after a failed run");
    running.signal(Signal::TERM);
    ended(&bench, running.finish(), "stopped", "stopped", 143, "");
    let list = bench.iterations();
    assert_eq!(list.len(), 1, "{list:#?}");
    assert_eq!(list[0]["failure"], "`agent` left with exit code 1");
}

#[test]
fn endless_check_failed_at_its_limit() {
    let bench = Bench::new();
    let witness = Bench::witness();
    bench.agent(&says(PROMISE));
    let check = format!("{}while :; do sleep 1; done", witness.held());
    let call = bench.ralph("--max-iterations 1 --check-timeout 1").arg("--check").arg(&check);
    ended(&bench, call.run(), "stuck", "max_iters", 3, "").says("over its limit of 1 s");
    witness.wait_for_the_end();
}

#[test]
fn missing_proposal_ends_the_loop() {
    let bench = Bench::new();
    bench.agent(&format!("echo 1 > made.txt\nrm {}", in_change("proposal.md")));
    let ran = bench.ralph("").run().with_code(1);
    ran.warns("proposal.md");
    let state = bench.state();
    assert_eq!(
        (&state["status"], &state["exit_code"]),
        (&json!("stopped"), &json!(1)),
        "{state:#}"
    );
    assert!(state["words"].as_str().unwrap().contains("proposal.md"), "{state:#}");
    assert_eq!(bench.iterations().len(), 1);
}

#[test]
fn person_command_hears_an_end() {
    const WRITES: &str =
        "printf '%s|%s|' \"$RALPH_ABOUT\" \"$RALPH_REASON\" >> ../heard; cat >> ../heard";
    let bench = Bench::new();
    bench.agent("echo $n > made.txt");
    let call = bench.ralph("--max-iterations 1").arg("--notify").arg(WRITES);
    let ran = call.run().with_code(3);
    ran.says("run when the loop ends or needs you (within 5 s)");
    let heard = std::fs::read_to_string(bench.root.join("../heard")).unwrap();
    let words = format!(
        "{CHANGE}|max_iters|ended (max_iters): {CHANGE} · the limit of 1 iteration was reached"
    );
    assert!(heard.starts_with(&words), "{heard}");
    for (command, words) in
        [("exit 4", "exit code 4"), ("sleep 60", "not over yet, ended after 5 s")]
    {
        let bench = Bench::new();
        bench.agent(&says(PROMISE));
        let ran = bench.ralph("").arg("--notify").arg(command).run().with_code(0);
        ran.warns(&format!("the notice failed: {words}"));
        bench.wait_until_nobody_runs();
    }
}
