//! The JSON that Claude Code hands a hook on standard input.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::client::takes_context;
use super::commands;
use super::transcript::ClaudeTranscript;
use crate::hosts::event::{EventKind, HookEvent, HostName, LateEvent};
use crate::hosts::json::read_json;
use crate::hosts::transcript::Transcript;
use crate::text::title;
use crate::world;

const NAME: HostName = HostName { title: "Claude Code", oldest: "2.1.143" };
/// The agent wants to end its turn.
pub const STOP: &str = "Stop";
/// A slash command, before the agent reads it.
pub const COMMAND: &str = "UserPromptExpansion";
const PERMISSION: &str = "PermissionRequest";
/// A session starts or continues.
pub const SESSION: &str = "SessionStart";
/// The folder where the session started.
const STARTED_IN: &str = "CLAUDE_PROJECT_DIR";

/// A hook event, a JSON object; fields that are missing or of another type are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaudeEvent(pub Value);

impl ClaudeEvent {
    /// `None` for anything but a JSON object.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        read_json(bytes).filter(Value::is_object).map(Self)
    }

    fn text(&self, name: &str) -> &str {
        text(&self.0[name])
    }

    fn session(&self) -> &str {
        let named = self.text("session_id");
        if !named.is_empty() {
            return named;
        }
        // An older client names the session only in the transcript's file name.
        let name = Path::new(self.text("transcript_path")).file_name().and_then(OsStr::to_str);
        name.unwrap_or_default().strip_suffix(".jsonl").unwrap_or_default()
    }

    fn kind(&self) -> EventKind {
        match (self.text("hook_event_name"), self.text("source")) {
            ("" | STOP, _) => EventKind::Stop,
            (COMMAND, _) => {
                match commands::ours(self.text("command_name"), self.text("command_source")) {
                    Some(name) => EventKind::Command {
                        name: name.to_owned(),
                        arguments: self.text("command_args").to_owned(),
                    },
                    None => EventKind::Other,
                }
            }
            (SESSION, source @ ("compact" | "resume")) => {
                EventKind::Resumed { taken_up: source == "resume" }
            }
            (SESSION, "clear") => EventKind::Cleared,
            (PERMISSION, _) => EventKind::AsksPermission { what: self.wanted() },
            ("StopFailure", _) => EventKind::TurnFailed {
                class: match self.text("error") {
                    "unknown" => String::new(),
                    class => class.to_owned(),
                },
            },
            _ => EventKind::Other,
        }
    }

    /// As in `Bash(cargo test)`.
    fn wanted(&self) -> String {
        let mut names = ["command", "file_path", "url", "plan"].iter();
        let input = names.find_map(|name| self.0["tool_input"].get(name)?.as_str());
        let tool = title(self.text("tool_name"), 60);
        match input {
            Some(input) => [&tool, "(", &title(input, 100), ")"].concat(),
            None => tool,
        }
    }

    /// What the host asks the person about in this mode.
    fn asks(&self) -> &'static str {
        match self.text("permission_mode") {
            "default" => "commands and changes of files",
            "acceptEdits" => "commands",
            "plan" => "everything but reading",
            _ => "",
        }
    }

    /// Work in the background that wakes the session at its end. A shell does not count: a dev server runs forever.
    fn background(&self) -> Vec<String> {
        let wakes = |task: &&Value| {
            matches!(
                text(&task["type"]),
                "subagent" | "workflow" | "teammate" | "monitor" | "cloud session" | "MCP task"
            ) && !matches!(text(&task["status"]), "completed" | "failed" | "killed")
        };
        let words = |task: &Value| [text(&task["type"]), " ", text(&task["description"])].concat();
        let tasks = self.0["background_tasks"].as_array().into_iter().flatten();
        tasks.filter(wakes).map(words).collect()
    }
}

fn text(field: &Value) -> &str {
    field.as_str().unwrap_or_default()
}

impl From<ClaudeEvent> for HookEvent {
    fn from(event: ClaudeEvent) -> Self {
        let absolute =
            |name: &str| Some(PathBuf::from(event.text(name))).filter(|path| path.is_absolute());
        Self {
            kind: event.kind(),
            host: NAME,
            session: event.session().to_owned(),
            asks: event.asks(),
            background: event.background(),
            cwd: absolute("cwd"),
            started_in: world::folder(STARTED_IN),
            transcript: absolute("transcript_path")
                .map(|path| -> Box<dyn Transcript> { Box::new(ClaudeTranscript::at(path)) }),
            last_message: event.text("last_assistant_message").to_owned(),
            reentered: event.0["stop_hook_active"] == true,
            in_subagent: !event.text("agent_id").is_empty(),
            takes_context: Some(takes_context),
            ..Self::default()
        }
    }
}

/// The facts on an event that Claude Code did not deliver in time. For a stop, they come from the environment; older
/// clients name no session there.
pub fn late(event: &str) -> LateEvent {
    match event {
        STOP => {
            let started_in = world::folder(STARTED_IN);
            let session = world::variable("CLAUDE_CODE_SESSION_ID").unwrap_or_default();
            let cwd = started_in.clone();
            LateEvent::Stop(Box::new(HookEvent {
                session,
                cwd,
                started_in,
                host: NAME,
                ..HookEvent::default()
            }))
        }
        COMMAND => LateEvent::Command(NAME),
        _ => LateEvent::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_empty() {
        let event = ClaudeEvent::read(
            br#"{"cwd": 7, "error": ["text"], "source": null, "agent_id": "a", "agent_id": "b",
                "stop_hook_active": "true"}"#,
        );
        let event = event.unwrap();
        let fields = ["cwd", "error", "source", "tool_name"];
        assert_eq!(fields.map(|name| event.text(name)), [""; 4]);
        assert_eq!(event.text("agent_id"), "b");
        assert!(!HookEvent::from(event).reentered);
    }

    #[test]
    fn only_objects_run_in_the_background() {
        let background = |tasks: &str| {
            let event = format!(r#"{{"background_tasks": {tasks}}}"#);
            HookEvent::from(ClaudeEvent::read(event.as_bytes()).unwrap()).background
        };
        let tasks = r#"[null, -1, 2, 1.5, true, "type", ["type"], {}, {"more": {"type": [{}]}, "type": "subagent",
            "status": 7, "description": "first", "description": "a \"b\""}]"#;
        assert_eq!(background(tasks), ["subagent a \"b\""]);
        assert!(background(r#"{"type": "subagent"}"#).is_empty());
    }
}
