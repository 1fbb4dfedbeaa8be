//! The scripted agent of `spool ralph --harness demo`: this program, started again. Files and verdicts are real.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};

use super::command::CommandReader;
use super::{AgentOrder, Harness, Input, Launch, OutputReader, environment};
use crate::engine::tasks::TaskList;
use crate::feature::SIGNAL;
use crate::runner::script::{self, ScriptTurn, TURNS};
use crate::world;

/// Makes this program the agent.
const ARGUMENT: &str = "__demo-agent";
/// Time between two steps, for a person to follow.
const PACE: Duration = Duration::from_millis(150);
/// The longest prompt that is read, in bytes.
const PROMPT: u64 = 4 << 20;

#[derive(Clone, Copy, Debug)]
pub struct Demo;

impl Harness for Demo {
    fn name(&self) -> &'static str {
        "demo"
    }

    fn check(&self) -> Result<Option<String>> {
        world::program().context("the running program cannot be found")?;
        Ok(Some(env!("CARGO_PKG_VERSION").to_owned()))
    }

    fn launch(&self, order: &AgentOrder<'_>) -> Result<Launch> {
        let program = world::program().context("the running program cannot be found")?;
        Ok(Launch {
            program: program.into(),
            arguments: vec![ARGUMENT.into()],
            unset: environment::scrubbed(),
            input: Input::Text(order.prompt.as_bytes().to_vec()),
            ..Launch::default()
        })
    }

    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader> {
        Box::new(CommandReader::new(Path::new(self.name()), None, order.prompt))
    }
}

/// Plays one run if the arguments ask for the agent. `None` for a person's arguments.
pub fn play_if_asked(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.nth(1)? != OsStr::new(ARGUMENT) {
        return None;
    }
    Some(match play() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error:#}");
            ExitCode::FAILURE
        }
    })
}

fn play() -> Result<()> {
    let mut prompt = Vec::new();
    io::stdin().take(PROMPT).read_to_end(&mut prompt).context("cannot read the prompt")?;
    let folder = std::env::current_dir().context("the current folder cannot be read")?;
    run(&folder, &String::from_utf8_lossy(&prompt), PACE, &mut io::stdout())
}

/// Plays the next turns by the boxes of the list. Refuses every project but the demo's own.
fn run(folder: &Path, prompt: &str, pace: Duration, out: &mut dyn Write) -> Result<()> {
    let (_, list) = script::task_list(folder)
        .context("the demo's agent works on the demo's own project only")?;
    let claim = promise(prompt).unwrap_or(SIGNAL);
    let mut say = |words: &str| {
        world::pause(pace);
        writeln!(out, "{words}").and_then(|()| out.flush()).context("nobody listens")
    };
    let turns = next_turns(&list);
    for turn in turns {
        for step in turn.steps {
            say(&step.play(folder)?)?;
        }
        script::commit(folder, "One step of the to-do list");
        say(&turn.words.replace(SIGNAL, claim))?;
    }
    if turns.is_empty() { say(&format!("Nothing is left to do.\n{claim}")) } else { Ok(()) }
}

/// The first turn with an open box and the talk-only turns behind it, which no box tells apart.
fn next_turns(list: &TaskList) -> &'static [ScriptTurn] {
    let Some(first) = TURNS.iter().position(|turn| turn.is_open(list)) else { return &[] };
    let rest = &TURNS[first + 1..];
    let talk = rest.iter().take_while(|turn| turn.steps.is_empty()).count();
    &TURNS[first..=first + talk]
}

/// The promise in the prompt, with its tags.
fn promise(prompt: &str) -> Option<&str> {
    const END: &str = "</promise>";
    let from = prompt.find("<promise>")?;
    let length = prompt[from..].find(END)? + END.len();
    Some(&prompt[from..from + length])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const PROMISE: &str = "<promise>COMPLETE</promise>";

    fn played(folder: &Path) -> String {
        let prompt = format!("Work. At the end print {PROMISE}.");
        let mut printed = Vec::new();
        run(folder, &prompt, Duration::ZERO, &mut printed).unwrap();
        String::from_utf8(printed).unwrap()
    }

    #[test]
    fn demo_takes_three_runs() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        script::project(folder).unwrap();
        let open = || script::task_list(folder).unwrap().1.open().count();
        assert_eq!(open(), script::TASKS);
        // The second run claims too early; a fourth one says that nothing is left.
        for (claims, left) in [(false, 5), (true, 3), (true, 0), (true, 0)] {
            let printed = played(folder);
            assert_eq!(printed.lines().any(|line| line == PROMISE), claims, "{printed}");
            assert_eq!(open(), left, "{printed}");
        }
    }

    #[test]
    fn demo_touches_no_other_project() {
        let folder = tempfile::tempdir().unwrap();
        let error = run(folder.path(), "go", Duration::ZERO, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().starts_with("the demo's agent works on"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn agent_promises_as_asked() {
        assert_eq!(promise("say <promise>DONE</promise> then"), Some("<promise>DONE</promise>"));
        assert_eq!(promise("no </promise> here <promise>"), None);
    }

    #[test]
    fn personal_arguments_are_not_agents() {
        for words in [&["spool"][..], &["spool", "ralph"], &["spool", "ralph", ARGUMENT]] {
            let arguments = words.iter().map(OsString::from);
            assert!(play_if_asked(arguments).is_none(), "{words:?}");
        }
    }
}
