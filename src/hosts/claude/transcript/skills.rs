//! Commands that the agent has run itself, with the client's tool for skills.

use std::path::Path;

use super::tail::TranscriptTail;
use crate::hosts::scan::Scan;

/// Marks the answer of a call that started a command.
const STARTED: &[u8] = br#""commandName":""#;

/// The commands that the main agent started after `from`, in order, from the last MiB.
pub fn run_since(path: &Path, from: u64) -> Vec<String> {
    let Some(tail) = TranscriptTail::read(path, from) else { return Vec::new() };
    tail.lines_with(STARTED).filter_map(command_in).collect()
}

/// The command that the main agent started in this line.
fn command_in(line: &[u8]) -> Option<String> {
    let (mut is_answer, mut aside, mut started, mut command) = (false, false, false, None);
    Scan::new(line).members(|name, value| {
        match name {
            b"type" => is_answer = value.text()? == b"user",
            b"isSidechain" => aside = value.is_true()?,
            b"toolUseResult" => value.members(|name, value| {
                match name {
                    b"success" => started = value.is_true()?,
                    b"commandName" => command = std::str::from_utf8(value.text()?).ok(),
                    _ => value.skip()?,
                }
                Some(())
            })?,
            _ => value.skip()?,
        }
        Some(())
    })?;
    command.filter(|_| is_answer && started && !aside).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Claude Code 2.1.143 and 2.1.330 write it.
    const ANSWER: &str = r#"{"parentUuid":"c0a9","isSidechain":false,"promptId":"1efd","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"Launching skill: speckit-git-commit"}]},"uuid":"67d9","toolUseResult":{"success":true,"commandName":"speckit-git-commit"},"userType":"external"}"#;

    #[test]
    fn main_thread_skills_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let ran = |text: &str| {
            std::fs::write(&path, text).unwrap();
            run_since(&path, 0)
        };
        let other = ANSWER.replace("speckit-git-commit", "speckit-lint");
        let both = ["speckit-git-commit", "speckit-lint"];
        assert_eq!(ran(&format!("{ANSWER}\n{other}\n")), both);
        for other in [
            ANSWER.replace("true", "false"),
            ANSWER.replace("\"isSidechain\":false", "\"isSidechain\":true"),
            ANSWER.replace("\"type\":\"user\"", "\"type\":\"assistant\""),
            ANSWER.replace("toolUseResult", "other"),
            ANSWER.replace("{\"success\"", "\"{\\\"success\""),
            ANSWER[..ANSWER.len() - 20].to_owned(),
            r#"{"type":"user","toolUseResult":"\"commandName\":\"x\""}"#.to_owned(),
        ] {
            assert_eq!(ran(&other), [""; 0], "{other}");
        }
        std::fs::write(&path, format!("{ANSWER}\n{ANSWER}\n")).unwrap();
        assert_eq!(run_since(&path, ANSWER.len() as u64 + 1).len(), 1);
        assert_eq!(run_since(folder.path(), 0), [""; 0]);
    }
}
