//! The play of `spool demo` and `spool ralph --harness demo`: a throw-away project, and the scripted agent's turns. The
//! agent stops too early twice, and claims too much once.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::engine::tasks::TaskList;
use crate::evidence::task_list;
use crate::exec::{Program, shell};

/// The limit of one program.
const PATIENCE: Duration = Duration::from_mins(1);
/// The longest file or output that is read, in bytes.
const MOST: usize = 1 << 20;

/// The feature's name.
pub const NAME: &str = "001-todo-list";
/// How many tasks the list has.
pub const TASKS: usize = 7;
const FEATURE: &str = "specs/001-todo-list";

/// From a prompt to an attempt to stop.
pub struct ScriptTurn {
    pub steps: &'static [ScriptStep],
    /// The agent's words when it wants to stop.
    pub words: &'static str,
}

/// A tool call of the agent.
pub enum ScriptStep {
    /// A file of the project, with its text.
    Write(&'static str, &'static str),
    /// A script of the project for `sh`, which has to succeed.
    Run(&'static str),
    /// A task's id.
    Tick(&'static str),
}

use ScriptStep::{Run, Tick, Write};

pub const TURNS: [ScriptTurn; 4] = [
    ScriptTurn {
        steps: &[
            Write("todo.sh", include_str!("script/todo-usage.sh")),
            Tick("T001"),
            Write("todo.sh", include_str!("script/todo-add.sh")),
            Tick("T002"),
        ],
        words: "The program can add a task now. I will stop here for now.",
    },
    ScriptTurn {
        steps: &[Write("todo.sh", include_str!("script/todo.sh")), Tick("T003"), Tick("T004")],
        words: "Listing and finishing work too. Shall I continue?",
    },
    ScriptTurn { steps: &[], words: "All done!\nALL_TASKS_COMPLETE" },
    ScriptTurn {
        steps: &[
            Write("README.md", include_str!("script/README.md")),
            Tick("T005"),
            Write("test.sh", include_str!("script/test.sh")),
            Tick("T006"),
            Run("sh test.sh"),
            Write("RESULT.md", "all tests passed\n"),
            Tick("T007"),
        ],
        words: "ALL_TASKS_COMPLETE",
    },
];

impl ScriptTurn {
    /// A box that this turn ticks is open.
    pub fn is_open(&self, list: &TaskList) -> bool {
        list.open().any(|task| self.steps.iter().any(|step| step.ticks(&task.id)))
    }
}

impl ScriptStep {
    /// The agent's tool for this step.
    pub fn tool(&self) -> &'static str {
        match self {
            Write(..) => "Write",
            Run(_) => "Bash",
            Tick(_) => "Edit",
        }
    }

    fn ticks(&self, id: &str) -> bool {
        matches!(self, Tick(own) if *own == id)
    }

    /// The action in words; an error when the step fails.
    pub fn play(&self, folder: &Path) -> Result<String> {
        Ok(match self {
            Write(name, text) => {
                write(folder, name, text)?;
                format!("writes {name}")
            }
            Run(command) => format!("runs `{command}`: {}", run(folder, command)?.trim()),
            Tick(id) => {
                tick(folder, id)?;
                format!("ticks {id}")
            }
        })
    }
}

/// Makes a spec-kit feature with a task list in `folder`, under git if there is one.
pub fn project(folder: &Path) -> Result<()> {
    let feature = format!("{{\"feature_directory\":\"{FEATURE}\"}}\n");
    let files = [
        (".specify/feature.json", feature.as_str()),
        // Files that arming lists elsewhere, so that the play is the same with and without git.
        (".gitignore", ".claude/\n.spool/\n.speckit-state.json\n.progress.md\n"),
        (&format!("{FEATURE}/spec.md"), include_str!("script/spec.md")),
        (&format!("{FEATURE}/tasks.md"), include_str!("script/tasks.md")),
    ];
    for (name, text) in files {
        write(folder, name, text)?;
    }
    if git(folder, &["init", "-q"]) {
        commit(folder, "The feature and its tasks");
    }
    Ok(())
}

/// Without git, the play has no history.
pub fn commit(folder: &Path, message: &str) {
    if folder.join(".git").exists() && git(folder, &["add", "."]) {
        git(folder, &["commit", "-q", "-m", message]);
    }
}

/// An error in any folder but the play's.
pub fn task_list(folder: &Path) -> Result<(Vec<u8>, TaskList)> {
    let folder = folder.join(FEATURE);
    let file = task_list::read(&folder)
        .map_err(|problem| anyhow!("no task list in `{}`: {problem}", folder.display()))?;
    Ok((file.bytes, file.list))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(folder);
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(&path, text))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

fn git(folder: &Path, arguments: &[&str]) -> bool {
    let name = ["-c", "user.name=demo", "-c", "user.email=demo@localhost"];
    // A person's settings for signing and hooks play no part in the demo.
    let plain = ["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"];
    let mut git = Command::new("git");
    git.args(name).args(plain).args(arguments).current_dir(folder);
    Program::new(git, PATIENCE).kept().run(0, &mut || false).is_ok_and(|ran| ran.is_success())
}

fn run(folder: &Path, command: &str) -> Result<String> {
    let Some(sh) = shell::sh() else { return Ok("left out, for there is no `sh` here".to_owned()) };
    let mut program = Command::new(sh);
    program.args(command.split(' ').skip(1)).current_dir(folder);
    let ran = Program::new(program, PATIENCE)
        .kept()
        .run(MOST, &mut || false)
        .with_context(|| format!("cannot run `{command}`"))?;
    if !ran.is_success() {
        bail!("`{command}` failed: {}", String::from_utf8_lossy(&ran.errors));
    }
    Ok(String::from_utf8_lossy(&ran.output).into_owned())
}

fn tick(folder: &Path, id: &str) -> Result<()> {
    let (mut text, list) = task_list(folder)?;
    let task = list.find(id).with_context(|| format!("there is no task {id}"))?;
    text[task.mark_at] = b'x';
    let text = String::from_utf8_lossy(&text);
    write(folder, &format!("{FEATURE}/tasks.md"), &text)
}
