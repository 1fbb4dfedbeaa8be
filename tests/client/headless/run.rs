//! What was seen of one run of the real Claude Code: its output stream, its transcript, and how it ended.

use ralph_speckit::store::read;
use scripted_model::{collect_text, feedback_in};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The most that is read of one transcript, in bytes.
const MOST: u64 = 256 << 20;

/// One finished run.
#[derive(Clone, Debug, Default)]
pub struct ClientRun {
    /// The exit code, or nothing where a signal ended the client.
    pub exit_code: Option<i32>,
    /// Whether the time limit was reached and the client was killed.
    pub timed_out: bool,
    /// The lines of standard output that are JSON, in order.
    pub lines: Vec<Value>,
    /// The lines of standard output that are not JSON. There should be none.
    pub stray_lines: Vec<String>,
    /// Everything on standard error.
    pub stderr: String,
    /// The lines that this run added to the transcripts of its home, in order.
    pub transcript: Vec<Value>,
}

/// One thing that a line of the client's output tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// The agent says something.
    Says(String),
    /// The agent calls a tool.
    Calls {
        /// The tool's name.
        name: String,
        /// The tool's input.
        input: Value,
    },
    /// A tool answers.
    ToolAnswers(String),
    /// A Stop hook sends the agent back to work, with this reason.
    Feedback(String),
    /// The client shows a line to the person: a hook's `systemMessage`, a blocked command, a warning.
    Notice(String),
    /// The turn is over, with the final text.
    Ends(String),
    /// The same, told of a subagent.
    InSubagent(Box<Heard>),
}

/// The key of the client's notification that it overrode a hook. Only newer clients send it.
const BLOCK_CAP_KEY: &str = "stop-hook-block-cap";
/// The words of that notification, which is also shown as a plain line.
const BLOCK_CAP_WORDS: &str = "A hook blocked the turn from ending";

impl ClientRun {
    /// The identifier of the session, from the first line that names one.
    pub fn session_id(&self) -> Option<&str> {
        self.lines.iter().find_map(|line| line["session_id"].as_str())
    }

    /// The last `result` line. A turn that a background task starts again has more than one.
    pub fn result(&self) -> Option<&Value> {
        self.lines.iter().rfind(|line| line["type"] == "result")
    }

    /// The final text of the run; empty where there is none.
    pub fn final_text(&self) -> &str {
        self.result().and_then(|result| result["result"].as_str()).unwrap_or_default()
    }

    /// Whether the run ended well: exit code 0, in time, with a result that is no error.
    pub fn is_success(&self) -> bool {
        self.exit_code == Some(0)
            && !self.timed_out
            && self.result().is_some_and(|result| result["is_error"] == false)
    }

    /// Everything the output told, in order.
    pub fn heard(&self) -> Vec<Heard> {
        self.lines.iter().flat_map(heard).collect()
    }

    /// Every text of the agent, in order.
    pub fn texts(&self) -> Vec<String> {
        self.heard()
            .into_iter()
            .filter_map(|heard| if let Heard::Says(text) = heard { Some(text) } else { None })
            .collect()
    }

    /// The name and input of every tool call, in order.
    pub fn tool_calls(&self) -> Vec<(String, Value)> {
        let call = |heard| {
            if let Heard::Calls { name, input } = heard { Some((name, input)) } else { None }
        };
        self.heard().into_iter().filter_map(call).collect()
    }

    /// The reasons with which Stop hooks sent the agent back to work, in order: those that the output shows as
    /// blocks, or else those that the transcript has as more context, which no output shows.
    pub fn hook_feedbacks(&self) -> Vec<String> {
        let reason = |heard| {
            if let Heard::Feedback(reason) = heard { Some(reason) } else { None }
        };
        let blocks: Vec<String> = self.heard().into_iter().filter_map(reason).collect();
        if blocks.is_empty() { self.stop_contexts() } else { blocks }
    }

    /// The context that Stop hooks gave the agent to continue with, in order.
    pub fn stop_contexts(&self) -> Vec<String> {
        let attachments = self.transcript.iter().map(|line| &line["attachment"]);
        let contexts = attachments.filter(|attachment| {
            attachment["type"] == "hook_additional_context" && attachment["hookEvent"] == "Stop"
        });
        let texts = contexts.filter_map(|context| context["content"].as_array()).flatten();
        texts.filter_map(|text| text.as_str().map(str::to_owned)).collect()
    }

    /// The `systemMessage`s of one event's hooks (`Stop`, say), in order.
    ///
    /// They are read from the transcript, because 2.1.143 does not print them in its output stream.
    pub fn system_messages(&self, hook_event: &str) -> Vec<&str> {
        self.transcript
            .iter()
            .map(|line| &line["attachment"])
            .filter(|attachment| {
                attachment["type"] == "hook_system_message" && attachment["hookEvent"] == hook_event
            })
            .filter_map(|attachment| attachment["content"].as_str())
            .collect()
    }

    /// The plain lines the client showed to the person: warnings, and the reason of a hook that blocked a command.
    ///
    /// They are read from the output stream and from the transcript, because 2.1.143 writes them to the transcript only.
    pub fn notices(&self) -> Vec<String> {
        let mut notices: Vec<String> = Vec::new();
        for line in self.lines.iter().chain(&self.transcript) {
            let Some(text) = notice_in(line) else {
                continue;
            };
            if !notices.iter().any(|notice| notice == text) {
                notices.push(text.to_owned());
            }
        }
        notices
    }

    /// What shows that the client overrode a Stop hook and ended the turn itself, or nothing where it did not.
    ///
    /// Newer clients say so. 2.1.143 says nothing, but its output has one shape that no other end has: a hook's reason is
    /// followed by the result, with no answer to it.
    pub fn block_cap(&self) -> Option<String> {
        let says_so = |text: &&str| text.contains(BLOCK_CAP_WORDS);
        let notified = self
            .lines
            .iter()
            .find(|line| line["key"] == BLOCK_CAP_KEY)
            .and_then(|line| line["text"].as_str());
        let shown = self.lines.iter().chain(&self.transcript).filter_map(notice_in).find(says_so);
        if let Some(words) = notified.or(shown) {
            return Some(words.to_owned());
        }
        if self.result().is_none_or(|result| result["subtype"] != "success") {
            return None;
        }
        let mut last_reason = None;
        for heard in self.heard() {
            match heard {
                Heard::Feedback(reason) => last_reason = Some(reason),
                Heard::Notice(_) | Heard::InSubagent(_) => {}
                Heard::Ends(text) if text.is_empty() => {
                    if let Some(reason) = last_reason.take() {
                        return Some(format!("the turn ended right after a hook said: {reason}"));
                    }
                }
                _ => last_reason = None,
            }
        }
        None
    }

    /// The tool calls that the client's permission rules refused, in the client's own form.
    pub fn permission_denials(&self) -> &[Value] {
        let denials = self.result().and_then(|result| result["permission_denials"].as_array());
        denials.map_or(&[], Vec::as_slice)
    }

    /// All the facts of the run as text, for the message of a failed test.
    pub fn describe(&self) -> String {
        let mut text = format!("exit code {:?}, timed out: {}\n", self.exit_code, self.timed_out);
        for line in &self.lines {
            if line["subtype"] != "init" {
                let _ = writeln!(text, "  {line}");
            }
        }
        for line in &self.stray_lines {
            let _ = writeln!(text, "  not JSON: {line}");
        }
        let _ = write!(text, "notices: {:?}\nstderr:\n{}", self.notices(), self.stderr);
        text
    }

    /// Files one line of standard output and returns it where it is JSON.
    pub(super) fn take_line(&mut self, line: &[u8]) -> Option<&Value> {
        if let Ok(value) = serde_json::from_slice(line) {
            self.lines.push(value);
            return self.lines.last();
        }
        let text = String::from_utf8_lossy(line).trim_end().to_owned();
        if !text.is_empty() {
            self.stray_lines.push(text);
        }
        None
    }
}

/// What one line of the client's output tells, in order; most lines tell one thing, many tell nothing.
pub fn heard(line: &Value) -> Vec<Heard> {
    let told = heard_from_anyone(line);
    if line["parent_tool_use_id"].is_string() {
        return told.into_iter().map(|heard| Heard::InSubagent(Box::new(heard))).collect();
    }
    told
}

fn heard_from_anyone(line: &Value) -> Vec<Heard> {
    match line["type"].as_str() {
        Some("assistant") => blocks(line).filter_map(heard_from_agent).collect(),
        Some("user") => heard_by_agent(line),
        Some("result") => vec![Heard::Ends(line["result"].as_str().unwrap_or_default().to_owned())],
        Some("system") => {
            notice_in(line).map(|text| Heard::Notice(text.to_owned())).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn heard_from_agent(block: &Value) -> Option<Heard> {
    match block["type"].as_str()? {
        "text" => Some(Heard::Says(block["text"].as_str()?.to_owned())),
        "tool_use" => Some(Heard::Calls {
            name: block["name"].as_str()?.to_owned(),
            input: block["input"].clone(),
        }),
        _ => None,
    }
}

fn heard_by_agent(line: &Value) -> Vec<Heard> {
    let mut heard = Vec::new();
    if let Some(reason) = line["message"]["content"].as_str().and_then(feedback_in) {
        heard.push(Heard::Feedback(reason.to_owned()));
    }
    for block in blocks(line) {
        if let Some(reason) = block["text"].as_str().and_then(feedback_in) {
            heard.push(Heard::Feedback(reason.to_owned()));
        }
        if block["type"] == "tool_result" {
            let mut parts = Vec::new();
            collect_text(&block["content"], &mut parts);
            heard.push(Heard::ToolAnswers(parts.join("\n")));
        }
    }
    heard
}

fn notice_in(line: &Value) -> Option<&str> {
    if line["type"] == "system" && line["subtype"] == "informational" {
        line["content"].as_str()
    } else {
        None
    }
}

fn blocks(line: &Value) -> impl Iterator<Item = &Value> {
    line["message"]["content"].as_array().map_or(&[] as &[Value], Vec::as_slice).iter()
}

/// The length in bytes of every transcript under a configuration folder, so that a later run's part can be told apart.
pub(super) fn transcript_lengths(config: &Path) -> HashMap<PathBuf, u64> {
    let length = |path: PathBuf| fs::metadata(&path).map(|metadata| (path, metadata.len())).ok();
    transcripts(config).into_iter().filter_map(length).collect()
}

/// The lines that were added to the transcripts since their lengths were taken. Lines that are not JSON are left out.
pub(super) fn read_transcripts(config: &Path, before: &HashMap<PathBuf, u64>) -> Vec<Value> {
    let mut lines = Vec::new();
    for path in transcripts(config) {
        let start = before.get(&path).copied().unwrap_or(0);
        let Ok((mut file, _)) = read::open(&path) else {
            continue;
        };
        let mut bytes = Vec::new();
        let sought = file.seek(SeekFrom::Start(start));
        if sought.and_then(|_| file.take(MOST).read_to_end(&mut bytes)).is_err() {
            continue;
        }
        lines.extend(
            bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()),
        );
    }
    lines
}

fn transcripts(config: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        children(&config.join("projects")).iter().flat_map(|project| children(project)).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    paths
}

fn children(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run_of(lines: Vec<Value>) -> ClientRun {
        ClientRun { exit_code: Some(0), lines, ..ClientRun::default() }
    }

    fn says(text: &str) -> Value {
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}, "parent_tool_use_id": null})
    }

    fn feedback(reason: &str) -> Value {
        let text = format!("Stop hook feedback:\n{reason}");
        json!({"type": "user", "message": {"content": [{"type": "text", "text": text}]}, "isSynthetic": true})
    }

    fn ends(text: &str) -> Value {
        json!({"type": "result", "subtype": "success", "is_error": false, "result": text})
    }

    #[test]
    fn answered_reason_is_no_override() {
        let run = run_of(vec![says("one"), feedback("more"), says("two"), ends("two")]);
        assert!(run.is_success());
        assert_eq!(run.hook_feedbacks(), ["more"]);
        assert_eq!(run.block_cap(), None);
    }

    #[test]
    fn unanswered_reason_is_an_override() {
        let run = run_of(vec![says("one"), ends("one"), says("two"), feedback("more"), ends("")]);
        assert_eq!(
            run.block_cap().expect("an override"),
            "the turn ended right after a hook said: more"
        );
    }

    #[test]
    fn named_override_is_told() {
        let words = "A hook blocked the turn from ending 9 consecutive times";
        let notice = json!({"type": "system", "subtype": "informational", "content": words});
        let run = run_of(vec![says("one"), feedback("more"), notice, ends("")]);
        assert_eq!(run.block_cap().as_deref(), Some(words));
        assert_eq!(run.notices(), [words]);
    }

    #[test]
    fn subagent_words_stay_its_own() {
        let mut line = says("from below");
        line["parent_tool_use_id"] = json!("toolu_1");
        assert_eq!(
            heard(&line),
            [Heard::InSubagent(Box::new(Heard::Says("from below".to_owned())))]
        );
        assert!(run_of(vec![line]).texts().is_empty());
    }

    #[test]
    fn other_lines_stay_apart() {
        let mut run = ClientRun::default();
        assert!(run.take_line(b"{\"type\":\"result\"}\n").is_some());
        assert!(run.take_line(b"warning: \xff\n").is_none());
        assert!(run.take_line(b"\n").is_none());
        assert_eq!(run.lines.len(), 1);
        assert_eq!(run.stray_lines, ["warning: \u{fffd}"]);
    }
}
