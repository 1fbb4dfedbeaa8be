//! A change to work on, a scripted agent program, and a look at all processes that stem from it.

use crate::support::limited::Limited;
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ralph_speckit::world::{self, Deadline};
use serde_json::Value;

use crate::support::hearing::hear_all_signals;
use crate::support::scratch::{SPOOL, Scratch};

/// The change that every test works on.
pub const CHANGE: &str = "002-01_login";
/// So long a test waits for what must come; far longer than it takes.
pub const PATIENCE: Duration = Duration::from_mins(5);
/// The variable by which the processes of a test are known.
const MARK: &str = "STRESS_MARK";

/// A project with one change, and an agent program beside it.
pub struct Place {
    scratch: Scratch,
    mark: String,
}

impl Deref for Place {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

impl Place {
    /// A project without git, with this shell script as the agent program.
    ///
    /// The script finds the path of [`Place::notes`] in `$NOTES`.
    pub fn new(script: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mut scratch = Scratch::new("runner-stress-");
        scratch.write(format!(".spool/changes/{CHANGE}/proposal.md"), "# Log in\n");
        fs::write(scratch.beside("agent.sh"), script).unwrap();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let value = format!("{}-{count}.", std::process::id());
        let notes = scratch.beside("notes");
        scratch.set("PATH", world::variable("PATH").unwrap());
        scratch.set("GIT_CONFIG_NOSYSTEM", "1");
        scratch.set("NOTES", notes);
        scratch.set(MARK, &value);
        Self { scratch, mark: format!("{MARK}={value}") }
    }

    /// The same in a git repository without a commit.
    pub fn with_git(script: &str) -> Self {
        let place = Self::new(script);
        place.init();
        place
    }

    /// The commits on all branches, oldest first.
    pub fn commits(&self) -> Vec<String> {
        let all = self.git(&["rev-list", "--reverse", "--all"]);
        all.lines().map(str::to_owned).collect()
    }

    fn command(&self, program: &str) -> Command {
        hear_all_signals();
        let mut command = self.scratch.command(program);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A runner with the agent program of this place, or with `agent` in its stead.
    fn runner(&self, agent: Option<&str>, arguments: &[&str]) -> Command {
        let mut command = self.command(SPOOL);
        let own = format!("sh '{}'", self.beside("agent.sh").display());
        command.args(["ralph", "do it", "--change", CHANGE, "--no-interactive", "--no-stay-awake"]);
        command.args(["--harness-command", agent.unwrap_or(&own)]).args(arguments);
        command
    }

    /// A runner at work, whose output nobody reads.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.runner(None, arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// A runner at work whose output is kept.
    pub fn start_heard(&self, arguments: &[&str]) -> Child {
        self.runner(None, arguments).spawn().unwrap()
    }

    /// Runs a loop to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.runner(None, arguments).finish()
    }

    /// Runs one iteration of an agent program that does nothing.
    pub fn run_idle_agent(&self) -> Output {
        self.runner(Some("true"), &["--max-iterations", "1", "--restart"]).finish()
    }

    /// A file outside of the project, for what the agent program tells the test.
    pub fn notes(&self) -> PathBuf {
        self.beside("notes")
    }

    /// The lines of the notes.
    pub fn noted(&self) -> Vec<String> {
        let text = fs::read_to_string(self.notes()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until the agent program has noted this.
    pub fn wait_for(&self, words: &str) {
        let deadline = Deadline::after(PATIENCE);
        while !self.noted().iter().any(|line| line == words) {
            assert!(!deadline.is_over(), "nobody notes `{words}`");
            world::pause(Duration::from_millis(20));
        }
    }

    /// Waits until a file beside the project has this content.
    pub fn wait_for_file(&self, name: &str, content: &str) {
        let deadline = Deadline::after(PATIENCE);
        while fs::read_to_string(self.beside(name)).unwrap_or_default() != content {
            assert!(!deadline.is_over(), "nobody writes `{name}`");
            world::pause(Duration::from_millis(5));
        }
    }

    /// The work tree's `loop-state.json`, `None` before a runner has written it.
    pub fn document(&self) -> Option<Value> {
        let bytes = fs::read(self.root.join(".claude/loop-state.json")).ok()?;
        let schema = include_str!("../../schemas/loop-state.schema.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let iteration = &schema["properties"]["iterations"]["items"];
        has_what_it_needs(&document, &schema);
        document["iterations"].as_array().unwrap().iter().for_each(|entry| {
            has_what_it_needs(entry, iteration);
        });
        Some(document)
    }

    /// All iterations of all runs.
    pub fn history(&self) -> Vec<Value> {
        let path = self.state_folder().join("history.jsonl");
        let text = fs::read_to_string(path).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Where the runner keeps its files.
    pub fn state_folder(&self) -> PathBuf {
        self.root.join(".spool/.state/ralph").join(CHANGE)
    }

    /// The living processes that stem from this place, with their arguments.
    pub fn alive(&self) -> Vec<String> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let numbers = ids.filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
        let marked = numbers.filter(|id| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.windows(self.mark.len()).any(|piece| piece == self.mark.as_bytes())
        });
        let words = marked.map(|id| {
            let arguments = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            format!("{id} {}", String::from_utf8_lossy(&arguments).replace('\0', " "))
        });
        words.collect()
    }

    /// Waits until no process of this place is alive.
    pub fn wait_until_nobody_is_alive(&self, deadline: Deadline) {
        loop {
            let alive = self.alive();
            if alive.is_empty() {
                return;
            }
            assert!(!deadline.is_over(), "these are still alive: {alive:#?}");
            world::pause(Duration::from_millis(30));
        }
    }
}

/// The fields that the schema demands are there.
fn has_what_it_needs(value: &Value, schema: &Value) {
    for name in schema["required"].as_array().unwrap() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "no {name} in {value:#}");
    }
}
