//! The embedded scripted agent of `spool ralph --harness demo`, and the throw-away project it works on.
//!
//! The agent is this program started again. It speaks Claude Code's stream, so that what a person sees
//! is the runner's real work: real files, a real reader, real verdicts.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::claude::{self, ClaudeStream};
use super::stream::StreamReader;
use super::{
    AgentEvent, AgentOrder, AgentReport, ExitInfo, Harness, Input, Launch, OutputReader, SoFar,
    Stream, environment,
};
use crate::runner::script::{self, ScriptStep};
use crate::world;

/// The first argument of this program when it is to be the agent.
const ARGUMENT: &str = "__demo-agent";
/// The change that the agent works on.
pub const CHANGE: &str = "001-01_greeting";
/// The time between two steps, for a person to follow.
const PACE: Duration = Duration::from_millis(150);
/// The most of a prompt that is read, in bytes.
const PROMPT: u64 = 4 << 20;

const PROPOSAL: &str = include_str!("demo/proposal.md");

const TASKS: &str = include_str!("demo/tasks.md");

const BY_NAME: &str = include_str!("demo/greet.sh");
const WITH_HELP: &str = include_str!("demo/greet-help.sh");
const TEST: &str = include_str!("demo/test.sh");

/// The embedded scripted agent.
#[derive(Clone, Copy, Debug)]
pub struct Demo;

impl Harness for Demo {
    fn name(&self) -> &'static str {
        "demo"
    }

    fn program(&self) -> Option<&Path> {
        None
    }

    fn check(&self) -> Result<Option<String>> {
        world::program().context("the running program cannot be found")?;
        Ok(Some(env!("CARGO_PKG_VERSION").to_owned()))
    }

    fn launch(&self, order: &AgentOrder<'_>) -> Result<Launch> {
        let program = world::program().context("the running program cannot be found")?;
        Ok(Launch {
            program,
            arguments: vec![ARGUMENT.into(), PACE.as_millis().to_string().into()],
            unset: environment::scrubbed(),
            input: Input::Text(order.prompt.as_bytes().to_vec()),
            ..Launch::default()
        })
    }

    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader> {
        Box::new(DemoReader(claude::reader(order)))
    }
}

/// Claude Code's reader; the agent has no session to continue with.
#[derive(Debug)]
struct DemoReader(StreamReader<ClaudeStream>);

impl OutputReader for DemoReader {
    fn line(&mut self, stream: Stream, line: &[u8], heard: &mut dyn FnMut(AgentEvent)) {
        self.0.line(stream, line, heard);
    }

    fn so_far(&self) -> SoFar<'_> {
        self.0.so_far()
    }

    fn report(&mut self, left: &ExitInfo) -> AgentReport {
        AgentReport { session: None, ..self.0.report(left) }
    }
}

/// Makes the throw-away project in `folder`, under git where git is there.
pub fn project(folder: &Path) -> Result<()> {
    for (name, text) in [("proposal.md", PROPOSAL), ("tasks.md", TASKS)] {
        script::write(folder, &format!(".spool/changes/{CHANGE}/{name}"), text)?;
    }
    script::begin_history(folder, ".spool/changes", "The change and its tasks");
    Ok(())
}

/// Plays one run of the agent when these arguments ask for it, and returns its exit code; `None`
/// when they are a person's.
pub fn play_if_asked(arguments: impl Iterator<Item = std::ffi::OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.skip(1);
    if arguments.next()? != OsStr::new(ARGUMENT) {
        return None;
    }
    let pace = arguments.next().and_then(|pace| pace.to_str()?.parse().ok()).unwrap_or(0);
    let played = play(Duration::from_millis(pace.min(10_000)));
    Some(match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error:#}");
            ExitCode::FAILURE
        }
    })
}

/// What the agent does in one run, by the number of tasks that are done.
struct DemoTurn {
    says: &'static str,
    steps: &'static [ScriptStep],
    finally: &'static str,
    claims: bool,
}

use ScriptStep::{Run, Tick, Write as Put};

const TURNS: [(usize, DemoTurn); 3] = [
    (
        0,
        DemoTurn {
            says: "I begin with the program itself.",
            steps: &[Put("greet.sh", BY_NAME), Run("sh greet.sh Ada"), Tick("1.1"), Tick("1.2")],
            finally: "It greets, by name too. The rest comes next.",
            claims: false,
        },
    ),
    (
        2,
        DemoTurn {
            says: "Now the help text.",
            steps: &[Put("greet.sh", WITH_HELP), Tick("2.1")],
            // Too early: nothing checks the program yet, and a box is open.
            finally: "That is all of it, I think.",
            claims: true,
        },
    ),
    (
        3,
        DemoTurn {
            says: "The checks are still missing.",
            steps: &[Put("test.sh", TEST), Run("sh test.sh"), Tick("2.2")],
            finally: "Every task is done and checked.",
            claims: true,
        },
    ),
];

const AFTERWARDS: DemoTurn =
    DemoTurn { says: "", steps: &[], finally: "Nothing is left to do.", claims: true };

fn play(pace: Duration) -> Result<()> {
    let mut prompt = Vec::new();
    io::stdin().take(PROMPT).read_to_end(&mut prompt).context("cannot read the prompt")?;
    let prompt = String::from_utf8_lossy(&prompt).into_owned();
    let folder = std::env::current_dir().context("the current folder cannot be read")?;
    DemoProgram::new(&folder, pace, &mut io::stdout()).run(&prompt)
}

struct DemoProgram<'a> {
    folder: PathBuf,
    tasks: PathBuf,
    pace: Duration,
    out: &'a mut dyn Write,
    spoken: usize,
    calls: usize,
}

impl<'a> DemoProgram<'a> {
    fn new(folder: &Path, pace: Duration, out: &'a mut dyn Write) -> Self {
        Self {
            tasks: folder.join(".spool").join("changes").join(CHANGE).join("tasks.md"),
            folder: folder.to_owned(),
            pace,
            out,
            spoken: 0,
            calls: 0,
        }
    }

    fn run(&mut self, prompt: &str) -> Result<()> {
        let session =
            json!({"type": "system", "subtype": "init", "session_id": "demo", "model": "scripted"});
        self.print(&session)?;
        // No other project is touched, no matter who starts this.
        let Ok((_, list)) = script::task_list(&self.tasks) else {
            bail!(
                "the demo's agent works on the demo's own project only, and `{}` is not there",
                self.tasks.display()
            );
        };
        let done = list.tasks.iter().filter(|task| task.done).count();
        let turn = TURNS.iter().rfind(|(from, _)| *from <= done);
        let turn = match turn {
            Some((_, turn)) if done < 4 => turn,
            _ => &AFTERWARDS,
        };
        if !turn.says.is_empty() {
            self.say(turn.says)?;
        }
        for step in turn.steps {
            self.act(step)?;
        }
        if !turn.steps.is_empty() {
            self.commit()?;
        }
        let farewell = match promise(prompt) {
            Some(promise) if turn.claims => format!("{}\n{promise}", turn.finally),
            _ => turn.finally.to_owned(),
        };
        self.say(&farewell)?;
        // No model has counted anything: four letters are taken for a token.
        let usage = json!({"input_tokens": prompt.len() / 4, "output_tokens": self.spoken / 4});
        self.print(&json!({
            "type": "result", "subtype": "success", "is_error": false, "result": farewell,
            "session_id": "demo", "num_turns": self.calls + 1, "usage": usage,
        }))
    }

    fn act(&mut self, step: &ScriptStep) -> Result<()> {
        let input = match step {
            ScriptStep::Write(name, _) => json!({"file_path": name}),
            ScriptStep::Run(command) => json!({"command": command}),
            ScriptStep::Tick(id) => json!({"file_path": format!("tasks.md: {id}")}),
        };
        self.call(step.tool(), &input)?;
        let printed = step.play(&self.folder, &self.tasks)?;
        self.answer(match step {
            ScriptStep::Write(..) => "written",
            ScriptStep::Run(_) => &printed,
            ScriptStep::Tick(_) => "ticked",
        })
    }

    /// Commits what this run has changed, and nothing else, where the project is under git.
    fn commit(&mut self) -> Result<()> {
        if !self.folder.join(".git").exists() {
            return Ok(());
        }
        let tasks = format!(".spool/changes/{CHANGE}/tasks.md");
        let files: Vec<&str> = ["greet.sh", "test.sh", &tasks]
            .into_iter()
            .filter(|file| self.folder.join(file).exists())
            .collect();
        self.call("Bash", &json!({"command": "git commit"}))?;
        let added = script::git(&self.folder, &[&["add", "--"][..], &files].concat());
        let commit =
            [&["commit", "-q", "-m", "One step of the greeting", "--"][..], &files].concat();
        let committed = added && script::git(&self.folder, &commit);
        self.answer(if committed { "committed" } else { "git did not commit" })
    }

    fn say(&mut self, text: &str) -> Result<()> {
        world::pause(self.pace);
        self.spoken += text.len();
        self.assistant(&json!({"type": "text", "text": text}))
    }

    fn call(&mut self, tool: &str, input: &Value) -> Result<()> {
        world::pause(self.pace);
        self.calls += 1;
        self.spoken += input.to_string().len();
        let id = format!("toolu_{}", self.calls);
        self.assistant(&json!({"type": "tool_use", "id": id, "name": tool, "input": input}))
    }

    fn assistant(&mut self, block: &Value) -> Result<()> {
        self.print(&json!({
            "type": "assistant", "session_id": "demo", "parent_tool_use_id": null,
            "message": {"role": "assistant", "model": "scripted", "content": [block]},
        }))
    }

    fn answer(&mut self, text: &str) -> Result<()> {
        let id = format!("toolu_{}", self.calls);
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
        let line = json!({"type": "user", "message": {"role": "user", "content": [block]}});
        self.print(&line)
    }

    fn print(&mut self, line: &Value) -> Result<()> {
        writeln!(self.out, "{line}").and_then(|()| self.out.flush()).context("nobody listens")
    }
}

/// The promise that the prompt asks for, with its tags.
fn promise(prompt: &str) -> Option<&str> {
    const END: &str = "</promise>";
    let from = prompt.find("<promise>")?;
    let length = prompt[from..].find(END)? + END.len();
    Some(&prompt[from..from + length])
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;
    use crate::engine::tasks::TaskList;
    use crate::runner::harness::{Approval, RunOutcome};

    const PROMISE: &str = "<promise>COMPLETE</promise>";

    /// One run of the agent as the runner's own reader sees it.
    fn run(folder: &Path) -> AgentReport {
        let prompt = format!("Work. At the end print {PROMISE}.");
        let mut printed = Vec::new();
        DemoProgram::new(folder, Duration::ZERO, &mut printed).run(&prompt).unwrap();
        let order = AgentOrder {
            prompt: &prompt,
            model: None,
            version: "",
            approval: Approval::Own,
            permissions: &crate::runner::harness::permissions::NONE,
            resume: None,
            folder,
            scratch: folder,
        };
        let mut reader = Demo.reader(&order);
        for line in printed.split(|byte| *byte == b'\n') {
            reader.line(Stream::Output, line, &mut |_| {});
        }
        reader.report(&ExitInfo { code: Some(0), ..ExitInfo::default() })
    }

    fn open_tasks(folder: &Path) -> Vec<String> {
        let file = folder.join(".spool/changes").join(CHANGE).join("tasks.md");
        let list = TaskList::parse(&fs::read(file).unwrap());
        list.tasks.iter().filter(|task| !task.done).map(|task| task.id.clone()).collect()
    }

    #[test]
    fn the_demo_claims_too_early_once_and_is_done_in_the_third_run() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        project(folder).unwrap();
        assert_eq!(open_tasks(folder), ["1.1", "1.2", "2.1", "2.2"]);
        for (claims, open) in [
            (false, &["2.1", "2.2"][..]),
            (true, &["2.2"]),
            (true, &[]),
            // A second start says that nothing is left.
            (true, &[]),
        ] {
            let seen = run(folder);
            assert_eq!(seen.outcome, RunOutcome::Finished);
            assert_eq!(seen.final_text.contains(PROMISE), claims, "{}", seen.final_text);
            assert_eq!(open_tasks(folder), open);
        }
        let greeting = Command::new("sh").args(["greet.sh", "Ada"]).current_dir(folder).output();
        assert_eq!(String::from_utf8_lossy(&greeting.unwrap().stdout), "Hello, Ada!\n");
        if folder.join(".git").exists() {
            let log = Command::new("git").args(["log", "--oneline"]).current_dir(folder).output();
            let log = String::from_utf8_lossy(&log.unwrap().stdout).into_owned();
            assert_eq!(log.lines().count(), 4, "{log}");
        }
    }

    #[test]
    fn the_demos_agent_touches_no_other_project() {
        let folder = tempfile::tempdir().unwrap();
        let mut printed = Vec::new();
        let error =
            DemoProgram::new(folder.path(), Duration::ZERO, &mut printed).run("go").unwrap_err();
        assert!(error.to_string().starts_with("the demo's agent works on"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_agent_promises_what_its_prompt_asks_for() {
        assert_eq!(promise("say <promise>DONE</promise> then"), Some("<promise>DONE</promise>"));
        assert_eq!(promise("no </promise> here <promise>"), None);
    }

    #[test]
    fn a_persons_arguments_are_not_taken_for_the_agents() {
        for words in [&["spool"][..], &["spool", "ralph"], &["spool", "ralph", ARGUMENT]] {
            let arguments = words.iter().map(std::ffi::OsString::from);
            assert!(play_if_asked(arguments).is_none(), "{words:?}");
        }
    }
}
