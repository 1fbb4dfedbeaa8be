//! Prompts that nobody typed: Claude Code enters prompts that its agent, or a file of the project, has scheduled.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::tail::TranscriptTail;
use crate::hosts::json::read_json;
use crate::store::read::{Problem, read};

/// The client's name for the line of an entered prompt.
const FIRES: &str = "scheduled_task_fire";

/// The longest transcript that is searched for scheduling, in bytes.
const MOST: u64 = 4 << 20;

/// A tool call may have scheduled a prompt. A schedule from before `/clear` may still hold, and a transcript over 4 MiB
/// is not searched.
pub fn may_be_made(path: &Path) -> bool {
    let has = |bytes: &[u8], what: &[u8]| memchr::memmem::find(bytes, what).is_some();
    match read(path, MOST) {
        Ok(found) => has(&found.bytes, b"\"tool_use\"") || has(&found.bytes, b"/clear"),
        Err(problem) => problem != Problem::Missing,
    }
}

/// A scheduled prompt was entered, and no other prompt began a turn after it.
pub fn is_entered(path: &Path) -> bool {
    let Some(tail) = TranscriptTail::read(path, 0) else { return false };
    let mut is_entered = false;
    for line in tail.lines_with(br#""type":""#) {
        let fires = memchr::memmem::find(line, FIRES.as_bytes()).is_some();
        // Only such a line sets the answer, and only a prompt resets it. Other lines are not parsed.
        if !fires && !is_entered {
            continue;
        }
        match read_json::<EnteredLine>(line) {
            Some(line) if line.kind == "system" && line.subtype == FIRES => is_entered = true,
            Some(line) if line.is_prompt() => is_entered = false,
            _ => {}
        }
    }
    is_entered
}

/// The fields that tell who entered a prompt.
#[derive(Deserialize)]
struct EnteredLine {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    subtype: String,
    #[serde(rename = "isSidechain", default)]
    is_aside: bool,
    #[serde(default)]
    message: Value,
}

impl EnteredLine {
    /// Neither a tool's result nor a hook's answer.
    fn is_prompt(&self) -> bool {
        let content = &self.message["content"];
        let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
        let is_result = blocks.iter().any(|block| block["type"] == "tool_result");
        let first = content.as_str().or_else(|| blocks.first()?["text"].as_str());
        let is_hook = first.is_some_and(|text| text.starts_with("Stop hook feedback"));
        self.kind == "user" && !self.is_aside && !is_result && !is_hook
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Claude Code 2.1.143 and 2.1.330 write it.
    const FIRE: &str = r#"{"parentUuid":"0","isSidechain":false,"type":"system","subtype":"scheduled_task_fire","content":"Running scheduled task (Nov 23 6:05am)","isMeta":false}"#;
    const PROMPT: &str = r#"{"type":"user","isSidechain":false,"message":{"role":"user","content":"<command-name>/speckit-implement</command-name>"}}"#;
    const RESULT: &str = r#"{"type":"user","isSidechain":false,"message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"scheduled_task_fire"}]}}"#;
    const SAID: &str = r#"{"type":"assistant","isSidechain":false,"message":{"role":"assistant","content":[{"type":"text","text":"Done."}]}}"#;
    const SENT_BACK: &str = r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"Stop hook feedback:\nContinue"}}"#;

    fn entered(lines: &[&str]) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        is_entered(&path)
    }

    #[test]
    fn scheduled_prompt_begins_a_turn() {
        assert!(entered(&[PROMPT, SAID, FIRE]));
        assert!(!entered(&[PROMPT, SAID]));
        assert!(!entered(&[FIRE, PROMPT]));
        assert!(!entered(&[FIRE, PROMPT, RESULT, SAID]));
        assert!(entered(&[FIRE, PROMPT, SAID, FIRE]));
        // It waits for the end of the turn that is under way.
        assert!(entered(&[PROMPT, FIRE, SAID, RESULT, SENT_BACK, SAID]));
        let aside = PROMPT.replace("\"isSidechain\":false", "\"isSidechain\":true");
        assert!(entered(&[FIRE, &aside]));
    }

    #[test]
    fn nothing_is_scheduled_without_a_tool() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        assert!(!may_be_made(&path));
        let tool = SAID.replace("text", "tool_use");
        let clear = PROMPT.replace("speckit-implement", "clear");
        for (lines, may_be) in [(SAID, false), (PROMPT, false), (&*tool, true), (&*clear, true)] {
            std::fs::write(&path, lines).unwrap();
            assert_eq!(may_be_made(&path), may_be, "{lines}");
        }
        std::fs::File::create(&path).unwrap().set_len(MOST + 1).unwrap();
        assert!(may_be_made(&path), "it is too long to be read");
    }

    #[test]
    fn nobody_elses_words_enter_one() {
        let quoted = SAID.replace("Done.", &FIRE.replace('"', "\\\""));
        assert!(!entered(&[&quoted, RESULT, "scheduled_task_fire"]));
        let other = FIRE.replace("\"type\":\"system\"", "\"type\":\"assistant\"");
        assert!(!entered(&[&other, &FIRE[..90]]));
        assert!(!is_entered(Path::new("/nowhere/transcript.jsonl")));
    }
}
