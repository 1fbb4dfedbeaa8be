//! The JSON that Claude Code hands a hook on standard input.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::client::takes_context;
use super::commands;
use super::transcript::ClaudeTranscript;
use crate::engine::fields::read_fields;
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

/// A hook event; fields that are missing or of another type are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaudeEvent {
    hook_event_name: Value,
    session_id: Value,
    transcript_path: Value,
    cwd: Value,
    pub last_assistant_message: Value,
    /// This turn continues only because a Stop hook blocked its end.
    pub stop_hook_active: Value,
    /// The subagent that sends the event; empty for the main thread.
    pub agent_id: Value,
    background_tasks: Value,
    /// As in `speckit:implement`.
    pub command_name: Value,
    /// The unchanged text behind the command.
    pub command_args: Value,
    command_source: Value,
    permission_mode: Value,
    tool_name: Value,
    tool_input: Value,
    source: Value,
    error: Value,
}

read_fields! { ClaudeEvent {
    hook_event_name, session_id, transcript_path, cwd, last_assistant_message, stop_hook_active,
    agent_id, background_tasks, command_name, command_args, command_source, permission_mode,
    tool_name, tool_input, source, error,
} }

impl ClaudeEvent {
    /// `None` for anything but a JSON object.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        read_json(bytes)
    }

    fn session(&self) -> &str {
        let named = text(&self.session_id);
        if !named.is_empty() {
            return named;
        }
        // An older client names the session only in the transcript's file name.
        let name = Path::new(text(&self.transcript_path)).file_name().and_then(OsStr::to_str);
        name.unwrap_or_default().strip_suffix(".jsonl").unwrap_or_default()
    }

    fn kind(&mut self) -> EventKind {
        match (text(&self.hook_event_name), text(&self.source)) {
            ("" | STOP, _) => EventKind::Stop,
            (COMMAND, _) => {
                match commands::ours(text(&self.command_name), text(&self.command_source)) {
                    Some(name) => EventKind::Command {
                        name: name.to_owned(),
                        arguments: taken(&mut self.command_args),
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
                class: Some(taken(&mut self.error))
                    .filter(|class| class != "unknown")
                    .unwrap_or_default(),
            },
            _ => EventKind::Other,
        }
    }

    /// As in `Bash(cargo test)`.
    fn wanted(&self) -> String {
        let mut names = ["command", "file_path", "url", "plan"].iter();
        let input = names.find_map(|name| self.tool_input.get(name)?.as_str());
        let tool = title(text(&self.tool_name), 60);
        match input {
            Some(input) => [&tool, "(", &title(input, 100), ")"].concat(),
            None => tool,
        }
    }

    /// What the host asks the person about in this mode.
    fn asks(&self) -> &'static str {
        match text(&self.permission_mode) {
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
        let words = |task: &Value| {
            format!("{} {}", text(&task["type"]), text(&task["description"])).trim_end().to_owned()
        };
        self.background_tasks.as_array().into_iter().flatten().filter(wakes).map(words).collect()
    }
}

fn text(field: &Value) -> &str {
    field.as_str().unwrap_or_default()
}

fn taken(field: &mut Value) -> String {
    match field.take() {
        Value::String(text) => text,
        _ => String::new(),
    }
}

impl From<ClaudeEvent> for HookEvent {
    fn from(mut event: ClaudeEvent) -> Self {
        let absolute =
            |path: &mut Value| Some(PathBuf::from(taken(path))).filter(|path| path.is_absolute());
        Self {
            kind: event.kind(),
            host: NAME,
            session: event.session().to_owned(),
            asks: event.asks(),
            background: event.background(),
            cwd: absolute(&mut event.cwd),
            started_in: world::folder(STARTED_IN),
            transcript: absolute(&mut event.transcript_path)
                .map(|path| -> Box<dyn Transcript> { Box::new(ClaudeTranscript::at(path)) }),
            last_message: taken(&mut event.last_assistant_message),
            reentered: event.stop_hook_active == Value::Bool(true),
            in_subagent: !text(&event.agent_id).is_empty(),
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
        let fields = [&event.cwd, &event.error, &event.source, &event.tool_name];
        assert_eq!(fields.map(text), [""; 4]);
        assert_eq!(text(&event.agent_id), "b");
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
        assert_eq!(background(r#"[{"type": "monitor"}]"#), ["monitor"]);
        assert!(background(r#"{"type": "subagent"}"#).is_empty());
    }
}
