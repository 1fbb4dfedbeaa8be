//! What a stream may be made of: broken bytes, cut lines, huge lines, the same line again.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::{AgentEvent, Approval, RunOutcome, Stream};
use super::{code, read, reader_for, recording, recordings};

const ALL: [&str; 5] = ["claude", "codex", "copilot", "gemini", "opencode"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_bytes_are_skipped(bytes in vec(any::<u8>(), 0..200), errors in vec(any::<u8>(), 0..200)) {
        for name in ALL {
            let mut reader = reader_for(name, Approval::Own);
            reader.line(Stream::Output, &bytes, &mut |_| {});
            reader.line(Stream::Errors, &errors, &mut |_| {});
            let report = reader.report(&code(0));
            prop_assert_eq!(report.final_text, "");
            prop_assert!(matches!(report.outcome, RunOutcome::Failed(_)));
        }
    }

    #[test]
    fn broken_recording_is_read_whole(
        which in any::<prop::sample::Index>(),
        breaks in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let names = recordings();
        let name = which.get(&names);
        let mut lines = recording(name);
        for (line, at, byte) in breaks {
            let line = line.index(lines.len());
            let at = at.index(lines[line].len().max(1));
            if let Some(place) = lines[line].get_mut(at) {
                *place = byte;
            }
        }
        let _ = read(reader_for(name, Approval::Own), &lines, &code(0));
    }

    #[test]
    fn cut_recording_is_read_so_far(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
    ) {
        let names = recordings();
        let name = which.get(&names);
        let whole = recording(name).join(&b'\n');
        let cut = at.index(whole.len());
        let lines: Vec<&[u8]> = whole[..cut].split(|byte| *byte == b'\n').collect();
        let (seen, _) = read(reader_for(name, Approval::Own), &lines, &code(0));
        prop_assert_ne!(seen.outcome, RunOutcome::Finished, "{} at {}", name, cut);
    }

    #[test]
    fn unexpected_json_is_survived(kind in 0..20usize, shape in 0..6usize) {
        let kinds = [
            "system", "assistant", "result", "rate_limit_event", "thread.started", "item.completed",
            "item.started", "turn.completed", "turn.failed", "error", "init", "message", "tool_use",
            "tool_result", "text", "step_finish", "session.error", "assistant.message",
            "tool.execution_start", "tool.execution_complete",
        ];
        let value = ["null", "1", "\"x\"", "[]", "{}", "[[{}]]"][shape];
        let fields = [
            "message", "content", "result", "usage", "item", "error", "part", "data", "stats",
            "rate_limit_info", "permission_denials", "errors", "modelUsage", "tasks", "sessionID",
        ];
        let fields: Vec<String> = fields.iter().map(|name| format!("\"{name}\":{value}")).collect();
        let line = format!("{{\"type\":\"{}\",{}}}", kinds[kind], fields.join(","));
        for name in ALL {
            let _ = read(reader_for(name, Approval::Own), &[&line], &code(0));
        }
    }
}

#[test]
fn wrong_bytes_cost_one_letter() {
    let line = b"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"a\xff\xfeb <promise>X</promise>\"}";
    let (seen, _) = read(reader_for("claude", Approval::Own), &[line], &code(0));
    assert_eq!(seen.final_text, "a\u{fffd}\u{fffd}b <promise>X</promise>");
    assert_eq!(seen.outcome, RunOutcome::Finished);
}

#[test]
fn lines_that_come_twice_count_once() {
    for name in ALL {
        let lines = recording(name);
        let twice: Vec<_> = lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
        let (once, _) = read(reader_for(name, Approval::Own), &lines, &code(0));
        let (seen, _) = read(reader_for(name, Approval::Own), &twice, &code(0));
        assert_eq!(seen.tool_calls, Some(1), "{name}");
        if matches!(name, "codex" | "gemini" | "opencode") {
            assert_eq!(seen.tokens, once.tokens, "{name}");
        }
    }
}

#[test]
fn huge_line_is_read() {
    let long = format!("{}<promise>X</promise>", "é".repeat(3 << 20));
    let line =
        format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{long}"}}"#);
    let (seen, _) = read(reader_for("claude", Approval::Own), &[line], &code(0));
    assert!(seen.final_text.len() <= 1 << 20, "{}", seen.final_text.len());
    assert!(seen.final_text.ends_with("é<promise>X</promise>"));
    // A tool's result of that size is nothing but skipped.
    let line = format!(r#"{{"type":"user","message":{{"content":"{long}"}}}}"#);
    let (seen, heard) = read(reader_for("claude", Approval::Own), &[line], &code(0));
    assert_eq!((seen.final_text.as_str(), heard.len()), ("", 0));
}

#[test]
fn million_pieces_are_kept() {
    let mut reader = reader_for("gemini", Approval::Own);
    let line = br#"{"type":"message","role":"assistant","content":"0123456789abcdef0123456789abcdef","delta":true}"#;
    for _ in 0..100_000 {
        reader.line(Stream::Output, line, &mut |_| {});
    }
    assert_eq!(reader.report(&code(0)).final_text.len(), 1 << 20);
}

#[test]
fn control_characters_stay_off_screen() {
    let line = r#"{"type":"error","sessionID":"s","error":{"name":"x","data":{"message":"\u001b[31mred\u001b[0m\u0007\nnext\u0000 line"}}}"#;
    let (seen, heard) = read(reader_for("opencode", Approval::Own), &[line], &code(1));
    assert_eq!(heard, [AgentEvent::Trouble("red next line".to_owned())]);
    assert_eq!(seen.outcome, RunOutcome::Failed("`opencode` failed: red next line".to_owned()));
    let long = format!(r#"{{"type":"turn.failed","error":{{"message":"{}"}}}}"#, "x".repeat(9_000));
    let (seen, _) = read(reader_for("codex", Approval::Own), &[long], &code(1));
    let RunOutcome::Failed(message) = seen.outcome else { panic!("{:?}", seen.outcome) };
    assert!(message.len() < 500, "{} bytes", message.len());
}

#[test]
fn lost_session_is_none() {
    for id in ["--yolo", "../x", "a b", ""] {
        let line = format!(r#"{{"type":"thread.started","thread_id":"{id}"}}"#);
        let (seen, _) = read(reader_for("codex", Approval::Own), &[line], &code(1));
        assert_eq!(seen.session, None, "{id}");
    }
}
