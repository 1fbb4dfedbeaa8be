//! The JSON that Claude Code hands a hook on standard input.

use std::ffi::OsStr;
use std::fmt;
use std::mem::take;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::client::takes_context;
use super::commands;
use super::field::{BackgroundTask, EventField};
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

/// A hook event; fields that are missing or of another type are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaudeEvent {
    hook_event_name: String,
    session_id: String,
    transcript_path: String,
    cwd: String,
    pub last_assistant_message: String,
    /// This turn continues only because a Stop hook blocked its end.
    pub stop_hook_active: bool,
    /// The subagent that sends the event; empty for the main thread.
    pub agent_id: String,
    background_tasks: Vec<BackgroundTask>,
    /// As in `speckit:implement`.
    pub command_name: String,
    /// The unchanged text behind the command.
    pub command_args: String,
    command_source: String,
    permission_mode: String,
    tool_name: String,
    tool_input: Value,
    source: String,
    error: String,
}

impl<'de> Deserialize<'de> for ClaudeEvent {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_map(EventFields)
    }
}

/// Serde's derived code would be four times as long.
struct EventFields;

impl<'de> Visitor<'de> for EventFields {
    type Value = ClaudeEvent;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ClaudeEvent, A::Error> {
        let mut event = ClaudeEvent::default();
        while let Some(name) = map.next_key::<EventField>()? {
            let text = match name.into_text().as_str() {
                "hook_event_name" => &mut event.hook_event_name,
                "session_id" => &mut event.session_id,
                "transcript_path" => &mut event.transcript_path,
                "cwd" => &mut event.cwd,
                "last_assistant_message" => &mut event.last_assistant_message,
                "agent_id" => &mut event.agent_id,
                "command_name" => &mut event.command_name,
                "command_args" => &mut event.command_args,
                "command_source" => &mut event.command_source,
                "permission_mode" => &mut event.permission_mode,
                "tool_name" => &mut event.tool_name,
                "source" => &mut event.source,
                "error" => &mut event.error,
                "tool_input" => {
                    event.tool_input = map.next_value()?;
                    continue;
                }
                "stop_hook_active" => {
                    let field = map.next_value()?;
                    event.stop_hook_active = matches!(field, EventField::Flag(true));
                    continue;
                }
                "background_tasks" => {
                    event.background_tasks = map.next_value::<EventField>()?.into_tasks();
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *text = map.next_value::<EventField>()?.into_text();
        }
        Ok(event)
    }
}

impl ClaudeEvent {
    /// `None` for anything but a JSON object.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        read_json(bytes)
    }

    fn session(&self) -> &str {
        if !self.session_id.is_empty() {
            return &self.session_id;
        }
        // An older client names the session only in the transcript's file name.
        let name = Path::new(&self.transcript_path).file_name().and_then(OsStr::to_str);
        let name = name.unwrap_or_default();
        name.strip_suffix(".jsonl").unwrap_or_default()
    }

    fn kind(&mut self) -> EventKind {
        match self.hook_event_name.as_str() {
            "" | STOP => EventKind::Stop,
            COMMAND => match commands::ours(&self.command_name, &self.command_source) {
                Some(name) => EventKind::Command {
                    name: name.to_owned(),
                    arguments: take(&mut self.command_args),
                },
                None => EventKind::Other,
            },
            SESSION if matches!(self.source.as_str(), "compact" | "resume") => {
                EventKind::Resumed { taken_up: self.source == "resume" }
            }
            SESSION if self.source == "clear" => EventKind::Cleared,
            PERMISSION => EventKind::AsksPermission { what: self.wanted() },
            "StopFailure" => EventKind::TurnFailed {
                class: Some(take(&mut self.error))
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
        let tool = title(&self.tool_name, 60);
        match input {
            Some(input) => [&tool, "(", &title(input, 100), ")"].concat(),
            None => tool,
        }
    }

    /// What the host asks the person about in this mode.
    fn asks(&self) -> &'static str {
        match self.permission_mode.as_str() {
            "default" => "commands and changes of files",
            "acceptEdits" => "commands",
            "plan" => "everything but reading",
            _ => "",
        }
    }

    /// Work in the background that wakes the session at its end. A shell does not count: a dev server runs forever.
    fn background(&self) -> Vec<String> {
        let wakes = |task: &&BackgroundTask| {
            let kind = task.kind.as_str();
            matches!(
                kind,
                "subagent" | "workflow" | "teammate" | "monitor" | "cloud session" | "MCP task"
            ) && !matches!(task.status.as_str(), "completed" | "failed" | "killed")
        };
        let words = |task: &BackgroundTask| [&task.kind, " ", &task.description].concat();
        self.background_tasks.iter().filter(wakes).map(words).collect()
    }
}

impl From<ClaudeEvent> for HookEvent {
    fn from(mut event: ClaudeEvent) -> Self {
        let absolute =
            |path: &mut String| Some(PathBuf::from(take(path))).filter(|path| path.is_absolute());
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
            last_message: event.last_assistant_message,
            reentered: event.stop_hook_active,
            in_subagent: !event.agent_id.is_empty(),
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
