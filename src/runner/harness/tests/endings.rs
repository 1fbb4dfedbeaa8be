//! How runs end: what may pass, what will not, and what is only talked about.

use super::super::command::Any;
use super::super::{
    AgentEvent, AgentReport, Approval, ExitInfo, Harness, Missing, RunOutcome, Stream, TokenUsage,
};
use super::{code, order, read, reader_for, recording};

fn ended(name: &str, output: &[&str], errors: &[&str], left: &ExitInfo) -> RunOutcome {
    let mut reader = reader_for(name, Approval::All);
    for line in output {
        reader.line(Stream::Output, line.as_bytes(), &mut |_| {});
    }
    for line in errors {
        reader.line(Stream::Errors, line.as_bytes(), &mut |_| {});
    }
    reader.report(left).outcome
}

#[test]
fn t14_lasting_failures_are_known() {
    let result = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":404,"result":"There's an issue with the selected model (x)."}"#;
    let login = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"Not logged in · Please run /login"}]},"error":"authentication_failed","is_api_error_message":true}"#;
    let logged_out = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":null,"result":"Not logged in · Please run /login"}"#;
    let unknown = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: 1"]}"#;
    let codex = r#"{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: Missing bearer"}}"#;
    let t14 = r#"{"type":"turn.failed","error":{"message":"The requested model 'no-such-model' does not exist."}}"#;
    let opencode = r#"{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"no key","statusCode":401}}}"#;
    let copilot = r#"{"type":"session.error","data":{"errorType":"authentication","statusCode":401,"message":"no key"}}"#;
    let model = r#"{"type":"session.error","data":{"errorType":"query","statusCode":404,"message":"Model 'x' not found on provider"}}"#;
    let gemini = r#"{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: no key]"},"stats":{}}"#;
    let down = r#"{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: down]"},"stats":{}}"#;
    let usage = [
        "Error: No session, task, or name matched 'x'.",
        "",
        "To resume by session or task ID:  copilot --resume=<id>",
        "To resume by name:                copilot --resume=<name>",
        "To name a new session:            copilot --name=<name>",
        "To pick from existing sessions:   copilot --resume",
        "To start a new session with ID:   copilot --session-id=<valid-uuid>",
        "one more",
        "and one more",
        "and another",
        "and the last",
    ];
    for (name, output, errors, exit, words) in [
        ("claude", &[result][..], &[][..], 1, "There's an issue with the selected model (x)."),
        ("claude", &[login, logged_out], &[], 1, "Not logged in · Please run /login"),
        ("claude", &[unknown], &[], 1, "No conversation found with session ID: 1"),
        (
            "claude",
            &[],
            &[
                "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
            ],
            1,
            "cannot be used with root",
        ),
        ("claude", &[], &["error: unknown option '--verbose'"], 1, "it is too old"),
        ("codex", &[codex], &[], 1, "Missing bearer"),
        ("codex", &[t14], &[], 1, "'no-such-model' does not exist"),
        (
            "codex",
            &[],
            &["Not inside a trusted directory and --skip-git-repo-check was not specified."],
            1,
            "Not inside a trusted directory",
        ),
        ("codex", &[], &["Error: no rollout found for thread id 1"], 1, "no rollout found"),
        ("codex", &[], &["error: unexpected argument '--json' found"], 2, "it is too old"),
        ("opencode", &[opencode], &[], 1, "no key"),
        ("opencode", &[], &["Error: Session not found"], 1, "Session not found"),
        ("copilot", &[copilot], &[], 1, "no key"),
        ("copilot", &[model], &[], 1, "Model 'x' not found"),
        ("copilot", &[], &usage, 1, "Error: No session, task, or name matched 'x'. |"),
        ("copilot", &[], &["Error: No authentication information found."], 1, "No authentication"),
        ("gemini", &[gemini], &[], 145, "no key"),
        ("gemini", &[down], &["    at x (y.js:1) {", "  code: 404", "}"], 1, "down"),
        ("gemini", &[], &["not running in a trusted directory"], 55, "trusted directory"),
        ("gemini", &[], &["Invalid session identifier"], 42, "Invalid session"),
        ("gemini", &[], &["Please set an Auth method"], 41, "Auth method"),
    ] {
        match ended(name, output, errors, &code(exit)) {
            RunOutcome::Lasting(message) => assert!(message.contains(words), "{name}: {message}"),
            other => panic!("{name} {output:?} {errors:?}: {other:?}"),
        }
    }
}

#[test]
fn what_may_pass_is_a_failure() {
    let overloaded = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"Overloaded"}"#;
    // As Claude Code 2.1.330 reports a busy service where it is used with a subscription.
    let event = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","isUsingOverage":false}}"#;
    let busy = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"api_error_type":"overloaded_error","result":"API Error: Server is temporarily limiting requests (not your usage limit)"}"#;
    let turns = r#"{"type":"result","subtype":"error_max_turns","is_error":false}"#;
    let gemini = r#"{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: down]"},"stats":{}}"#;
    let unnamed = r#"{"type":"error","sessionID":"s","error":{"name":"UnknownError","data":{"message":"Unexpected server error."}}}"#;
    let killed = ExitInfo { signal: Some(11), ..ExitInfo::default() };
    for (name, output, errors, left, words) in [
        ("claude", &[overloaded][..], &[][..], code(1), "`claude` failed: Overloaded"),
        ("claude", &[event, busy], &[], code(1), "not your usage limit"),
        ("claude", &[turns], &[], code(0), "error_max_turns"),
        (
            "claude",
            &[],
            &["at main (x.js:1)", "TypeError: boom"],
            code(1),
            "`claude` left with exit code 1 and without a result: TypeError: boom",
        ),
        ("codex", &[], &[], killed, "`codex` left with signal 11 and without a result"),
        ("gemini", &[gemini], &[], code(244), "`gemini` failed: [API Error: down]"),
        ("opencode", &[unnamed], &[], code(1), "Unexpected server error.\n`opencode models` lists"),
    ] {
        match ended(name, output, errors, &left) {
            RunOutcome::Failed(message) => assert!(message.contains(words), "{name}: {message}"),
            other => panic!("{name} {output:?}: {other:?}"),
        }
    }
}

#[test]
fn cut_program_is_cut() {
    // Copilot CLI prints a result with exit code 0 when it is ended.
    for name in ["claude", "codex", "copilot", "gemini", "opencode"] {
        let left = ExitInfo { code: Some(0), cut: true, ..ExitInfo::default() };
        let (seen, _) = read(reader_for(name, Approval::Own), &recording(name), &left);
        assert_eq!(seen.outcome, RunOutcome::Cut, "{name}");
    }
}

#[test]
fn ended_copilot_has_not_finished() {
    let lines = recording("copilot");
    let in_the_middle = lines.len() - 8;
    let mut cut = lines[..in_the_middle].to_vec();
    cut.push(lines[lines.len() - 1].clone());
    let (seen, _) = read(reader_for("copilot", Approval::Own), &cut, &code(0));
    assert_eq!(
        seen.outcome,
        RunOutcome::Failed("`copilot` was ended in the middle of a turn".to_owned())
    );
}

const LIMITS: [&str; 4] = [
    "You've hit your usage limit. Visit x or try again at 3:45 PM.",
    "You've hit your 5-hour limit · resets 12:57am (UTC)",
    "You have exhausted your daily quota on this model.",
    "API Error: 429 rate_limit usage_limit_reached",
];

#[test]
fn quoted_usage_limit_is_none() {
    for name in ["claude", "codex", "copilot", "gemini", "opencode"] {
        for limit in LIMITS {
            let quoted: Vec<String> = recording(name)
                .iter()
                .map(|line| String::from_utf8_lossy(line).into_owned())
                .map(|line| {
                    line.replace("All done: wrote proof.txt.", limit)
                        .replace("I will write the file.", limit)
                })
                .collect();
            let (seen, _) = read(reader_for(name, Approval::Own), &quoted, &code(0));
            assert_eq!(seen.final_text, limit, "{name}");
            assert_eq!(seen.outcome, RunOutcome::Finished, "{name}: {limit}");
        }
    }
}

#[test]
fn failure_quoting_limit_is_none() {
    // The last words of the agent, and then a crash.
    for name in ["claude", "codex", "copilot", "gemini"] {
        let lines = recording(name);
        let quoted: Vec<String> = lines[..lines.len() - 1]
            .iter()
            .map(|line| {
                String::from_utf8_lossy(line).replace("All done: wrote proof.txt.", LIMITS[0])
            })
            .collect();
        let (seen, _) = read(reader_for(name, Approval::Own), &quoted, &code(1));
        assert!(matches!(seen.outcome, RunOutcome::Failed(_)), "{name}: {:?}", seen.outcome);
    }
}

#[test]
fn gemini_daily_quota_is_limit() {
    let words = "[API Error: You have exhausted your daily quota on this model.]";
    let line = format!(
        r#"{{"type":"result","status":"error","error":{{"type":"unknown","message":"{words}"}},"stats":{{}}}}"#
    );
    let limit = |words: &str| RunOutcome::UsageLimit { resets_at: None, words: words.to_owned() };
    assert_eq!(ended("gemini", &[&line], &[], &code(173)), limit(words));
    assert_eq!(ended("gemini", &[], &[LIMITS[2]], &code(173)), limit(LIMITS[2]));
    assert!(matches!(ended("gemini", &[], &[LIMITS[2]], &code(1)), RunOutcome::Failed(_)));
}

#[test]
fn continued_claude_ends_with_last() {
    // As seen on 2.1.330: an agent in the background wakes the session for another turn.
    let lines = [
        r#"{"type":"system","subtype":"init","session_id":"s1","model":"m"}"#,
        r#"{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"t1","name":"Task","input":{"description":"look"}}]},"parent_tool_use_id":null}"#,
        r#"{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"a","task_type":"local_agent"},{"task_id":"b","task_type":"local_bash"}]}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"result":"waiting <promise>COMPLETE</promise>","session_id":"s1","usage":{"input_tokens":200,"output_tokens":100},"modelUsage":{"m":{"inputTokens":300,"outputTokens":150}},"model_usage_since_last_result":{"m":{"inputTokens":300,"outputTokens":150}}}"#,
        r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"<promise>COMPLETE</promise>"}]},"parent_tool_use_id":"t1"}"#,
        r#"{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b","task_type":"local_bash"}]}"#,
        r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"it is back"}]},"parent_tool_use_id":null}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"result":"it is back","session_id":"s1","usage":{"input_tokens":100,"output_tokens":50},"modelUsage":{"m":{"inputTokens":400,"outputTokens":200}},"model_usage_since_last_result":{"m":{"inputTokens":100,"outputTokens":50}}}"#,
    ];
    let (seen, heard) = read(reader_for("claude", Approval::Own), &lines, &code(0));
    assert_eq!(seen.final_text, "it is back");
    assert_eq!(seen.tool_calls, Some(1));
    let all = TokenUsage { input: 400, output: 200, ..TokenUsage::default() };
    assert_eq!(seen.tokens, Some(all), "the agent's own tokens, and each once");
    assert_eq!(
        heard,
        [
            AgentEvent::Called { tool: "Task".to_owned(), what: "look".to_owned() },
            AgentEvent::Said("it is back".to_owned()),
            AgentEvent::Finished
        ]
    );
    // Cut off in the second turn, the first result is no success.
    let (seen, _) = read(reader_for("claude", Approval::Own), &lines[..7], &code(0));
    assert!(matches!(seen.outcome, RunOutcome::Failed(_)), "{:?}", seen.outcome);
}

#[test]
fn unfinished_subagent_means_unfinished_claude() {
    // As seen on 2.1.330: the agent ended before the result, and its end gets a turn of its own.
    let init = r#"{"type":"system","subtype":"init","session_id":"s1","model":"m"}"#;
    let notified =
        r#"{"type":"system","subtype":"task_notification","task_id":"a","status":"completed"}"#;
    let none = r#"{"type":"system","subtype":"background_tasks_changed","tasks":[]}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"x"}"#;
    let finished = |lines: &[&str]| {
        let (_, heard) = read(reader_for("claude", Approval::Own), lines, &code(0));
        heard.iter().filter(|event| **event == AgentEvent::Finished).count()
    };
    assert_eq!(finished(&[init, result]), 1);
    assert_eq!(finished(&[init, notified, none, result]), 0);
    assert_eq!(finished(&[init, notified, none, result, init, result]), 1);
}

#[test]
fn resumed_claude_counts_this_run() {
    let before = r#"{"type":"result","subtype":"success","is_error":false,"result":"x","usage":{"input_tokens":200,"output_tokens":100},"modelUsage":{"m":{"inputTokens":900,"outputTokens":900}}}"#;
    let since = r#"{"type":"result","subtype":"success","is_error":false,"result":"x","usage":{"input_tokens":200,"output_tokens":100},"modelUsage":{"m":{"inputTokens":900,"outputTokens":900}},"model_usage_since_last_result":{"m":{"inputTokens":200,"outputTokens":100}}}"#;
    let run = Some(TokenUsage { input: 200, output: 100, ..TokenUsage::default() });
    for line in [before, since] {
        let order = super::AgentOrder { resume: Some("s1"), ..order("go on") };
        let reader = super::harness_named("claude").reader(&order);
        let (seen, _) = read(reader, &[line], &code(0));
        assert_eq!((seen.tokens, seen.tokens_of_session), (run, false), "{line}");
    }
}

#[test]
fn foreign_words_are_never_final() {
    const PROMISE: &str = "<promise>COMPLETE</promise>";
    for (name, lines) in [
        (
            "claude",
            vec![
                r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"<promise>COMPLETE</promise>"}]}}"#,
                r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"<promise>COMPLETE</promise>"}]}}"#,
                r#"{"type":"assistant","message":{"model":"m","content":[{"type":"thinking","thinking":"<promise>COMPLETE</promise>"}]},"parent_tool_use_id":null}"#,
                r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"<promise>COMPLETE</promise>"}]},"parent_tool_use_id":"t1"}"#,
                r#"{"type":"result","subtype":"success","is_error":false,"result":""}"#,
            ],
        ),
        (
            "codex",
            vec![
                r#"{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"<promise>COMPLETE</promise>"}}"#,
                r#"{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"x","aggregated_output":"<promise>COMPLETE</promise>"}}"#,
                r#"{"type":"turn.completed","usage":{}}"#,
            ],
        ),
        (
            "copilot",
            vec![
                r#"{"type":"user.message","data":{"content":"<promise>COMPLETE</promise>"}}"#,
                r#"{"type":"assistant.message_delta","ephemeral":true,"data":{"deltaContent":"<promise>COMPLETE</promise>"}}"#,
                r#"{"type":"assistant.message","data":{"content":"<promise>COMPLETE</promise>","toolRequests":[{"name":"bash"}]}}"#,
                r#"{"type":"tool.execution_complete","data":{"toolCallId":"1","success":true,"result":{"content":"<promise>COMPLETE</promise>"}}}"#,
                r#"{"type":"result","sessionId":"s","exitCode":0}"#,
            ],
        ),
        (
            "gemini",
            vec![
                r#"{"type":"message","role":"user","content":"<promise>COMPLETE</promise>"}"#,
                r#"{"type":"message","role":"assistant","content":"<promise>COMPLETE</promise>","delta":true}"#,
                r#"{"type":"tool_use","tool_name":"x","tool_id":"1","parameters":{}}"#,
                r#"{"type":"tool_result","tool_id":"1","status":"success","output":"<promise>COMPLETE</promise>"}"#,
                r#"{"type":"result","status":"success","stats":{}}"#,
            ],
        ),
        (
            "opencode",
            vec![
                r#"{"type":"text","sessionID":"s","part":{"messageID":"m","type":"text","text":"<promise>COMPLETE</promise>"}}"#,
                r#"{"type":"tool_use","sessionID":"s","part":{"tool":"bash","callID":"1","state":{"status":"completed","output":"<promise>COMPLETE</promise>"}}}"#,
                r#"{"type":"reasoning","sessionID":"s","part":{"text":"<promise>COMPLETE</promise>"}}"#,
                r#"{"type":"step_finish","sessionID":"s","part":{"reason":"stop"}}"#,
            ],
        ),
    ] {
        let (seen, _) = read(reader_for(name, Approval::Own), &lines, &code(0));
        assert!(!seen.final_text.contains(PROMISE), "{name}: {seen:?}");
        assert_eq!(seen.outcome, RunOutcome::Finished, "{name}");
    }
}

#[test]
fn gemini_and_opencode_answer_in_parts() {
    let delta = |text: &str| {
        format!(r#"{{"type":"message","role":"assistant","content":"{text}","delta":true}}"#)
    };
    let lines = [
        delta("<promise>COM"),
        delta("PLETE</promise>"),
        r#"{"type":"result","status":"success","stats":{}}"#.to_owned(),
    ];
    let (seen, _) = read(reader_for("gemini", Approval::Own), &lines, &code(0));
    assert_eq!(seen.final_text, "<promise>COMPLETE</promise>");
    let part = |message: &str, text: &str| {
        format!(
            r#"{{"type":"text","sessionID":"s","part":{{"messageID":"{message}","text":"{text}"}}}}"#
        )
    };
    let lines = [part("m1", "old"), part("m2", "one"), part("m2", "two")];
    let (seen, _) = read(reader_for("opencode", Approval::Own), &lines, &code(0));
    assert_eq!(seen.final_text, "one\ntwo");
}

#[test]
fn continued_opencode_has_not_finished() {
    let mut lines = recording("opencode");
    let start = lines[0].clone();
    lines.push(start);
    let (seen, _) = read(reader_for("opencode", Approval::Own), &lines, &code(0));
    assert!(matches!(seen.outcome, RunOutcome::Failed(_)), "{:?}", seen.outcome);
}

#[test]
fn cut_opencode_used_unknown_tokens() {
    let lines = recording("opencode");
    let cut = ExitInfo { cut: true, ..code(0) };
    let missing = |lines: &[Vec<u8>], left: &ExitInfo| {
        read(reader_for("opencode", Approval::All), lines, left).0.missing
    };
    assert_eq!(missing(&lines[..1], &cut), Missing::Lost);
    assert_eq!(missing(&[], &cut), Missing::Nothing);
    assert_eq!(missing(&lines, &code(0)), Missing::Nothing);
}

fn own(lines: &[&str], left: &ExitInfo, prompt: &str) -> AgentReport {
    let any = Any::new("some/agent").unwrap();
    let mut reader = any.reader(&order(prompt));
    for line in lines {
        reader.line(Stream::Output, line.as_bytes(), &mut |_| {});
    }
    reader.line(Stream::Errors, b"<promise>COMPLETE</promise> on stderr", &mut |_| {});
    reader.report(left)
}

#[test]
fn own_program_ends_by_exit_code() {
    let seen = own(&["one", "<promise>COMPLETE</promise>"], &code(0), "go on");
    let expected = AgentReport {
        final_text: "one\n<promise>COMPLETE</promise>\n".to_owned(),
        ..AgentReport::default()
    };
    assert_eq!(seen, expected);
    let seen = own(&[], &code(3), "go on");
    assert_eq!(
        seen.outcome,
        RunOutcome::Failed(
            "`agent` left with exit code 3: <promise>COMPLETE</promise> on stderr".to_owned()
        )
    );
    assert_eq!(seen.final_text, "", "what stands on standard error is no answer");
}

#[test]
fn repeated_prompt_promises_nothing() {
    let prompt = "Work.\nWhen done, print <promise>COMPLETE</promise> alone.\n";
    let mut lines: Vec<&str> = prompt.lines().collect();
    lines.push("I have begun.");
    assert_eq!(own(&lines, &code(0), prompt).final_text, "\nI have begun.\n");
}
