//! A scratch folder with all that one test needs: a home, a project under git, and the agent program on the `PATH`.

use crate::agent::Agent;
use crate::scratch::{SPOOL, Scratch};
use ralph_speckit::world::{Deadline, pause};
use rustix::process::{Pid, Signal, kill_process};
use scripted_model::{Asked, Reply, ScriptedModel};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::ops::Deref;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

/// The scratch folder. Whatever still runs out of it is killed when it goes.
pub struct Stage {
    agent: Agent,
    pub model: ScriptedModel,
    scratch: Scratch,
}

impl Deref for Stage {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

/// The change on which every loop works.
pub const CHANGE: &str = "001-01_traces";

impl Stage {
    /// Makes a stage; `script` is given the folder of the project and returns what decides the model's replies.
    pub fn new<S>(agent: Agent, script: impl FnOnce(Scene) -> S) -> Stage
    where
        S: FnMut(&Asked) -> Reply + Send + 'static,
    {
        let mut scratch = Scratch::new("agents-");
        for name in ["bin", "tmp"] {
            fs::create_dir(scratch.beside(name)).expect("a folder of the scratch");
        }
        let temporary = scratch.beside("tmp");
        scratch.set("TMPDIR", temporary);
        scratch.set("LANG", "C.UTF-8");
        scratch.set("PATH", std::env::var("PATH").unwrap_or_default());
        scratch.search_first("bin");
        install(&scratch, agent);
        let scene = Scene { agent, project: scratch.root.clone() };
        let model = ScriptedModel::start(script(scene));
        for (name, value) in agent.settle(&scratch.home(), &model.url()) {
            scratch.set(name, value);
        }
        scratch.write("README.md", "A project of a test.\n");
        let proposal = "# Traces\n\nEach iteration leaves one more trace in this project.\n";
        scratch.write(format!(".spool/changes/{CHANGE}/proposal.md"), proposal);
        scratch.init();
        scratch.commit("begin");
        Stage { agent, model, scratch }
    }

    /// Installs another agent program beside the stage's own, which asks the same model.
    pub fn also(&mut self, agent: Agent) {
        install(&self.scratch, agent);
        for (name, value) in agent.settle(&self.scratch.home(), &self.model.url()) {
            self.scratch.set(name, value);
        }
        agent.trust(&self.scratch.home(), &self.scratch.root);
    }

    /// Starts `spool ralph` on a feature with a task list, with the given arguments.
    pub fn ralph_on(&self, change: &str, arguments: &[&str]) -> Run {
        let mut command = self.command(SPOOL);
        command.args(["ralph", "Build it.", "--change", change, "--harness", self.agent.name()]);
        command.args(["--model", self.agent.model(), "--no-interactive"]).args(arguments);
        self.started(command)
    }

    /// Starts `spool ralph` on the change, with the given arguments besides those that every run has.
    pub fn ralph(&self, arguments: &[&str]) -> Run {
        let mut command = self.command(SPOOL);
        command.args(["ralph", "Leave a trace.", "--change", CHANGE, "--harness"]);
        command.args([self.agent.name(), "--model", self.agent.model(), "--done", "manual"]);
        command.args(["--no-interactive"]).args(arguments);
        self.started(command)
    }

    /// Starts `spool ralph` on the change, with the program as an agent that speaks the Agent Client Protocol.
    pub fn speaks(&self, arguments: &[&str]) -> Run {
        let mut command = self.command(SPOOL);
        command.args(["ralph", "Leave a trace.", "--change", CHANGE, "--done", "manual"]);
        let flag = if self.agent == Agent::Opencode { "acp" } else { "--acp" };
        let harness = format!("acp:{} {flag}", self.agent.name());
        command.args(["--harness", &harness, "--no-interactive"]).args(arguments);
        // Gemini CLI's own choice is to ask another model which one is to answer; Copilot CLI names its model in its environment.
        if self.agent != Agent::Copilot {
            command.args(["--model", self.agent.model()]);
        }
        self.started(command)
    }

    fn started(&self, mut command: Command) -> Run {
        let printed = self.beside("printed");
        let file = File::create(&printed).expect("a file for what is printed");
        command.stdout(file.try_clone().expect("a handle")).stderr(file);
        Run { child: command.spawn().expect("spool"), printed }
    }

    /// Puts a script on the `PATH`.
    pub fn program(&self, name: &str, text: &str) {
        self.executable(&format!("bin/{name}"), text);
    }

    /// Sets a variable instead of another one.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str, instead_of: &str) -> Stage {
        self.scratch.unset(instead_of);
        self.scratch.set(name, value);
        self
    }

    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// What a run printed that ends with this code, and the facts.
    #[track_caller]
    pub fn ended(&self, run: Run, code: i32) -> (String, String) {
        let (ended, printed) = run.end();
        let facts = self.facts();
        assert_eq!(ended, Some(code), "{facts}");
        (printed, facts)
    }

    /// The loop's state as `loop-state.json` tells it.
    pub fn state(&self) -> Value {
        let text = self.read(".claude/loop-state.json");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// All that is known, for the message of a failed test.
    pub fn facts(&self) -> String {
        let printed = fs::read_to_string(self.beside("printed")).unwrap_or_default();
        let mut facts = format!("{printed}\n{}\n", self.read(".claude/loop-state.json"));
        for asked in self.model.requests() {
            let text = asked.last_text();
            let text: String = text.chars().rev().take(200).collect();
            let text: String = text.chars().rev().collect();
            let _ = writeln!(facts, "{:?} {}: {text}", asked.asker, asked.number);
        }
        facts + &format!("{:?}\n", self.model.complaints())
    }

    /// The text of a file of the project; empty where there is none.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Every process that has to do with the scratch folder: by its command, its folder, or its environment.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let scratch = self.top().as_os_str().to_owned().into_encoded_bytes();
        let mentions = |bytes: &[u8]| bytes.windows(scratch.len()).any(|part| part == scratch);
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
            let folder = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let command = read("cmdline");
            if mentions(&command)
                || mentions(folder.into_os_string().as_encoded_bytes())
                || mentions(&read("environ"))
            {
                found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
            }
        }
        found
    }
}

/// Puts an agent program on the `PATH`, which is not started for what `spool` asks before each loop.
fn install(scratch: &Scratch, agent: Agent) {
    let program = agent.installed();
    let mut script = "#!/bin/sh\ncase \"$*\" in\n".to_owned();
    for (question, answer) in agent.answers() {
        let _ = writeln!(script, "'{question}') echo '{answer}'; exit ;;");
    }
    let _ = writeln!(script, "esac\nexec '{}' \"$@\"", program.display());
    scratch.executable(&format!("bin/{}", agent.name()), script);
}

/// What a script knows of its stage.
#[derive(Clone)]
pub struct Scene {
    pub agent: Agent,
    pub project: PathBuf,
}

impl Scene {
    /// How many iterations of the loop have come to their end so far.
    pub fn iterations_ended(&self) -> usize {
        let text = fs::read_to_string(self.project.join(".claude/loop-state.json"));
        let state: Value = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
        let iterations = state["iterations"].as_array().map_or(&[] as &[Value], Vec::as_slice);
        iterations.iter().filter(|iteration| iteration["ended"].is_string()).count()
    }
}

/// A `spool ralph` that runs.
pub struct Run {
    child: Child,
    printed: PathBuf,
}

impl Run {
    /// Waits for the end and returns the exit code, with all that was printed.
    pub fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("spool ends");
        (status.code(), fs::read_to_string(&self.printed).unwrap_or_default())
    }

    /// Waits until something is so; it is given what was printed so far. A run that ends before is a failure.
    pub fn wait_until(&mut self, is_so: impl Fn(&str) -> bool) {
        let patience = Deadline::after(Duration::from_mins(5));
        loop {
            let status = self.child.try_wait().expect("spool");
            let printed = fs::read_to_string(&self.printed).unwrap_or_default();
            if is_so(&printed) {
                return;
            }
            if let Some(status) = status {
                panic!("{status}: {printed}");
            }
            assert!(!patience.is_over(), "it never came about: {printed}");
            pause(Duration::from_millis(20));
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a signal");
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // A test that failed on the way; the stage ends the rest.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            if let Some(pid) = Pid::from_raw(pid) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}
