//! The JSON that Claude Code hands a hook on standard input.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::json::read_json;
use crate::world;

/// One hook event; fields that are missing or of another type are empty.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Event {
    #[serde(deserialize_with = "text")]
    hook_event_name: String,
    #[serde(deserialize_with = "text")]
    session_id: String,
    #[serde(deserialize_with = "text")]
    transcript_path: String,
    #[serde(deserialize_with = "text")]
    cwd: String,
    #[serde(deserialize_with = "text")]
    last_assistant_message: String,
    #[serde(deserialize_with = "flag")]
    stop_hook_active: bool,
    #[serde(deserialize_with = "text")]
    agent_id: String,
    background_tasks: Value,
    #[serde(deserialize_with = "text")]
    command_name: String,
    #[serde(deserialize_with = "text")]
    command_args: String,
    #[serde(deserialize_with = "text")]
    command_source: String,
    #[serde(deserialize_with = "text")]
    source: String,
    #[serde(deserialize_with = "text")]
    error: String,
}

impl Event {
    /// Returns the event in these bytes, `None` when they are no JSON object.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        read_json(bytes)
    }

    /// Returns the stop of the session that the environment names, with nothing known of it but where it is.
    pub fn stop_of_environment() -> Self {
        let text = |name: &str| world::variable(name).unwrap_or_default();
        Self {
            session_id: text("CLAUDE_CODE_SESSION_ID"),
            cwd: text("CLAUDE_PROJECT_DIR"),
            ..Self::default()
        }
    }

    /// Returns `hook_event_name`; an event without a name is a `Stop`.
    pub fn name(&self) -> &str {
        match self.hook_event_name.as_str() {
            "" => "Stop",
            name => name,
        }
    }

    /// Returns the session's id, or the one that the transcript's file name carries, or nothing.
    pub fn session(&self) -> &str {
        if !self.session_id.is_empty() {
            return &self.session_id;
        }
        let name = self.transcript_path.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".jsonl").unwrap_or_default()
    }

    /// Returns the folder the agent stands in; it drifts with its `cd`.
    pub fn cwd(&self) -> Option<PathBuf> {
        Some(PathBuf::from(&self.cwd)).filter(|path| path.is_absolute())
    }

    /// Returns the transcript's path, `None` when the event names none.
    pub fn transcript(&self) -> Option<PathBuf> {
        Some(PathBuf::from(&self.transcript_path)).filter(|path| path.is_absolute())
    }

    /// Returns the agent's final words; they are in the event before they are in the transcript.
    pub fn last_message(&self) -> &str {
        &self.last_assistant_message
    }

    /// Returns whether this turn goes on only because a Stop hook held it.
    pub fn held(&self) -> bool {
        self.stop_hook_active
    }

    /// Returns whether the event comes from inside a subagent.
    pub fn in_subagent(&self) -> bool {
        !self.agent_id.is_empty()
    }

    /// Returns what runs in the background and wakes the session when it ends.
    ///
    /// A shell does not count: a dev server runs for ever.
    pub fn background(&self) -> Vec<String> {
        let tasks = self.background_tasks.as_array();
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
        &self.command_name
    }

    /// Returns what was typed behind the command, untouched.
    pub fn arguments(&self) -> &str {
        &self.command_args
    }

    /// Returns where the command comes from, such as `plugin`, `userSettings`, `projectSettings`.
    pub fn command_source(&self) -> &str {
        &self.command_source
    }

    /// Returns why a session starts: `startup`, `resume`, `compact`, `clear`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the class of a failed turn, such as `rate_limit`.
    pub fn error(&self) -> &str {
        &self.error
    }
}

/// A text, or nothing where the field is of another type.
fn text<'de, D: Deserializer<'de>>(source: D) -> Result<String, D::Error> {
    match Value::deserialize(source)? {
        Value::String(text) => Ok(text),
        _ => Ok(String::new()),
    }
}

/// Whether the field is `true`.
fn flag<'de, D: Deserializer<'de>>(source: D) -> Result<bool, D::Error> {
    Value::deserialize(source).map(|value| value == Value::Bool(true))
}
