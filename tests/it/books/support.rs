//! A scratch project with a task list, the real programs, and what its books say.

pub use crate::support::scratch::{HOOK, SPOOL, Said};

use crate::support::scratch::Scratch;
use crate::support::{schema, work};
use std::fs;
use std::io::Write;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

/// The session whose agent works in these tests.
pub const SESSION: &str = "3f2c8a10-0001-4000-8000-000000000001";
/// The feature of the scratch project, laid out as spec-kit does today.
pub const FEATURE: &str = "001-user-login";
/// Four tasks: one done, a parallel pair, one that is a check.
pub const FOUR: &str = "# Tasks: User login\n\n## Phase 1: Setup\n\n- [x] T001 Create the project\n\n## Phase 2: Story\n\n- [ ] T002 [P] [US1] Model in src/user.py\n- [ ] T003 [P] [US1] Page in src/page.py\n- [ ] T004 [VERIFY] Try it\n\n**Checkpoint**: it works\n";

/// A throw-away project; all calls are made from its root by the agent of `SESSION`.
pub struct Project {
    scratch: Scratch,
    pub feature: PathBuf,
}

impl Deref for Project {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

impl Project {
    /// A project of today's spec-kit with one feature and this task list; no loop yet.
    pub fn with(tasks: &str) -> Self {
        Self::in_folder("project", tasks)
    }

    /// The same, in a folder of the test's own choice inside the scratch folder.
    pub fn in_folder(name: &str, tasks: &str) -> Self {
        let mut scratch = Scratch::at(TempDir::with_prefix("books-").unwrap(), name);
        scratch.set("PATH", "/usr/local/bin:/usr/bin:/bin");
        scratch.set("CLAUDE_CODE_SESSION_ID", SESSION);
        let feature = scratch.add_feature(FEATURE, tasks);
        Self { scratch, feature }
    }

    /// A project whose loop is armed as `/speckit:implement` arms it.
    pub fn armed(tasks: &str) -> Self {
        Self::armed_with(tasks, "")
    }

    /// The same with options behind the command.
    pub fn armed_with(tasks: &str, options: &str) -> Self {
        let project = Self::with(tasks);
        project.arm(options);
        project
    }

    /// A person types `/speckit:implement`; the test fails when nothing is armed.
    #[track_caller]
    /// The result: what the person is told.
    pub fn arm(&self, options: &str) -> String {
        let event = json!({
            "session_id": SESSION, "cwd": self.root, "hook_event_name": "UserPromptExpansion",
            "transcript_path": self.transcript(), "expansion_type": "slash_command",
            "command_name": "speckit:implement", "command_args": options, "command_source": "plugin",
        });
        let said = self.hook(&event);
        assert!(said.context().contains("the loop is armed"), "{said:?}");
        said.context().to_owned()
    }

    /// Sets a variable for all calls from now on; an empty value removes it.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        if value.is_empty() {
            self.scratch.unset(name);
        } else {
            self.scratch.set(name, value);
        }
        self
    }

    /// `spool task …` from the project's root; an agent that says `done` has done the work before.
    pub fn task(&self, arguments: &[&str]) -> Said {
        self.task_in(&self.root, arguments)
    }

    /// The same of an agent that does only what the test says.
    pub fn call(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(SPOOL).arg("task").args(arguments).current_dir(&self.root))
    }

    /// The agent does the work of these tasks: in the files that they name, and in one that none names.
    pub fn work_on(&self, ids: &[&str]) {
        work::work_on(&self.root, &self.tasks_path(), ids);
    }

    /// `spool task …` from another folder.
    pub fn task_in(&self, folder: &Path, arguments: &[&str]) -> Said {
        if let ["done", ids @ ..] = arguments {
            self.work_on(ids);
        }
        Said::of(self.command(SPOOL).arg("task").args(arguments).current_dir(folder))
    }

    /// Any other `spool …`.
    pub fn spool(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(SPOOL).args(arguments))
    }

    /// The agent wants to end its turn with these words.
    pub fn stop(&self, words: &str) -> Hooked {
        self.hook(&self.stop_event(words))
    }

    pub fn stop_event(&self, words: &str) -> Value {
        json!({
            "session_id": SESSION, "cwd": self.root, "hook_event_name": "Stop",
            "transcript_path": self.transcript(), "stop_hook_active": false,
            "last_assistant_message": words, "background_tasks": [], "session_crons": [],
        })
    }

    /// The session begins anew: `startup`, `resume`, `clear` or `compact`.
    pub fn session_start(&self, source: &str) -> Hooked {
        self.hook(&json!({
            "session_id": SESSION, "cwd": self.root, "hook_event_name": "SessionStart",
            "transcript_path": self.transcript(), "source": source,
        }))
    }

    /// One event through the real hook.
    pub fn hook(&self, event: &Value) -> Hooked {
        Hooked::from(Said::with_input(
            &mut self.scratch.hook(text(&event["hook_event_name"])),
            event.to_string(),
        ))
    }

    /// The same as the plugin starts it: it may show all that the client can.
    pub fn hook_by_plugin(&self, event: &Value) -> Hooked {
        let name = text(&event["hook_event_name"]);
        let mut command = self.scratch.hook(name);
        Hooked::from(Said::with_input(command.args(["claude", name]), event.to_string()))
    }

    /// The agent used a tool since the last stop: what its transcript shows.
    pub fn agent_works(&self) {
        let path = self.transcript();
        let line = json!({"type": "assistant", "isSidechain": false, "message": {"id": "m",
            "role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Edit", "input": {}}]}});
        let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    fn transcript(&self) -> PathBuf {
        self.beside("transcript.jsonl")
    }

    pub fn tasks_path(&self) -> PathBuf {
        self.feature.join("tasks.md")
    }

    pub fn tasks(&self) -> String {
        fs::read_to_string(self.tasks_path()).unwrap()
    }

    /// The agent edits the list with its own tools.
    pub fn edit_tasks(&self, from: &str, to: &str) {
        let text = self.tasks();
        assert!(text.contains(from), "`{from}` not in:\n{text}");
        let after = text.replace(from, to);
        fs::write(self.tasks_path(), &after).unwrap();
        work::work_on_ticked(&self.root, &self.tasks_path(), &text, &after);
    }

    pub fn state_path(&self) -> PathBuf {
        self.feature.join(".speckit-state.json")
    }

    pub fn state(&self) -> Value {
        serde_json::from_slice(&fs::read(self.state_path()).unwrap()).unwrap()
    }

    /// Changes fields of the state file as another tool does.
    pub fn set_state(&self, fields: &Value) {
        let mut state = self.state();
        for (name, value) in fields.as_object().unwrap() {
            state[name] = value.clone();
        }
        fs::write(self.state_path(), state.to_string()).unwrap();
    }

    pub fn progress(&self) -> String {
        fs::read_to_string(self.feature.join(".progress.md")).unwrap_or_default()
    }

    /// The loop's own folder of a session.
    pub fn notes_of(&self, session: &str) -> PathBuf {
        self.root.join(".claude/ralph").join(session)
    }

    /// All entries of all journals, in the order of `spool log`.
    pub fn log(&self) -> Vec<Value> {
        let said = self.spool(&["log", "--json"]).ok();
        let entry = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
        let entries: Vec<Value> = said.lines().map(entry).collect();
        for entry in &entries {
            schema::holds("log", entry);
        }
        entries
    }

    /// The events of the log that are about tasks, as `event words`.
    pub fn entries(&self) -> Vec<String> {
        let ours = ["done", "dropped", "failed", "added", "repair"];
        let log = self.log().into_iter();
        let log = log.filter(|entry| ours.contains(&entry["event"].as_str().unwrap()));
        log.map(|entry| format!("{} {}", text(&entry["event"]), text(&entry["words"]))).collect()
    }

    /// The one feature's report of `spool status --json`.
    pub fn status(&self) -> Value {
        let report: Value = serde_json::from_str(&self.spool(&["status", "--json"]).ok()).unwrap();
        schema::holds("status", &report);
        let features = report["features"].as_array().unwrap();
        let ours = features.iter().find(|feature| feature["name"] == FEATURE);
        ours.unwrap_or_else(|| panic!("{report:#}")).clone()
    }

    /// The receipts of a task as `spool task show` has them.
    pub fn receipts(&self, id: &str) -> Vec<Value> {
        let shown = self.call(&["show", id, "--json"]).json();
        shown["receipts"].as_array().unwrap().clone()
    }

    /// The name of the end of the feature's loop, null while it lives.
    pub fn end(&self) -> Value {
        self.status()["loop"]["end"]["name"].clone()
    }

    /// Fails unless boxes, state, progress file, journal and status say the same to the letter.
    #[track_caller]
    pub fn assert_books_agree(&self) {
        let boxes = boxes(&self.tasks());
        let done = boxes.iter().filter(|ticked| **ticked).count();
        let first_open = boxes.iter().position(|ticked| !ticked).unwrap_or(boxes.len());
        let state = self.state();
        assert_eq!(state["totalTasks"], boxes.len(), "{state:#}");
        assert_eq!(state["taskIndex"], first_open, "{state:#}");
        let status = self.status();
        assert_eq!((&status["done"], &status["total"]), (&json!(done), &json!(boxes.len())));
        assert_eq!(status["open"].as_array().unwrap().len(), boxes.len() - done);
        let noted: Vec<String> = self
            .progress()
            .lines()
            .filter_map(|line| line.strip_prefix("- [")?.split_once("] "))
            .filter(|(event, _)| ["done", "dropped", "failed", "added", "repair"].contains(event))
            .map(|(event, words)| format!("{event} {words}"))
            .collect();
        assert_eq!(noted, self.entries(), "progress file and journal");
    }
}

/// The boxes of a plain list (no fences, no checklists), in order; whether each is ticked.
///
/// Counted without the program's own parser, so that the two can disagree.
pub fn boxes(tasks: &str) -> Vec<bool> {
    let lines = tasks.lines().map(str::trim_start);
    let marks = lines.filter_map(|line| line.strip_prefix("- [")?.chars().next());
    marks.map(|mark| mark == 'x' || mark == 'X').collect()
}

/// What the hook answered; its exit code was 0.
#[derive(Clone, Debug)]
pub struct Hooked {
    pub answer: Option<Value>,
    pub log: String,
}

impl From<&Output> for Hooked {
    fn from(output: &Output) -> Self {
        Self::from(Said::from(output))
    }
}

impl From<Said> for Hooked {
    fn from(said: Said) -> Self {
        assert_eq!(said.code, Some(0), "{said:?}");
        let answer = (!said.out.is_empty()).then(|| serde_json::from_str(&said.out).unwrap());
        Self { answer, log: said.err }
    }
}

impl Hooked {
    /// The text that sends the agent back; the test fails when it was let go.
    #[track_caller]
    pub fn reason(&self) -> &str {
        let answer = self.answer.as_ref().unwrap_or_else(|| panic!("silent: {}", self.log));
        assert_eq!(answer["decision"], "block", "{answer:#}");
        answer["reason"].as_str().unwrap()
    }

    /// What a person is told while the agent is let go.
    #[track_caller]
    pub fn told(&self) -> &str {
        let answer = self.answer.as_ref().unwrap_or_else(|| panic!("silent: {}", self.log));
        assert!(answer.get("decision").is_none(), "{answer:#}");
        answer["systemMessage"].as_str().unwrap()
    }

    /// Fails unless nothing was printed.
    #[track_caller]
    pub fn silent(&self) {
        assert!(self.answer.is_none(), "{self:?}");
    }

    /// The context that is handed to the model.
    #[track_caller]
    pub fn context(&self) -> &str {
        let answer = self.answer.as_ref().unwrap_or_else(|| panic!("silent: {}", self.log));
        let context = &answer["hookSpecificOutput"]["additionalContext"];
        context.as_str().unwrap_or_else(|| panic!("{answer:#}"))
    }
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
