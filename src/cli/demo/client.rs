//! The same play with the real Claude Code, answered by a model on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::model::{self, ModelReply};
use super::project::Scene;
use super::script;
use super::show::{Speaker, Stage};
use crate::exec::find::find;
use crate::exec::{Program, ProgramEnd, Source};
use crate::plugin::{self, Programs};
use crate::runner::script::ScriptStep;
use crate::system::files::real_path;
use crate::world;

/// How long the client may take for the whole play.
const PATIENCE: Duration = Duration::from_mins(2);
/// The most that is kept of what the client says beside its output, in bytes.
const ERRORS: usize = 1 << 20;
/// The words with which Claude Code opens the message that carries a Stop hook's reason to the model.
const FEEDBACK: &str = "Stop hook feedback:";

/// Plays the script through `program`; an error when it cannot be started or ends badly.
pub fn play(scene: &Scene, stage: &Stage, program: &Path, programs: &Programs) -> Result<()> {
    let program = located(program)?;
    let plugin = scene.beside.join("plugin");
    plugin::assemble(&plugin, programs)?;
    let url = model::start(replies(&scene.project)).context("the model cannot be started")?;
    let home = scene.beside.join("home");
    for folder in [home.join(".claude"), home.join("tmp")] {
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make `{}`", folder.display()))?;
    }
    let mut command = command(&program, &home, &url);
    command.arg("--plugin-dir").arg(&plugin).current_dir(&scene.project);
    stage.say(Speaker::Person, "/speckit:implement")?;
    watch(command, &program, stage)
}

/// Returns the command that runs the client's one prompt, headless, with a home of its own.
fn command(program: &Path, home: &Path, url: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["-p", "/speckit:implement", "--output-format", "stream-json", "--verbose"]);
    command.arg("--dangerously-skip-permissions");
    // A person's own keys, proxies and settings have no place in a demo.
    command.env_clear();
    if let Some(path) = world::raw_variable("PATH") {
        command.env("PATH", path);
    }
    command
        .env("HOME", home)
        .env("CLAUDE_CONFIG_DIR", home.join(".claude"))
        .env("TMPDIR", home.join("tmp"))
        .env("LANG", "C.UTF-8")
        .env("TERM", "xterm-256color")
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_KEY", "demo")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("DISABLE_TELEMETRY", "1")
        // Without it the client refuses to run as root with permissions skipped.
        .env("IS_SANDBOX", "1")
        .env("CLAUDE_CODE_MAX_RETRIES", "2");
    command
}

/// Runs the client to its end and shows what it does; an error when it ends badly.
fn watch(command: Command, name: &Path, stage: &Stage) -> Result<()> {
    let (mut line, mut errors, mut result) = (Vec::new(), Vec::new(), Value::Null);
    let program = Program::new(command, PATIENCE).grace(Duration::ZERO);
    let end =
        program.stream(&mut || stage.cut_short().is_some(), &mut |source, piece| match source {
            Source::Errors => {
                let room = ERRORS - errors.len();
                errors.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            Source::Output => {
                for part in piece.split_inclusive(|byte| *byte == b'\n') {
                    line.extend_from_slice(part);
                    if line.ends_with(b"\n") {
                        let told = serde_json::from_slice(&std::mem::take(&mut line));
                        let told: Value = told.unwrap_or_default();
                        show(&told, stage);
                        if told["type"] == "result" {
                            result = told;
                        }
                    }
                }
            }
        });
    let how = match end.with_context(|| format!("cannot start `{}`", name.display()))? {
        ProgramEnd::Left(status) if status.success() && result["is_error"] == false => {
            return Ok(());
        }
        ProgramEnd::Left(status) => status.to_string(),
        ProgramEnd::OverTime => "it took more than two minutes".to_owned(),
        ProgramEnd::Interrupted => bail!("cut short"),
    };
    let errors = String::from_utf8_lossy(&errors);
    bail!("Claude Code ended badly: {how}\n{errors}its last line: {result}")
}

fn located(program: &Path) -> Result<PathBuf> {
    if program.components().count() > 1 {
        return real_path(program).with_context(|| format!("cannot find `{}`", program.display()));
    }
    find(program).with_context(|| {
        format!(
            "`{}` is not on the PATH\ninstall Claude Code, or name it: spool demo --claude PATH",
            program.display()
        )
    })
}

/// Shows what one line of the client's output says: the agent's words and calls, a hook's reasons and notices.
fn show(line: &Value, stage: &Stage) {
    // Whoever cuts the demo short ends the client, too: its watch asks for itself.
    let say = |speaker, words: &str| drop(stage.say(speaker, words));
    if line["type"] == "system" && line["subtype"] == "informational" {
        say(Speaker::Hook, line["content"].as_str().unwrap_or_default());
    }
    let content = &line["message"]["content"];
    let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    for block in blocks {
        let text = block["text"].as_str().or(block.as_str());
        match (line["type"].as_str(), text) {
            (Some("assistant"), Some(text)) => say(Speaker::Agent, text),
            (Some("assistant"), None) if block["type"] == "tool_use" => {
                let name = block["name"].as_str().unwrap_or_default();
                let what = block["input"]["description"].as_str().unwrap_or_default();
                say(Speaker::Tool, &format!("{name}: {what}"));
            }
            (Some("user"), Some(text)) => {
                if let Some(reason) = text.strip_prefix(FEEDBACK) {
                    say(Speaker::Hook, &format!("{FEEDBACK} {}", why(reason.trim_start())));
                }
            }
            _ => {}
        }
    }
}

/// Returns the lines of a text for the agent that say why it continues; the instructions are left out.
fn why(reason: &str) -> String {
    let head = reason.lines().take_while(|line| !line.starts_with("How to resume"));
    let lines = head.filter(|line| !line.is_empty() && !line.starts_with("State: "));
    lines.collect::<Vec<_>>().join("\n")
}

/// One reply with all its tool calls a turn, then the words with which the agent wants to stop.
fn replies(folder: &Path) -> Vec<ModelReply> {
    let mut replies = Vec::new();
    for turn in &script::TURNS {
        for step in turn.steps {
            let (command, description) = match step {
                ScriptStep::Write(name, text) => (
                    format!(
                        "cat >'{}/{name}' <<'END_OF_FILE'\n{text}END_OF_FILE",
                        folder.display()
                    ),
                    format!("write {name}"),
                ),
                ScriptStep::Run(command) => {
                    (format!("cd '{}' && {command}", folder.display()), format!("run {command}"))
                }
                ScriptStep::Tick(id) => (
                    format!(
                        "cd '{}/{}' && sed 's/- \\[ \\] {id} /- [x] {id} /' tasks.md >tasks.new && mv tasks.new tasks.md",
                        folder.display(),
                        script::FEATURE
                    ),
                    format!("tick {id}"),
                ),
            };
            replies.push(ModelReply::Shell { command, description });
        }
        replies.push(ModelReply::Text(turn.words.to_owned()));
    }
    replies
}
