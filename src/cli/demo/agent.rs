//! The embedded agent: it edits real files, and calls the real hook program as Claude Code does.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::script::{self, ScriptTurn};
use super::show::{Speaker, say, why};
use crate::exec::Program;
use crate::runner::script::ScriptStep;
use crate::world;

/// How long the hook may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// The most that is read of what it prints, in bytes.
const MOST: usize = 1 << 20;
const SESSION: &str = "00000000-0000-4000-8000-00000000demo";

/// Plays the whole script; an error when a step fails or the hook answers out of turn.
pub fn play(folder: &Path, hook: &Path) -> Result<()> {
    let notes = tempfile::tempdir().context("no temporary folder can be made")?;
    let mut agent = HookAgent {
        folder: folder.to_owned(),
        hook: hook.to_owned(),
        transcript: notes.path().join("transcript.jsonl"),
        held: false,
    };
    say(Speaker::Person, "/speckit:implement");
    agent.arm()?;
    for turn in &script::TURNS {
        if !agent.take(turn)? {
            return Ok(());
        }
    }
    bail!("the hook sent the agent back after its last turn")
}

struct HookAgent {
    folder: PathBuf,
    hook: PathBuf,
    transcript: PathBuf,
    held: bool,
}

impl HookAgent {
    fn arm(&self) -> Result<()> {
        let answer = self.call_hook(&json!({
            "hook_event_name": "UserPromptExpansion",
            "command_name": "speckit:implement",
            "command_args": "",
        }))?;
        let context = answer["hookSpecificOutput"]["additionalContext"].as_str();
        say(Speaker::Hook, context.context("the hook did not arm the loop")?);
        Ok(())
    }

    /// Plays one turn and tries to stop; returns whether the hook sent the agent back.
    fn take(&mut self, turn: &ScriptTurn) -> Result<bool> {
        for step in turn.steps {
            self.act(step)?;
        }
        say(Speaker::Agent, turn.words);
        self.record(&json!({"type": "text", "text": turn.words}))?;
        let answer = self.call_hook(&json!({
            "hook_event_name": "Stop",
            "stop_hook_active": self.held,
            "last_assistant_message": turn.words,
            "background_tasks": [],
        }))?;
        self.held = true;
        if answer["decision"] == "block" {
            say(Speaker::Hook, answer["systemMessage"].as_str().unwrap_or_default());
            say(Speaker::Hook, &why(answer["reason"].as_str().unwrap_or_default()));
            return Ok(true);
        }
        let words = answer["systemMessage"].as_str();
        say(Speaker::Hook, words.unwrap_or("(silent: every box is ticked, the agent may stop)"));
        Ok(false)
    }

    fn act(&self, step: &ScriptStep) -> Result<()> {
        let tasks = self.folder.join(script::FEATURE).join("tasks.md");
        let printed = step.play(&self.folder, &tasks)?;
        let did = match step {
            ScriptStep::Write(name, _) => format!("writes {name}"),
            ScriptStep::Tick(id) => format!("ticks {id}"),
            ScriptStep::Run(command) => format!("runs `{command}`: {}", printed.trim()),
        };
        say(Speaker::Agent, &did);
        self.record(&json!({"type": "tool_use", "id": "toolu", "name": step.tool(), "input": {}}))
    }

    /// Appends to the transcript in the form that Claude Code writes.
    fn record(&self, block: &Value) -> Result<()> {
        let line = json!({
            "type": "assistant",
            "isSidechain": false,
            "sessionId": SESSION,
            "message": {"role": "assistant", "content": [block]},
        });
        let mut file = File::options().create(true).append(true).open(&self.transcript)?;
        writeln!(file, "{line}").context("cannot write the transcript")
    }

    /// Starts the hook program with an event and returns what it printed, `Null` for silence.
    fn call_hook(&self, event: &Value) -> Result<Value> {
        let mut event = event.clone();
        event["session_id"] = SESSION.into();
        event["transcript_path"] = self.transcript.display().to_string().into();
        event["cwd"] = self.folder.display().to_string().into();
        let mut hook = Command::new(&self.hook);
        // The demo may be watched by an agent that a runner has started; its own agent is another one.
        hook.env_remove(world::RUNNER).current_dir(&self.folder);
        let ran = Program::new(hook, PATIENCE)
            .input(event.to_string().as_bytes())
            .run(MOST, &mut || false)
            .with_context(|| format!("cannot start `{}`", self.hook.display()))?;
        match ran.status() {
            None => bail!("`{}` did not end within a minute", self.hook.display()),
            Some(status) if !status.success() => {
                bail!("`{}` ended with {status}", self.hook.display())
            }
            Some(_) => {}
        }
        if ran.output.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&ran.output).context("the hook printed something else than JSON")
    }
}
