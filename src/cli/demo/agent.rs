//! The embedded agent: it edits real files, and calls the real hook as Claude Code does.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::project::Scene;
use super::show::{Speaker, Stage};
use crate::exec::{Program, ProgramEnd};
use crate::plugin::programs::Programs;
use crate::runner::script::{ScriptStep, ScriptTurn, TURNS};
use crate::world;

/// The limit of one hook.
const PATIENCE: Duration = Duration::from_mins(1);
/// The longest output of a hook that is read, in bytes.
const MOST: usize = 1 << 20;
const SESSION: &str = "00000000-0000-4000-8000-00000000demo";

/// Plays the whole script. Fails when a step fails, or the hook answers out of turn.
pub fn play(scene: &Scene, stage: &Stage, programs: &Programs) -> Result<()> {
    let mut agent = HookAgent {
        scene,
        stage,
        programs,
        transcript: scene.beside.join("transcript.jsonl"),
        continued: false,
    };
    stage.say(Speaker::Person, "/speckit:implement")?;
    agent.arm()?;
    for turn in &TURNS {
        if !agent.take(turn)? {
            return Ok(());
        }
    }
    bail!("the hook sent the agent back after its last turn")
}

struct HookAgent<'a> {
    scene: &'a Scene,
    stage: &'a Stage,
    programs: &'a Programs,
    transcript: PathBuf,
    continued: bool,
}

impl HookAgent<'_> {
    fn arm(&self) -> Result<()> {
        let mut spool = Command::new(&self.programs.spool);
        spool.arg("hook");
        let command = json!({"command_name": "speckit:implement", "command_args": ""});
        let answer = self.call_hook(spool, "UserPromptExpansion", &command)?;
        let context = answer["hookSpecificOutput"]["additionalContext"].as_str();
        context.context("the hook did not arm the loop")?;
        self.show("UserPromptExpansion", &answer)
    }

    /// Plays one turn and tries to stop; returns whether the hook sent the agent back.
    fn take(&mut self, turn: &ScriptTurn) -> Result<bool> {
        let did: Vec<String> =
            turn.steps.iter().map(|step| self.act(step)).collect::<Result<_>>()?;
        if !did.is_empty() {
            self.stage.say(Speaker::Tool, &did.join(" · "))?;
        }
        self.stage.say(Speaker::Agent, turn.words)?;
        self.record(&json!({"type": "text", "text": turn.words}))?;
        let answer = self.call_hook(
            Command::new(&self.programs.ralph_hook),
            "Stop",
            &json!({
                "stop_hook_active": self.continued,
                "last_assistant_message": turn.words,
                "background_tasks": [],
            }),
        )?;
        self.continued = true;
        self.show("Stop", &answer)?;
        // The hook has two forms for this.
        let goes_back = answer["decision"] == "block"
            || answer["hookSpecificOutput"]["additionalContext"].is_string();
        Ok(goes_back)
    }

    /// Shows the part of the hook's answer that Claude Code shows to a person.
    fn show(&self, event: &str, answer: &Value) -> Result<()> {
        match answer["systemMessage"].as_str() {
            Some(words) => self.stage.say(Speaker::Hook, &format!("{event} says: {words}")),
            None => Ok(()),
        }
    }

    /// Takes one step, and says it in words.
    fn act(&self, step: &ScriptStep) -> Result<String> {
        let done = step.play(&self.scene.project)?;
        self.record(&json!({"type": "tool_use", "id": "toolu", "name": step.tool(), "input": {}}))?;
        Ok(done)
    }

    /// Appends a line in Claude Code's form.
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

    /// Starts a program as the plugin does for an event. Returns the program's answer; `Null` for silence.
    fn call_hook(&self, mut hook: Command, name: &str, event: &Value) -> Result<Value> {
        let program = hook.get_program().to_owned();
        let program = program.display();
        let mut event = event.clone();
        event["hook_event_name"] = name.into();
        event["session_id"] = SESSION.into();
        event["transcript_path"] = self.transcript.display().to_string().into();
        event["cwd"] = self.scene.project.display().to_string().into();
        hook.args(["claude", name]).current_dir(&self.scene.project);
        // The demo's loop stays apart from a person's own.
        hook.env("XDG_STATE_HOME", self.scene.beside.join("state"));
        // A runner's agent may watch the demo, but the demo's agent is not the runner's.
        hook.env_remove(world::RUNNER);
        let ran = Program::new(hook, PATIENCE)
            .input(event.to_string().as_bytes())
            .run(MOST, &mut || self.stage.cut_short().is_some())
            .with_context(|| format!("cannot start `{program}`"))?;
        match ran.end {
            ProgramEnd::Left(status) if status.success() => {}
            ProgramEnd::Left(status) => bail!("`{program}` ended with {status}"),
            ProgramEnd::OverTime => bail!("`{program}` did not end within a minute"),
            ProgramEnd::Interrupted => bail!("cut short"),
        }
        if ran.output.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&ran.output).context("the hook printed something else than JSON")
    }
}
