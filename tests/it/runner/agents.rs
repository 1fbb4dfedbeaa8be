//! What an agent program tells of itself besides its words: errors, denials, sessions, tokens.

use crate::runner::support::{Bench, CHANGE, MORE_THAN_AN_HOUR, PROMISE};

/// The last lines of a failed run of Claude Code, with the status of the service's answer.
fn failed(status: &str, words: &str) -> String {
    format!(
        "printf '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":{status},\"result\":\"%s\",\"session_id\":\"%s\"}}\\n' '{words}' \"$session\"\nexit 1"
    )
}

/// A tool call that comes to this.
fn call(words: &str) -> String {
    format!(
        "block '{{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{{\"command\":\"rm x\"}}}}'\n\
         printf '{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"t1\",\"type\":\"tool_result\",\"content\":\"%s\",\"is_error\":true}}]}}}}\\n' '{words}'"
    )
}

/// A result with the denial of that call.
fn denied(words: &str) -> String {
    format!(
        "printf '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"%s\",\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}},\"permission_denials\":[{{\"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"rm x\"}}}}],\"result\":\"%s\"}}\\n' \"$session\" '{words}'"
    )
}

#[test]
fn d4_fresh_session_follows_a_lost() {
    let bench = Bench::new();
    bench.claude(&format!(
        "case \"$*\" in *--resume*)\n\
         printf '{{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"errors\":[\"No conversation found with session ID: x\"]}}\\n'\n\
         exit 1 ;; esac\n\
         calls Bash\necho $n > made.txt\nif [ $n = 1 ]; then says more; result more; else says end; result '{PROMISE}'; fi"
    ));
    let ran = bench.ralph("--continue-session").run().with_code(0);
    assert_eq!(ran.errors.matches("the session to continue is gone").count(), 1, "{ran}");
    // The second iteration was begun twice, and the agent got the whole prompt then.
    assert_eq!((bench.iterations().len(), bench.runs()), (2, 3), "{ran}");
    assert!(bench.arguments(2).contains(&"--resume".to_owned()), "{ran}");
    let fresh = bench.arguments(3).join("\n");
    assert!(!fresh.contains("--resume") && fresh.contains("WHAT THE PROPOSAL WANTS"), "{fresh}");
}

#[test]
fn d5_lasting_failure_ends_at_once() {
    for (status, words) in [
        ("402", "payment required"),
        ("400", "Credit balance is too low"),
        ("429", "Your prepayment credits are depleted."),
    ] {
        let bench = Bench::new();
        bench.claude(&failed(status, words));
        let ran = bench.ralph("").run().with_code(9);
        ran.says(words);
        assert_eq!(bench.runs(), 1, "{ran}");
    }
}

#[test]
fn d5_three_unanswered_runs_end_it() {
    let bench = Bench::new();
    bench.claude("echo 'cannot resolve the service' >&2\nexit 1");
    let ran = bench.ralph("").run().with_code(9);
    let ran =
        ran.says("the first 3 runs failed without one answer").says("cannot resolve the service");
    assert_eq!(bench.runs(), 3, "{ran}");
    // Whoever names a number means it.
    let bench = Bench::new();
    bench.claude("exit 1");
    bench.ralph("--max-failures 5").run().with_code(9);
    assert_eq!(bench.runs(), 5);
}

#[test]
fn d5_busy_service_is_tried_again() {
    let bench = Bench::new();
    bench.claude(&format!(
        "if [ $n -lt 6 ]; then\n{}\nfi\ncalls Bash\nresult '{PROMISE}'",
        failed("529", "Overloaded")
    ));
    bench.ralph("").run().with_code(0);
    assert_eq!(bench.runs(), 6);
    let bench = Bench::new();
    bench.claude(&format!(
        "if [ $n = 1 ]; then calls Bash; echo 1 > made.txt; result more; exit; fi\n\
         if [ $n -lt 6 ]; then exit 1; fi\ncalls Bash\nresult '{PROMISE}'"
    ));
    bench.ralph("").run().with_code(0);
    assert_eq!(bench.runs(), 6);
}

#[test]
fn d5_quoted_errors_end_nothing() {
    let words = "Incorrect API key provided: the service said Credit balance is too low, insufficient_quota";
    let bench = Bench::new();
    bench.claude(&format!("calls Bash '{words}'\nsays '{words}'\nresult '{words}\\n{PROMISE}'"));
    bench.ralph("").run().with_code(0);
}

#[test]
fn denied_despite_allow_all_is_told() {
    let bench = Bench::new();
    bench.claude(&format!("{}\necho $n > made.txt\nsays no\n{}", call("denied"), denied("no")));
    let ran = bench.ralph("--max-iterations 2 --allow-all").run().with_code(3);
    ran.says("--allow-all is set: look at --deny").warns("--allow-all is set: look at --deny");
    // The end says it once, without a warning just above it.
    assert_eq!(ran.to_string().matches("tools were denied: ").count(), 1, "{ran}");
    assert!(!ran.to_string().contains("all of its tools with --allow-all"), "{ran}");
}

#[test]
fn d6_denied_tools_are_named_everywhere() {
    let bench = Bench::new();
    bench.claude(&format!("{}\necho $n > made.txt\nsays no\n{}", call("denied"), denied("no")));
    let ran = bench.ralph("--max-iterations 2").run().with_code(3);
    ran.says("Tools were denied in 2 iterations: Bash: rm x")
        .says("1 tool call (1 failed or denied)");
    let entry = &bench.iterations()[0];
    assert_eq!((&entry["denied"][0], &entry["failed_calls"]), (&"Bash: rm x".into(), &1.into()));
    assert_eq!(bench.state()["denied"][0], "Bash: rm x");
    let status = bench.spool("ralph --status").run().with_code(0);
    status.says("Denied: in 2 iterations: Bash: rm x");
    bench.spool("log").run().with_code(0).says("denied: Bash: rm x");
    assert_eq!(bench.state_lines("history.jsonl")[1]["denied"][0], "Bash: rm x");
}

#[test]
fn d6_many_denials_are_named_shortly() {
    let bench = Bench::new();
    let long = "x".repeat(300);
    let denials = format!(
        "all=$(seq 300 | sed 's/.*/{{\"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"rm & {long}\"}}}}/' | paste -sd, -)\n\
         printf '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"%s\",\"permission_denials\":[%s],\"result\":\"no\"}}\\n' \"$session\" \"$all\""
    );
    bench.claude(&format!("{}\necho $n > made.txt\nsays no\n{denials}", call("denied")));
    let ran = bench.ralph("--max-iterations 2").run().with_code(3);
    let (of_one, of_run) = ("and at least 40 more", "and at least 10 more");
    ran.warns("tools were denied: Bash: rm 1 xxx").warns(of_one);
    ran.says("Tools were denied in 2 iterations: Bash: rm 1 xxx").says(of_run);
    let status = bench.spool("ralph --status").run().with_code(0);
    status.says("  Denied: in 2 iterations: Bash: rm 1 xxx").says(of_run);
    let journal = bench.state_lines("journal.jsonl");
    let words = journal[1]["words"].as_str().unwrap();
    assert!(words.contains("denied: Bash: rm 1 xxx") && words.contains(of_one), "{journal:?}");
    assert!(bench.arguments(2).join("\n").contains(of_one), "{ran}");
    for all in [ran.to_string(), status.to_string(), words.to_owned()] {
        assert!(!all.contains("rm 11 ") && all.contains(", Bash: rm 10 xxx"), "{all}");
        assert!(all.lines().all(|line| line.chars().count() < 1_200), "{all}");
    }
    let kept = |of: &serde_json::Value| of["denied"].as_array().unwrap().len();
    let entries = bench.state_lines("history.jsonl");
    assert_eq!((kept(&entries[0]), kept(&bench.state())), (50, 20), "{ran}");
}

#[test]
fn wall_of_denials_ends_the_loop() {
    let bench = Bench::new();
    bench.claude(&format!("{}\nsays no\n{}", call("denied"), denied("no")));
    let ran = bench.ralph("").run().with_code(6);
    ran.says("allow what it was denied in 2 iterations that changed nothing: Bash: rm x").says(
        "permit them with --allow TOOL or --permission-mode acceptEdits, or all of its tools with --allow-all",
    );
    // The same command would be denied the same.
    ran.says("Run the command again with what you permit");
    let status = bench.spool("ralph --status").run().with_code(0);
    status.says("Next: Run the command again with what you permit");
    assert_eq!((bench.iterations().len(), bench.runs()), (2, 2), "{ran}");
    assert_eq!(bench.state()["reason"], "blocked");
    // Who wants no such end says so, as for all iterations that change nothing.
    let bench = Bench::new();
    bench.claude(&format!("{}\nsays no\n{}", call("denied"), denied("no")));
    bench.ralph("--no-progress 0 --max-iterations 4").run().with_code(3);
}

#[test]
fn permissions_and_arguments_reach_the_agent() {
    let bench = Bench::new();
    bench.claude(&format!("calls Bash\nsays end\nresult '{PROMISE}'"));
    let ralph = |words: &str| {
        let before = format!("ralph --change {CHANGE} --retry-pause 10ms Build");
        bench.spool(&format!("{before} {words}")).run()
    };
    ralph("--permission-mode acceptEdits --allow Edit --deny WebFetch --agent-args=--effort=low -- --mcp-config x.json")
        .with_code(0);
    ralph("--allow Edit --dry-run").with_code(0).says("and as the settings below say");
    let given = bench.arguments(1);
    for word in [
        "--permission-mode=acceptEdits",
        "--allowedTools=Edit",
        "--disallowedTools=WebFetch",
        "--effort=low",
        "--mcp-config",
        "x.json",
    ] {
        assert!(given.contains(&word.to_owned()), "{word}: {given:?}");
    }
    for (words, why) in [
        ("--permission-mode acceptedits", "did you mean `acceptEdits`?"),
        ("--permission-mode bypassPermissions", "use --allow-all"),
        ("--allow-all --allow Edit", "--allow-all permits everything"),
        ("-- --model x", "use --model of `spool ralph`"),
        ("-- --output-format text", "the runner relies on"),
        ("-- words", "`words` is no flag of Claude Code"),
        ("--harness codex --deny shell", "Codex has no flag for `--deny`"),
        ("--harness-command true --allow Edit", "`--allow` does nothing for a command of your own"),
    ] {
        let refused = ralph(words).with_code(2);
        assert!(refused.errors.contains(why), "{words}: {refused}");
    }
    let refused = bench.spool("ralph --harness demo --allow Edit").run().with_code(2);
    assert!(refused.errors.contains("means nothing to the demo"), "{refused}");
    assert_eq!(bench.runs(), 1);
}

#[test]
fn d7_cut_iterations_count_session_files() {
    let bench = Bench::new();
    let line = |id: &str, output: u64| {
        format!(
            "{{\"type\":\"assistant\",\"timestamp\":\"'$(date -u +%Y-%m-%dT%H:%M:%S.999Z)'\",\"message\":{{\"id\":\"{id}\",\"usage\":{{\"input_tokens\":700,\"output_tokens\":{output},\"cache_read_input_tokens\":20,\"cache_creation_input_tokens\":0}}}}}}"
        )
    };
    bench.claude(&format!(
        "mkdir -p \"$HOME/.claude/projects/x\" \"$HOME/.claude/projects/y\"\n\
         printf '%s\\n' '{}' '{}' '{}' > \"$HOME/.claude/projects/x/$session.jsonl\"\n\
         head -c 8000000 /dev/zero > \"$HOME/.claude/projects/y/another.jsonl\"\n\
         printf '%s\\n' '{}' >> \"$HOME/.claude/projects/y/another.jsonl\"\n\
         calls Bash\nsays 'half done'\nexec sleep 60",
        line("m1", 1),
        line("m1", 27),
        line("m2", 27),
        line("m3", 9_000),
    ));
    let mut running = bench.ralph("--max-iterations 1 --iteration-timeout 1h").start();
    running.wait_for("half done");
    bench.let_pass(MORE_THAN_AN_HOUR);
    let ran = running.finish().with_code(3);
    let entry = &bench.iterations()[0];
    assert_eq!(
        (&entry["tokens_used"], &entry["timed_out"]),
        (&1_494.into(), &true.into()),
        "{ran}"
    );
    assert!(entry["tokens_estimated"].is_null(), "{ran}");
}

#[test]
fn d9_failed_calls_support_no_promise() {
    let bench = Bench::new();
    bench.claude(&format!("{}\nsays '{PROMISE}'\n{}", call("denied"), denied(PROMISE)));
    let ran = bench.ralph("--max-iterations 2").run().with_code(3);
    ran.says("promise refused: 0 of 1 tool calls");
    let bench = Bench::new();
    bench.claude(&format!(
        "{}\ncalls Bash\nsays '{PROMISE}'\nresult '{PROMISE}'",
        call("exit code 1")
    ));
    bench.ralph("--max-iterations 2").run().with_code(0);
}

#[test]
fn d9_uncountable_tokens_are_unknown() {
    let bench = Bench::new();
    bench.agent("echo $n > made.txt");
    let ran = bench.ralph("--max-iterations 2").run().with_code(3);
    assert!(ran.output.contains("tokens unknown") && !ran.output.contains("0 tokens"), "{ran}");
    assert_eq!(bench.iterations()[0]["tokens_unknown"], true);
    let status = bench.spool("ralph --status").run().with_code(0);
    status.says("Tokens: unknown");
}

#[test]
fn failure_with_advice_is_one_line() {
    let bench = Bench::new();
    let stream =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/streams/opencode-rejected.jsonl");
    let version = "--version) echo 1.18.33; exit ;;";
    bench.named_agent("opencode", version, &format!("echo $n > made.txt; cat '{stream}'"));
    let ran = bench.ralph("--harness opencode --max-iterations 2").run().with_code(3);
    ran.says(
        "-- iteration 1 (failed: `opencode` ended the run because a permission was refused; allow it in its settings, with --allow, or give --allow-all): ",
    );
    ran.warns("permit them with --allow TOOL, or all of its tools with --allow-all");
    let bench = Bench::new();
    let block = |path: &str| {
        format!(
            "block \"{{\\\"type\\\":\\\"tool_use\\\",\\\"id\\\":\\\"{path}\\\",\\\"name\\\":\\\"Write\\\",\\\"input\\\":{{\\\"file_path\\\":\\\"{path}\\\"}}}}\"\n"
        )
    };
    bench.claude(&format!(
        "{}{}result '{PROMISE}'",
        block("$(pwd -P)/src/made.rs"),
        block("/etc/other.txt")
    ));
    let ran = bench.ralph("").run();
    ran.says("  Write: src/made.rs\n").says("  Write: /etc/other.txt\n");
}
