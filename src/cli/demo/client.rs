//! The same play with the real Claude Code, answered by a scripted model on this machine.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::script::{self, Step};
use super::show::{Speaker, say, why};
use crate::cli::surroundings::Surroundings;
use crate::plugin::client::find_program;
use crate::plugin::{self, Programs};
use crate::rehearsal::{Client, Heard, Reply, ScriptedModel, heard};

/// Plays the script through `program`; an error when it cannot be started or ends badly.
pub fn play(folder: &Path, program: &Path, programs: &Programs) -> Result<()> {
    let program = located(program)?;
    let scratch = tempfile::tempdir().context("no temporary folder can be made")?;
    let plugin = scratch.path().join("plugin");
    plugin::assemble(&plugin, programs)?;
    let model = ScriptedModel::playing(replies(folder)).context("the model cannot be started")?;
    let client = Client::new(&program, folder, &model.url())?.plugin(&plugin);
    say(Speaker::Person, "/speckit:implement");
    let run = client.run_watched("/speckit:implement", &mut |line| {
        for heard in heard(line) {
            show(&heard);
        }
    })?;
    if !run.is_success() {
        bail!("Claude Code ended badly:\n{}", run.describe());
    }
    Ok(())
}

fn located(program: &Path) -> Result<PathBuf> {
    if program.components().count() > 1 {
        return program
            .canonicalize()
            .with_context(|| format!("cannot find `{}`", program.display()));
    }
    let path = Surroundings::of_this_process()?.path;
    find_program(&program.to_string_lossy(), &path).with_context(|| {
        format!(
            "`{}` is not on the PATH\ninstall Claude Code, or name it: spool demo --claude PATH",
            program.display()
        )
    })
}

fn show(heard: &Heard) {
    match heard {
        Heard::Says(text) => say(Speaker::Agent, text),
        Heard::Calls { name, input } => {
            let what = input["description"].as_str().unwrap_or_default();
            say(Speaker::Agent, &format!("{name}: {what}"));
        }
        Heard::Feedback(reason) => {
            say(Speaker::Hook, &why(reason));
        }
        Heard::Notice(text) => say(Speaker::Hook, text),
        Heard::ToolAnswers(_) | Heard::Ends(_) | Heard::InSubagent(_) => {}
    }
}

/// One reply with all its tool calls a turn, then the words with which the agent wants to stop.
fn replies(folder: &Path) -> Vec<Reply> {
    let mut replies = Vec::new();
    for turn in &script::TURNS {
        for step in turn.steps {
            let (command, description) = match step {
                Step::Write(name, text) => (
                    format!(
                        "cat >'{}/{name}' <<'END_OF_FILE'\n{text}END_OF_FILE",
                        folder.display()
                    ),
                    format!("write {name}"),
                ),
                Step::Run(command) => {
                    (format!("cd '{}' && {command}", folder.display()), format!("run {command}"))
                }
                Step::Tick(id) => (
                    format!(
                        "cd '{}/{}' && sed 's/- \\[ \\] {id} /- [x] {id} /' tasks.md >tasks.new && mv tasks.new tasks.md",
                        folder.display(),
                        script::FEATURE
                    ),
                    format!("tick {id}"),
                ),
            };
            let input = json!({"command": command, "description": description});
            replies.push(Reply::tool("Bash", input));
        }
        replies.push(Reply::text(turn.words));
    }
    replies
}
