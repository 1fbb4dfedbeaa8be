//! The recordings, field by field; what is expected was worked out from the files by hand.

use super::super::codex;
use super::super::copilot::Copilot;
use super::super::{
    AgentEvent, AgentOrder, AgentReport, Approval, CallOutcome, Harness, RunOutcome, TokenUsage,
};
use super::{code, order, outcomes, read, reader_for, recording};

fn replay(name: &str, exit: i32) -> (AgentReport, Vec<AgentEvent>) {
    read(reader_for(name, Approval::Own), &recording(name), &code(exit))
}

fn tokens(input: u64, output: u64, cache_read: u64, cache_write: u64) -> TokenUsage {
    TokenUsage { input, output, cache_read, cache_write }
}

fn report(session: &str, model: Option<&str>) -> AgentReport {
    AgentReport {
        tool_calls: Some(0),
        session: Some(session.to_owned()),
        model: model.map(str::to_owned),
        ..AgentReport::default()
    }
}

const SONNET: Option<&str> = Some("claude-sonnet-4-5");
const DONE: &str = "All done: wrote proof.txt.";
const COMMAND: &str = "echo hi > proof.txt; cat proof.txt";

fn said(text: &str) -> AgentEvent {
    AgentEvent::Said(text.to_owned())
}

fn called(tool: &str, what: &str) -> AgentEvent {
    AgentEvent::Called { tool: tool.to_owned(), what: what.to_owned() }
}

fn trouble(text: &str) -> AgentEvent {
    AgentEvent::Trouble(text.to_owned())
}

#[test]
fn claude_writes_a_file() {
    let (seen, heard) = replay("claude", 0);
    let expected = AgentReport {
        final_text: DONE.to_owned(),
        tool_calls: Some(1),
        tokens: Some(tokens(200, 100, 80, 40)),
        cost: Some(2_274),
        ..report("26befd30-6e9a-467e-bd49-b244c2fc0894", SONNET)
    };
    assert_eq!(seen, expected);
    assert_eq!(
        heard,
        [said("I will write the file."), called("Bash", COMMAND), said(DONE), AgentEvent::Finished]
    );
}

#[test]
fn claude_names_denied_tools() {
    let (seen, heard) = replay("claude-denied", 0);
    let expected = AgentReport {
        final_text: DONE.to_owned(),
        tool_calls: Some(1),
        denied: vec![format!("Bash: {COMMAND}")],
        tokens: Some(tokens(200, 100, 80, 40)),
        failed_calls: 1,
        cost: Some(2_274),
        ..report("2c25be56-7f71-40a8-ad33-aa381131a3a9", SONNET)
    };
    assert_eq!(seen, expected);
    assert_eq!(heard.len(), 5, "{heard:?}");
    assert!(
        matches!(&heard[2], AgentEvent::Trouble(text) if text.starts_with("Bash was refused: Output redirection to")),
        "{heard:?}"
    );
}

#[test]
fn claude_429_is_no_usage_limit() {
    let (seen, heard) = replay("claude-429-apikey", 1);
    let expected = AgentReport {
        tokens: Some(tokens(0, 0, 0, 0)),
        outcome: RunOutcome::Failed(
            "`claude` failed: API Error: Request rejected (429) · mock error 429".to_owned(),
        ),
        status: Some(429),
        cost: Some(0),
        ..report("36eb08e8-305e-4966-bc09-bf4155c7a3ee", SONNET)
    };
    assert_eq!(seen, expected);
    assert_eq!(
        heard,
        [
            trouble("the model is asked again, 1 of 2: rate_limit (429)"),
            trouble("the model is asked again, 2 of 2: rate_limit (429)"),
            trouble("API Error: Request rejected (429) · mock error 429"),
            AgentEvent::Finished
        ]
    );
}

#[test]
fn claude_with_a_500_failed() {
    let (seen, _) = replay("claude-500", 1);
    let expected = AgentReport {
        tokens: Some(tokens(0, 0, 0, 0)),
        outcome: RunOutcome::Failed("`claude` failed: API Error: 500 mock error 500. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:35573).".to_owned()),
        status: Some(500),
        cost: Some(0),
        ..report("b15989d6-820c-41f2-ac9f-fa1db2dbb939", SONNET)
    };
    assert_eq!(seen, expected);
}

#[test]
fn claude_says_its_limit_time() {
    let (seen, heard) = replay("claude-429-oauth-limit", 1);
    let words = "You've hit your 5-hour limit · resets 12:57am (UTC)";
    let expected = AgentReport {
        tokens: Some(tokens(0, 0, 0, 0)),
        outcome: RunOutcome::UsageLimit { resets_at: Some(1_795_309_069), words: words.to_owned() },
        cost: Some(0),
        ..report("dc31624d-6fca-4064-97a7-69972de49d4b", SONNET)
    };
    assert_eq!(seen, expected);
    assert_eq!(heard, [trouble(words), AgentEvent::Finished]);
}

#[test]
fn claude_near_limit_goes_on() {
    let (seen, heard) = replay("claude-ratelimit-warning", 0);
    let expected = AgentReport {
        final_text: "hello".to_owned(),
        tokens: Some(tokens(100, 50, 40, 20)),
        cost: Some(1_137),
        near_usage_limit: true,
        ..report("8c6ae08f-45fc-47bb-abf6-d62e057cbe08", SONNET)
    };
    assert_eq!(seen, expected);
    assert_eq!(
        heard,
        [said("hello"), trouble("the usage limit is near: 95 % is used"), AgentEvent::Finished]
    );
}

#[test]
fn held_claude_ends_with_answer() {
    let (seen, _) = replay("claude-stop-hook", 0);
    let expected = AgentReport {
        final_text: "second answer".to_owned(),
        tokens: Some(tokens(200, 100, 80, 40)),
        cost: Some(2_274),
        ..report("01617863-186f-4ce7-aa38-18bca3ef6acb", SONNET)
    };
    assert_eq!(seen, expected);
}

const METADATA: &str = "Model metadata for `mock-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.";

#[test]
fn codex_writes_a_file() {
    let (seen, heard) = replay("codex", 0);
    let expected = AgentReport {
        final_text: DONE.to_owned(),
        tool_calls: Some(1),
        tokens: Some(tokens(120, 100, 80, 0)),
        ..report("01a20085-9b33-7a03-b25f-398d5274d1d9", None)
    };
    assert_eq!(seen, expected);
    assert_eq!(
        heard,
        [
            trouble(METADATA),
            said("I will write the file."),
            called("command_execution", &format!("/bin/bash -lc '{COMMAND}'")),
            said(DONE),
            AgentEvent::Finished
        ]
    );
}

#[test]
fn codex_hides_refused_commands() {
    let (seen, _) = replay("codex-sandbox-denied", 0);
    let expected = AgentReport {
        final_text: DONE.to_owned(),
        tokens: Some(tokens(120, 100, 80, 0)),
        ..report("01a20086-c1ad-7ea1-94b8-757e01e8e84c", None)
    };
    assert_eq!(seen, expected);
}

#[test]
fn held_codex_ends_with_answer() {
    let (seen, _) = replay("codex-stop-hook", 0);
    let expected = AgentReport {
        final_text: "second answer".to_owned(),
        tokens: Some(tokens(120, 100, 80, 0)),
        ..report("01a20088-2e9b-7d03-b32b-06879f8b0978", None)
    };
    assert_eq!(seen, expected);
}

#[test]
fn codex_with_a_429_failed() {
    let (seen, _) = replay("codex-429", 1);
    let expected = AgentReport {
        outcome: RunOutcome::Failed(
            "`codex` failed: exceeded retry limit, last status: 429 Too Many Requests".to_owned(),
        ),
        status: Some(429),
        ..report("01a20087-9d58-72b0-ab2e-2acdd41ba8c3", None)
    };
    assert_eq!(seen, expected);
}

#[test]
fn codex_500_failed_after_retries() {
    let (seen, heard) = replay("codex-500", 1);
    let words = "We’re currently experiencing high demand, which may cause temporary errors.";
    let expected = AgentReport {
        outcome: RunOutcome::Failed(format!("`codex` failed: {words}")),
        status: Some(503),
        ..report("01a20087-d494-7460-81ce-843e5ddfa651", None)
    };
    assert_eq!(seen, expected);
    let mut events = vec![trouble(METADATA)];
    events.extend((1..=5).map(|n| trouble(&format!("Reconnecting... {n}/5 ({words})"))));
    events.extend([trouble(words), AgentEvent::Finished]);
    assert_eq!(heard, events);
}

#[test]
fn codex_words_its_limit_time() {
    let now = "2026-11-21T23:59:00+00:00[UTC]".parse().unwrap();
    let reader = Box::new(codex::reader(&order("go on"), now));
    let (seen, _) = read(reader, &recording("codex-usage-limit"), &code(1));
    let expected = AgentReport {
        outcome: RunOutcome::UsageLimit {
            // The end of the minute 00:59 of 22 November, UTC.
            resets_at: Some(1_795_309_199),
            words: "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at Nov 22nd, 2026 12:59 AM.".to_owned(),
        },
        ..report("01a2008d-2858-7170-872a-59a0c2f3bbbc", None)
    };
    assert_eq!(seen, expected);
}

#[test]
fn resumed_codex_counts_everything() {
    let now = "2026-11-21T23:59:00+00:00[UTC]".parse().unwrap();
    let order = AgentOrder { resume: Some("s"), ..order("go on") };
    let reader = Box::new(codex::reader(&order, now));
    let (seen, _) = read(reader, &recording("codex"), &code(0));
    assert!(seen.tokens_of_session);
    assert_eq!(seen.tokens, Some(tokens(120, 100, 80, 0)));
}

const GEMINI: Option<&str> = Some("gemini-2.5-pro");

#[test]
fn gemini_writes_a_file() {
    let (seen, heard) = replay("gemini", 0);
    let expected = AgentReport {
        final_text: DONE.to_owned(),
        tool_calls: Some(1),
        tokens: Some(tokens(120, 114, 80, 0)),
        ..report("85a6480e-20c5-4f15-94fb-7be192b9b056", GEMINI)
    };
    assert_eq!(seen, expected);
    assert_eq!(
        heard,
        [
            said("I will write the file."),
            called("run_shell_command", COMMAND),
            said(DONE),
            AgentEvent::Finished
        ]
    );
}

#[test]
fn unpermitted_gemini_cannot_write() {
    let (seen, _) = replay("gemini-no-yolo", 0);
    let expected = AgentReport {
        final_text: DONE.to_owned(),
        tool_calls: Some(1),
        denied: vec![format!("run_shell_command: {COMMAND}")],
        tokens: Some(tokens(120, 114, 80, 0)),
        failed_calls: 1,
        ..report("546f018e-1c93-488c-8d12-7c397439ab86", GEMINI)
    };
    assert_eq!(seen, expected);
    // With consent, a tool that is missing is one that the model made up.
    let lines = recording("gemini-no-yolo");
    let (seen, _) = read(reader_for("gemini", Approval::All), &lines, &code(0));
    assert_eq!(seen.denied, Vec::<String>::new());
}

#[test]
fn gemini_with_a_429_failed() {
    let (seen, _) = replay("gemini-429", 173);
    let expected = AgentReport {
        tokens: Some(tokens(0, 0, 0, 0)),
        outcome: RunOutcome::Failed("`gemini` failed: [API Error: mock error 429] Please wait and try again later. To increase your limits, request a quota increase through AI Studio, or switch to another /auth method".to_owned()),
        status: Some(429),
        ..report("ff70c867-84b6-422a-b3b1-e1867757db40", GEMINI)
    };
    assert_eq!(seen, expected);
}

#[test]
fn returned_gemini_ends_with_answer() {
    let (seen, heard) = replay("gemini-afteragent-hook", 0);
    let expected = AgentReport {
        final_text: "second answer".to_owned(),
        tokens: Some(tokens(120, 114, 80, 0)),
        ..report("4d62f393-2d80-4cda-abd8-b6720dfff8b8", GEMINI)
    };
    assert_eq!(seen, expected);
    assert_eq!(
        heard,
        [
            said("first answer"),
            trouble("Agent execution blocked: HOOKREASON keep going please"),
            said("second answer"),
            AgentEvent::Finished
        ]
    );
}

const MOCK: Option<&str> = Some("mock-model");

#[test]
fn copilot_writes_a_file() {
    let (seen, heard) = replay("copilot", 0);
    let expected = AgentReport {
        final_text: DONE.to_owned(),
        tool_calls: Some(1),
        ..report("67dc979f-8921-4532-9bd0-6bc3dfdfad8b", MOCK)
    };
    assert_eq!(seen, expected);
    assert_eq!(
        heard,
        [said("I will write the file."), called("bash", COMMAND), said(DONE), AgentEvent::Finished]
    );
}

#[test]
fn copilot_names_denied_tools() {
    let (seen, heard) = replay("copilot-denied", 0);
    let expected = AgentReport {
        final_text: DONE.to_owned(),
        tool_calls: Some(1),
        denied: vec![format!("bash: {COMMAND}")],
        failed_calls: 1,
        ..report("930479c0-6e45-4c6f-917e-124c7e8fdc05", MOCK)
    };
    assert_eq!(seen, expected);
    assert_eq!(heard[2], trouble(&format!("bash was refused: {COMMAND}")));
}

#[test]
fn copilot_429_is_timeless_limit() {
    let (seen, heard) = replay("copilot-429", 1);
    let words = "Failed to get response from the AI model; retried 5 times (total retry wait time: 56.77 seconds) Last error: 429 mock error 429";
    let expected = AgentReport {
        outcome: RunOutcome::UsageLimit { resets_at: None, words: words.to_owned() },
        status: Some(429),
        ..report("540216ba-d96d-4815-9de4-98969b65ef56", None)
    };
    assert_eq!(seen, expected);
    let retry = r#"the model did not answer (429): {"message":"mock error 429","type":"rate_limit_error","code":null}"#;
    let mut events = vec![trouble(retry); 6];
    events.extend([trouble(words), AgentEvent::Finished]);
    assert_eq!(heard, events);
}

#[test]
fn returned_copilot_ends_with_answer() {
    let (seen, _) = replay("copilot-agentstop-hook", 0);
    let expected = AgentReport {
        final_text: "second answer".to_owned(),
        ..report("35a0ac34-e8be-467e-90bf-4238fb1754d2", MOCK)
    };
    assert_eq!(seen, expected);
}

#[test]
fn copilot_counts_in_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copilot-usage.json");
    let usage = r#"{"modelMetrics":{
        "one":{"usage":{"inputTokens":200,"outputTokens":100,"cacheReadTokens":80,"cacheWriteTokens":0,"reasoningTokens":14}},
        "two":{"usage":{"inputTokens":10,"outputTokens":5,"cacheReadTokens":0,"cacheWriteTokens":4}}}}"#;
    std::fs::write(&file, usage).unwrap();
    let order = AgentOrder { scratch: folder.path(), ..order("go on") };
    let (seen, _) = read(Copilot.reader(&order), &recording("copilot"), &code(0));
    assert_eq!(seen.tokens, Some(tokens(126, 105, 80, 4)));
    assert!(!seen.tokens_of_session);
    let resumed = AgentOrder { resume: Some("s"), ..order.clone() };
    assert!(read(Copilot.reader(&resumed), &recording("copilot"), &code(0)).0.tokens_of_session);
    std::fs::write(&file, "{\"modelMetrics\":{").unwrap();
    let (seen, _) = read(Copilot.reader(&order), &recording("copilot"), &code(0));
    assert_eq!(seen.tokens, None, "a file that is cut");
}

#[test]
fn opencode_writes_a_file() {
    let (seen, heard) = replay("opencode", 0);
    let expected = AgentReport {
        final_text: DONE.to_owned(),
        tool_calls: Some(1),
        tokens: Some(tokens(120, 100, 80, 0)),
        ..report("ses_dff7a7d0cffeE1aa7vUvBuwl44", None)
    };
    assert_eq!(seen, expected);
    assert_eq!(
        heard,
        [said("I will write the file."), called("bash", COMMAND), said(DONE), AgentEvent::Finished]
    );
}

#[test]
fn refused_opencode_has_not_succeeded() {
    let (seen, heard) = replay("opencode-rejected", 0);
    let expected = AgentReport {
        tool_calls: Some(1),
        denied: vec![format!("bash: {COMMAND}")],
        tokens: Some(tokens(60, 50, 40, 0)),
        outcome: RunOutcome::Failed("`opencode` ended the run because a permission was refused\nallow it in its settings, with --allow, or give --allow-all".to_owned()),
        failed_calls: 1,
        ..report("ses_dff76c47affeKF9qN5ZPSDWvGn", None)
    };
    assert_eq!(seen, expected);
    assert!(!heard.contains(&AgentEvent::Finished), "{heard:?}");
}

#[test]
fn opencode_with_a_429_failed() {
    let (seen, heard) = replay("opencode-429", 1);
    let expected = AgentReport {
        outcome: RunOutcome::Failed("`opencode` failed: mock error 429".to_owned()),
        status: Some(429),
        ..report("ses_dff784a12ffekSXhTO5EVSxLhy", None)
    };
    assert_eq!(seen, expected);
    assert_eq!(heard, [trouble("mock error 429")]);
}

#[test]
fn every_recording_is_replayed_here() {
    let here = include_str!("replay.rs");
    for name in super::recordings() {
        assert!(here.contains(&format!("(\"{name}\"")), "{name} is not replayed");
    }
}

#[test]
fn tool_call_outcomes_are_reported() {
    use CallOutcome::{Denied, Done, Failed};
    // Claude Code says of a denied call that it was denied, that it failed, and at the end again that it was denied.
    for (name, expected) in [
        ("claude", &[(0, Done)][..]),
        ("claude-denied", &[(0, Denied), (0, Failed), (0, Denied)]),
        ("codex", &[(0, Done)]),
        ("copilot", &[(0, Done)]),
        ("copilot-denied", &[(0, Denied)]),
        ("gemini", &[(0, Done)]),
        ("opencode", &[(0, Done)]),
        ("opencode-rejected", &[(0, Denied)]),
        ("gemini-no-yolo", &[(0, Denied)]),
        ("codex-sandbox-denied", &[]),
    ] {
        assert_eq!(outcomes(name, Approval::Own), expected, "{name}");
    }
    assert_eq!(outcomes("gemini-no-yolo", Approval::All), [(0, Failed)]);
}
