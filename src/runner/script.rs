//! What a scripted agent does, carried out in a throw-away project; for `spool demo` and `spool ralph --demo`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::engine::tasks::TaskList;
use crate::evidence::task_list;
use crate::exec::{Program, shell};

/// How long one program may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// The most that is read of a file or of an output, in bytes.
const MOST: usize = 1 << 20;

/// One tool call of the agent.
pub enum ScriptStep {
    /// Writes a file of the project.
    Write(&'static str, &'static str),
    /// Runs a command that must succeed, `sh` with a script of the project.
    Run(&'static str),
    /// Ticks the box of a task.
    Tick(&'static str),
}

impl ScriptStep {
    /// Returns the name of the agent's tool that does it.
    pub fn tool(&self) -> &'static str {
        match self {
            ScriptStep::Write(..) => "Write",
            ScriptStep::Run(_) => "Bash",
            ScriptStep::Tick(_) => "Edit",
        }
    }

    /// Carries it out in a project with this task list, and returns what it printed; an error when it fails.
    pub fn play(&self, folder: &Path, tasks: &Path) -> Result<String> {
        match self {
            ScriptStep::Write(name, text) => write(folder, name, text).map(|()| String::new()),
            ScriptStep::Run(command) => run(folder, command),
            ScriptStep::Tick(id) => tick(tasks, id).map(|()| String::new()),
        }
    }
}

/// Writes a file of the project, with the folders above it.
pub fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(folder);
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(&path, text))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Returns the task list of the project.
pub fn task_list(tasks: &Path) -> Result<(Vec<u8>, TaskList)> {
    let file = task_list::read(tasks.parent().unwrap_or(tasks))
        .map_err(|problem| anyhow!("cannot read `{}`: {problem}", tasks.display()))?;
    Ok((file.bytes, file.list))
}

/// Puts the project under git with all its files in one commit. Without git a demo is the same; it only has no history.
pub fn begin_history(folder: &Path, files: &str, message: &str) {
    if git(folder, &["init", "-q"]) && git(folder, &["add", files]) {
        git(folder, &["commit", "-q", "-m", message]);
    }
}

/// Runs git in the project and returns whether it succeeded.
pub fn git(folder: &Path, arguments: &[&str]) -> bool {
    let name = ["-c", "user.name=demo", "-c", "user.email=demo@localhost"];
    // A person's settings for signing and hooks are none of the demo's business.
    let plain = ["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"];
    let mut git = Command::new("git");
    git.args(name).args(plain).args(arguments).current_dir(folder);
    Program::new(git, PATIENCE).kept().run(0, &mut || false).is_ok_and(|ran| ran.is_success())
}

fn run(folder: &Path, command: &str) -> Result<String> {
    let Some(sh) = shell::sh() else {
        return Ok("left out, for there is no `sh` here".to_owned());
    };
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

fn tick(tasks: &Path, id: &str) -> Result<()> {
    let (mut text, list) = task_list(tasks)?;
    let task = list.find(id).with_context(|| format!("there is no task {id}"))?;
    text[task.mark_at] = b'x';
    fs::write(tasks, text).with_context(|| format!("cannot write `{}`", tasks.display()))
}
