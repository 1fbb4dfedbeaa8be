//! The six rules that the real programs taught, one test each.

use super::super::{AgentEvent, Approval, Ending, ExitInfo, Input, RunOutcome, Stream};
use super::{code, harness_named, order, read, reader_for, recording};

const ALL: [&str; 5] = ["claude", "codex", "copilot", "gemini", "opencode"];

/// Recordings that end well.
const GOOD: [&str; 9] = [
    "claude",
    "claude-stop-hook",
    "codex",
    "codex-stop-hook",
    "copilot",
    "copilot-agentstop-hook",
    "gemini",
    "gemini-afteragent-hook",
    "opencode",
];

#[test]
fn rule_1_prompt_goes_one_way() {
    let long = "a long prompt ".repeat(20_000);
    for name in ALL {
        for prompt in ["do it now", "-- do it", "resume", &long] {
            let launch = harness_named(name).launch(&order(prompt)).unwrap();
            let by_argument = launch.arguments.iter().any(|argument| argument == prompt);
            match launch.input {
                Input::Nothing => assert!(by_argument, "{name}: {prompt:.20} is lost"),
                Input::Text(text) | Input::Dialog(text) => {
                    assert!(!by_argument, "{name}: {prompt:.20} goes both ways");
                    assert_eq!(text, prompt.as_bytes(), "{name}");
                }
            }
        }
    }
}

#[test]
fn rule_2_exit_0_needs_an_event() {
    for name in GOOD {
        let lines = recording(name);
        for kept in 0..lines.len() {
            let (seen, _) = read(reader_for(name, Approval::Own), &lines[..kept], &code(0));
            assert!(
                matches!(seen.outcome, RunOutcome::Failed(_)),
                "{name} with {kept} of {} lines: {:?}",
                lines.len(),
                seen.outcome
            );
        }
        let (seen, _) = read(reader_for(name, Approval::Own), &lines, &code(0));
        assert_eq!(seen.outcome, RunOutcome::Finished, "{name}");
    }
}

#[test]
fn rule_2_event_needs_exit_0() {
    for name in GOOD {
        for left in [code(1), code(143), ExitInfo { signal: Some(15), ..ExitInfo::default() }] {
            let (seen, _) = read(reader_for(name, Approval::Own), &recording(name), &left);
            assert!(matches!(seen.outcome, RunOutcome::Failed(_)), "{name}: {:?}", seen.outcome);
        }
        let lingered =
            ExitInfo { signal: Some(9), lingered: true, cut: true, ..ExitInfo::default() };
        let (seen, _) = read(reader_for(name, Approval::Own), &recording(name), &lingered);
        assert_eq!(seen.outcome, RunOutcome::Finished, "{name}: the result was there");
    }
}

#[test]
fn rule_3_signals_end_the_tools() {
    for name in ALL {
        let ending = harness_named(name).launch(&order("do it now")).unwrap().ending;
        let expected = if name == "codex" { Ending::Interrupt } else { Ending::Terminate };
        assert_eq!(ending, expected, "{name}");
    }
}

#[test]
fn rule_4_retry_ends_nothing() {
    // Only standard error of Gemini CLI tells of it, and nothing of opencode.
    let mut reader = reader_for("gemini", Approval::Own);
    let mut heard = Vec::new();
    let line = b"Attempt 1 failed with status 429. Retrying with backoff...";
    reader.line(Stream::Errors, line, &mut |event| heard.push(event));
    assert_eq!(heard, [AgentEvent::Trouble(String::from_utf8_lossy(line).into_owned())]);
    for name in ["claude-500", "codex-500", "copilot-429"] {
        let (_, heard) = read(reader_for(name, Approval::Own), &recording(name), &code(1));
        let finished = heard.iter().position(|event| *event == AgentEvent::Finished);
        assert_eq!(finished, Some(heard.len() - 1), "{name}: {heard:?}");
        assert!(
            heard.iter().filter(|event| matches!(event, AgentEvent::Trouble(_))).count() >= 3,
            "{name}"
        );
    }
}

#[test]
fn rule_5_line_type_stands_anywhere() {
    let result = br#"  {"is_error":false,"result":"fine","usage":{"input_tokens":1},"subtype":"success","type":"result"}"#;
    let (seen, heard) = read(reader_for("claude", Approval::Own), &[&result[..]], &code(0));
    assert_eq!((seen.outcome, seen.final_text.as_str()), (RunOutcome::Finished, "fine"));
    assert_eq!(heard, [AgentEvent::Finished]);
    // A prefix would have been taken in by these.
    for line in [
        r#"{"type":"user","message":{"content":"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\"}"}}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"result":"cut"#,
        r#"note: {"type":"result","subtype":"success","is_error":false,"result":"x"}"#,
    ] {
        let (seen, heard) = read(reader_for("claude", Approval::Own), &[line], &code(0));
        assert!(matches!(seen.outcome, RunOutcome::Failed(_)), "{line}: {:?}", seen.outcome);
        assert_eq!(heard, [], "{line}");
    }
}

#[test]
fn rule_6_codex_fails_by_turn() {
    let mut lines = recording("codex");
    let at = lines.len() - 1;
    for line in [
        r#"{"type":"item.completed","item":{"id":"item_8","type":"error","message":"a warning"}}"#,
        r#"{"type":"error","message":"Reconnecting... 1/5 (stream disconnected)"}"#,
    ] {
        lines.insert(at, line.into());
    }
    let (seen, heard) = read(reader_for("codex", Approval::Own), &lines, &code(0));
    assert_eq!(seen.outcome, RunOutcome::Finished);
    assert!(heard.contains(&AgentEvent::Trouble("a warning".to_owned())), "{heard:?}");
    assert_eq!(heard.iter().filter(|event| **event == AgentEvent::Finished).count(), 1);
}
