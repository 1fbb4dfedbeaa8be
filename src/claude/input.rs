//! The JSON that Claude Code hands a hook on standard input.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::json::read_json;

/// One hook event; fields that are missing or of another type are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    fields: Map<String, Value>,
}

impl Event {
    /// Returns the event in these bytes, `None` when they are no JSON object.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        read_json(bytes).map(|fields| Self { fields })
    }

    /// Returns `hook_event_name`; an event without a name is a `Stop`.
    pub fn name(&self) -> &str {
        match self.text("hook_event_name") {
            "" => "Stop",
            name => name,
        }
    }

    /// Returns the session's id, or the one that the transcript's file name carries, or nothing.
    pub fn session(&self) -> &str {
        let id = self.text("session_id");
        if !id.is_empty() {
            return id;
        }
        let name = self.text("transcript_path").rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".jsonl").unwrap_or_default()
    }

    /// Returns the folder the agent stands in; it drifts with its `cd`.
    pub fn cwd(&self) -> Option<PathBuf> {
        Some(PathBuf::from(self.text("cwd"))).filter(|path| path.is_absolute())
    }

    /// Returns the transcript's path, `None` when the event names none.
    pub fn transcript(&self) -> Option<PathBuf> {
        Some(PathBuf::from(self.text("transcript_path"))).filter(|path| path.is_absolute())
    }

    /// Returns the agent's final words; they are in the event before they are in the transcript.
    pub fn last_message(&self) -> &str {
        self.text("last_assistant_message")
    }

    /// Returns whether this turn goes on only because a Stop hook held it.
    pub fn held(&self) -> bool {
        self.fields.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns whether the event comes from inside a subagent.
    pub fn in_subagent(&self) -> bool {
        !self.text("agent_id").is_empty()
    }

    /// Returns what runs in the background and wakes the session when it ends.
    ///
    /// A shell does not count: a dev server runs for ever.
    pub fn background(&self) -> Vec<String> {
        let tasks = self.fields.get("background_tasks").and_then(Value::as_array);
        let text = |task: &Value, name: &str| {
            task.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        tasks
            .into_iter()
            .flatten()
            .filter(|task| {
                let kind = text(task, "type");
                matches!(
                    kind.as_str(),
                    "subagent" | "workflow" | "teammate" | "cloud session" | "MCP task"
                )
            })
            .filter(|task| {
                !matches!(text(task, "status").as_str(), "completed" | "failed" | "killed")
            })
            .map(|task| format!("{} {}", text(task, "type"), text(task, "description")))
            .collect()
    }

    /// Returns the slash command's name, such as `speckit:implement`.
    pub fn command(&self) -> &str {
        self.text("command_name")
    }

    /// Returns what was typed behind the command, untouched.
    pub fn arguments(&self) -> &str {
        self.text("command_args")
    }

    /// Returns why a session starts: `startup`, `resume`, `compact`, `clear`.
    pub fn source(&self) -> &str {
        self.text("source")
    }

    /// Returns the class of a failed turn, such as `rate_limit`.
    pub fn error(&self) -> &str {
        self.text("error")
    }

    fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}
