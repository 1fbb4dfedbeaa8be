//! Where the completion signal counts, and where it does not.

use super::*;
use serde_json::{Value, json};
use tempfile::TempDir;

const SIGNAL: &str = "ALL_TASKS_COMPLETE";

/// A transcript with these bytes.
struct WrittenTranscript {
    _folder: TempDir,
    path: std::path::PathBuf,
}

fn written(bytes: impl AsRef<[u8]>) -> WrittenTranscript {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transcript.jsonl");
    std::fs::write(&path, bytes).unwrap();
    WrittenTranscript { _folder: folder, path }
}

impl WrittenTranscript {
    fn says_behind(&self, from: u64) -> bool {
        TranscriptTail::read_for_signal(&self.path, from).unwrap().says(SIGNAL)
    }
}

fn says(bytes: impl AsRef<[u8]>) -> bool {
    written(bytes).says_behind(0)
}

fn line(kind: &str, content: &Value) -> String {
    json!({"type": kind, "isSidechain": false, "message": {"role": kind, "content": content}})
        .to_string()
        + "\n"
}

fn spoken(text: &str) -> String {
    line("assistant", &json!([{"type": "text", "text": text}]))
}

#[test]
fn the_agents_own_line_counts() {
    for text in [
        SIGNAL,
        "All done.\n\nALL_TASKS_COMPLETE",
        "ALL_TASKS_COMPLETE\nThat was it.",
        "Done.\r\n \tALL_TASKS_COMPLETE \r\n",
    ] {
        assert!(says(spoken(text)), "{text:?}");
        assert!(says(line("assistant", &json!(text))), "a plain text as content: {text:?}");
    }
    let blocks = json!([{"type": "thinking", "thinking": "x"}, {"type": "text", "text": SIGNAL},
        {"type": "tool_use", "name": "Edit", "input": {}}]);
    assert!(says(line("assistant", &blocks)), "whatever stands beside it");
}

#[test]
fn nobody_elses_words_count() {
    let text = json!([{"type": "text", "text": SIGNAL}]);
    for kind in ["user", "system", "attachment", "summary", ""] {
        assert!(!says(line(kind, &text)), "{kind}");
    }
    let result = json!([{"type": "tool_result", "content": SIGNAL}]);
    assert!(!says(line("assistant", &result)), "no text of the agent's");
    let command = json!([{"type": "tool_use", "name": "Bash", "input": {"text": SIGNAL}}]);
    assert!(!says(line("assistant", &command)), "an argument is no word of its own");
    for mark in ["isSidechain", "isMeta"] {
        let mut aside: Value = serde_json::from_str(&spoken(SIGNAL)).unwrap();
        aside[mark] = true.into();
        assert!(!says(aside.to_string()), "{mark}");
    }
}

#[test]
fn words_around_it_make_it_prose() {
    for text in [
        "`ALL_TASKS_COMPLETE`",
        "ALL_TASKS_COMPLETE!",
        "not ALL_TASKS_COMPLETE",
        "all_tasks_complete",
    ] {
        assert!(!says(spoken(text)), "{text}");
        assert!(!says(format!("{text}\n")), "plain: {text}");
    }
}

#[test]
fn non_json_is_text() {
    assert!(says("ALL_TASKS_COMPLETE"));
    assert!(says("text\n  ALL_TASKS_COMPLETE\t\r\ntext\n"));
    let whole = spoken(SIGNAL);
    for end in 1..whole.len() - 2 {
        assert!(!says(&whole.as_bytes()[..end]), "{}", &whole[..end]);
    }
    assert!(!says(whole.replace("ALL_TASKS", "\u{1}ALL_TASKS")));
    assert!(!says(&whole.as_bytes()[20..]));
}

#[test]
fn broken_lines_hide_no_other_line() {
    for broken in [&b"{\"type\":\"assistant\",\"mess"[..], b"\xff\xfe", b"\0\0", b"\x1b[2J", b"]"] {
        let text = [broken, b"\n", spoken(SIGNAL).as_bytes(), broken].concat();
        assert!(says(&text), "{broken:?}");
    }
    assert!(says(spoken("ALL_TASKS_COMPLETE\ncut \u{1f600}").replace("\u{1f600}", "\\ud83d")));
}

#[test]
fn last_500_lines_are_read() {
    let filler = |count: usize| "{\"type\":\"attachment\"}\n".repeat(count);
    assert!(says(filler(700) + &spoken(SIGNAL) + &filler(499)));
    assert!(!says(filler(700) + &spoken(SIGNAL) + &filler(500)));
    assert!(says(spoken(SIGNAL) + &filler(498) + "{\"type\":"), "an unfinished line is one");
}

#[test]
fn last_20_lines_are_read() {
    let long = |count: usize| line("user", &json!("x".repeat(700_000))).repeat(count);
    assert!(says(spoken(SIGNAL) + &long(5)));
    assert!(!says(spoken(SIGNAL) + &long(7)), "more is never read");
    let short = "{\"type\":\"attachment\"}\n".repeat(20);
    assert!(!says(spoken(SIGNAL) + &long(2) + &short), "20 lines are there without it");
}

#[test]
fn earlier_lines_do_not_count() {
    let before = spoken(SIGNAL);
    let after = spoken("working");
    let transcript = written(format!("{before}{after}"));
    assert!(!transcript.says_behind(before.len() as u64));
    assert!(transcript.says_behind(0));
    let end = (before.len() + after.len()) as u64;
    assert!(!transcript.says_behind(end));
    assert!(transcript.says_behind(end + 1), "a shorter file is another one");
}

#[test]
fn non_file_has_no_tail() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(TranscriptTail::read(folder.path(), 0), None);
    assert_eq!(TranscriptTail::read(&folder.path().join("missing"), 0), None);
    assert!(!says(""));
}
