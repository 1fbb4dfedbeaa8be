//! The project of a play, the runner on it, and what of both is alive.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ralph_speckit::world::{Deadline, pause};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::agent::{self, DESK, LIST, PRICES};
use crate::hearing::hear_all_signals;
use crate::limited::{Limited, PATIENCE};
use crate::person;
use crate::plan::{PLAN, Plan};
use crate::schema;
use crate::scratch::{SPOOL, Said, Scratch};

/// The change.
pub const CHANGE: &str = "002-01_night";
/// The last iteration that may run.
pub const MOST: &str = "500";
/// So long a tool may print nothing. The agent's own steps take milliseconds, on a busy machine a second.
const SILENCE: &str = "5s";

/// A project with a list, an agent program, and a desk outside of it.
pub struct Place {
    pub scratch: Scratch,
    plan: Plan,
}

/// A runner at work; its output goes into files, which nobody has to read meanwhile.
pub struct Runner {
    child: Child,
    output: PathBuf,
    errors: PathBuf,
}

/// What a runner left behind.
pub struct Ended {
    pub code: Option<i32>,
    pub events: Vec<Value>,
    pub errors: String,
}

impl Place {
    pub fn new(plan: Plan) -> Self {
        let mut scratch = Scratch::new("night-");
        let desk = scratch.home().join("desk");
        fs::create_dir(&desk).unwrap();
        scratch.set(DESK, &desk);
        scratch.set(PLAN, plan.name);
        scratch.set("GIT_CONFIG_NOSYSTEM", "1");
        scratch.set("LANG", "C.UTF-8");
        scratch.executable("bin/claude", agent::stand_in(&scratch.beside("bin/agent")));
        scratch.search_first("bin");
        std::os::unix::fs::symlink(std::env::current_exe().unwrap(), scratch.beside("bin/agent"))
            .unwrap();
        scratch.executable("bin/git", git_that_kills(&desk));
        let tasks = (1..=plan.tasks() - person::tasks(&plan))
            .map(|task| format!("- [ ] T{task:03} Write `src/part{task:03}.txt`\n"));
        scratch.write(LIST, format!("# Tasks\n\n{}", tasks.collect::<String>()));
        scratch.write(format!(".spool/changes/{CHANGE}/proposal.md"), "# Write the parts\n");
        scratch.write("notes.md", "# Notes\nnothing yet\n");
        scratch.write("src/README.md", "Parts.\n");
        scratch.write("check.sh", "! grep --quiet '\\[ \\]' .spool/changes/*/tasks.md\n");
        scratch.write(".gitignore", ".spool/.state\n.claude\n");
        scratch.init();
        scratch.commit("the beginning");
        Self { scratch, plan }
    }

    pub fn desk(&self) -> PathBuf {
        self.scratch.home().join("desk")
    }

    /// The arguments of every runner of the play.
    pub fn arguments() -> Vec<&'static str> {
        let mut all =
            vec!["ralph", "Write the parts", "--change", CHANGE, "--no-interactive", "--json"];
        all.extend(["--permission-mode", "acceptEdits", "--check", "sh check.sh", "--strict"]);
        all.extend([
            "--max-iterations",
            MOST,
            "--retry-pause",
            "10ms",
            "--idle-timeout",
            SILENCE,
            "--grace",
            "1s",
            "--max-limit-wait",
            "0",
            "--iteration-timeout",
            "30m",
            "--max-runtime",
            "1h",
        ]);
        all.extend(PRICES.iter().flat_map(|price| ["--prices", price]));
        all
    }

    /// Starts a runner.
    pub fn start(&self) -> Runner {
        let mut command = self.command(SPOOL);
        command.args(Self::arguments());
        self.starts(&mut command)
    }

    /// Starts what starts a runner.
    pub fn starts(&self, command: &mut Command) -> Runner {
        hear_all_signals();
        let number = (1..1_000)
            .find(|number| !self.scratch.beside(&format!("output-{number}")).exists())
            .unwrap();
        let [output, errors] =
            ["output", "errors"].map(|name| self.scratch.beside(&format!("{name}-{number}")));
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(&output).unwrap())
            .stderr(File::create(&errors).unwrap())
            .spawn()
            .unwrap();
        Runner { child, output, errors }
    }

    /// `spool` with these arguments.
    pub fn spool(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(SPOOL).args(arguments))
    }

    /// The story of an iteration as programs read it.
    pub fn story(&self, number: u64) -> Value {
        let number = number.to_string();
        let story =
            self.spool(&["log", "--change", CHANGE, "--iteration", &number, "--json"]).json();
        schema::holds("log-iteration", &story);
        story
    }

    /// The history of all runs.
    pub fn history(&self) -> Vec<Value> {
        let path = self.state_folder().join("history.jsonl");
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// A program in the project.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.scratch.command(program)
    }

    fn state_folder(&self) -> PathBuf {
        self.scratch.path(".spool/.state/ralph").join(CHANGE)
    }

    /// Waits until the agent stands still in this run, and the runner has heard of it.
    pub fn wait_for_run(&self, runner: &mut Runner, run: u32) {
        let deadline = Deadline::after(PATIENCE);
        let waits = self.desk().join(format!("waits-{run}"));
        let mut tool = String::new();
        loop {
            if tool.is_empty() {
                tool = fs::read_to_string(&waits).unwrap_or_default();
            } else if self.newest_log().contains(&tool) && runner.says_the_call() {
                return;
            }
            let ended = runner.child.try_wait().unwrap();
            let goes_on = ended.is_none() && !deadline.is_over();
            assert!(goes_on, "run {run} never came ({ended:?}): {}", runner.tail());
            pause(Duration::from_millis(5));
        }
    }

    fn newest_log(&self) -> String {
        let entries = fs::read_dir(self.state_folder().join("logs")).unwrap().flatten();
        let logs = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "log"));
        // A try after a usage limit has the number of the one before, and a name of its own.
        let written = |path: &PathBuf| path.metadata().and_then(|meta| meta.modified()).ok();
        fs::read_to_string(logs.max_by_key(written).unwrap()).unwrap_or_default()
    }

    /// The living processes that belong to the play: their environment names its desk.
    pub fn alive(&self) -> Vec<String> {
        let mark = format!("{DESK}={}", self.desk().display());
        let ids = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_ours = |folder: &PathBuf| {
            let environment = fs::read(folder.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let words =
            |folder: PathBuf| fs::read_to_string(folder.join("cmdline")).unwrap_or_default();
        ids.filter(is_ours).map(words).collect()
    }

    /// Waits until nothing is alive.
    pub fn assert_nobody_is_left(&self) {
        let deadline = Deadline::after(PATIENCE);
        while !self.alive().is_empty() {
            assert!(!deadline.is_over(), "still alive: {:#?}", self.alive());
            pause(Duration::from_millis(20));
        }
    }

    pub fn plan(&self) -> Plan {
        self.plan
    }
}

/// A git that kills the runner, which asks it for the commits of an iteration, where the agent has wished so.
fn git_that_kills(desk: &Path) -> String {
    let git = Command::new("sh").args(["-c", "command -v git"]).finish().stdout;
    format!(
        r#"#!/bin/sh
case "$*" in *--ignore-missing*)
    if rm '{}/kills' 2>/dev/null; then
        kill -9 $(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' .claude/loop-state.json | head -n 1)
    fi ;;
esac
exec {} "$@"
"#,
        desk.display(),
        String::from_utf8(git).unwrap().trim_end()
    )
}

impl Runner {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to a process.
    pub fn signal(process: u32, signal: Signal) {
        kill_process(Pid::from_raw(process.try_into().unwrap()).unwrap(), signal).unwrap();
    }

    /// The last call that it has printed is of `make`, behind which the agent stands still: it prints a line after it has
    /// logged it. An earlier run of the same runner may have called `make` as well.
    fn says_the_call(&self) -> bool {
        let output = fs::read_to_string(&self.output).unwrap_or_default();
        let mut lines = output.split_inclusive('\n').rev();
        let last = lines.find(|line| line.contains("\"called\"") && line.ends_with('\n'));
        last.is_some_and(|line| line.contains("make"))
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ended {
        let deadline = Deadline::after(5 * PATIENCE);
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(!deadline.is_over(), "it does not end: {}", self.tail());
            pause(Duration::from_millis(10));
        };
        let event = |line: &str| -> Option<Value> {
            // The last line of one that was killed may be torn.
            let value = serde_json::from_str(line).ok()?;
            schema::holds("ralph-event", &value);
            Some(value)
        };
        let output = fs::read_to_string(&self.output).unwrap();
        let events = output.lines().filter_map(event).collect();
        Ended { code: status.code(), events, errors: fs::read_to_string(&self.errors).unwrap() }
    }

    /// The end of what it printed.
    fn tail(&self) -> String {
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<String> = read(&self.output).lines().map(str::to_owned).collect();
        lines[lines.len().saturating_sub(20)..].join("\n") + &read(&self.errors)
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // Its supervisor ends what it has started.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
