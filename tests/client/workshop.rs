//! A spec-kit project with one feature, the assembled plugin, and the agent that a scripted model plays in it.

use crate::headless::Client;
use crate::once::once_a_run;
use crate::support::{Project, client, json_lines, program};
use ralph_speckit::engine::tasks::TaskList;
use ralph_speckit::plugin::{Programs, assemble};
use scripted_model::{Asked, Reply, ScriptedModel};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The feature that every workshop has.
pub const FEATURE: &str = "001-long-list";
/// The name of the feature's state file.
pub const STATE: &str = ".speckit-state.json";
const FOLDER: &str = ".specify/specs/001-long-list";

/// A throw-away project whose feature has a list of open tasks.
pub struct Workshop {
    pub project: Project,
    /// The home of the person, for the client as for a terminal.
    pub home: TempDir,
}

/// An agent that works with real tool calls and looks into the list, as a model does that follows its prompt.
#[derive(Clone)]
pub struct Worker {
    folder: PathBuf,
}

impl Workshop {
    /// A project without anything in it.
    pub fn empty() -> Workshop {
        Workshop::at(Project::new())
    }

    /// One with this project.
    pub fn at(project: Project) -> Workshop {
        Workshop { project, home: tempfile::tempdir().expect("a home") }
    }

    /// A project whose feature has this many open tasks, and things in its list that are no tasks.
    pub fn with_tasks(count: usize) -> Workshop {
        let workshop = Workshop::empty();
        let project = &workshop.project;
        let mut list =
            "# Tasks: a long list\n\n```\n- [ ] T999 An example, no task\n```\n".to_owned();
        for number in 1..=count {
            if number % 10 == 1 {
                let _ = write!(list, "\n## Phase {}\n", number / 10 + 1);
            }
            let mark = match number % 10 {
                2 | 3 => "[P] ",
                0 => "[VERIFY] ",
                _ => "",
            };
            let _ = writeln!(list, "- [ ] T{number:03} {mark}Write out/T{number:03}.txt");
        }
        project.write(&format!("{FOLDER}/tasks.md"), &list);
        project.write(&format!("{FOLDER}/.progress.md"), "Notes of a person.\n");
        project.write(".specify/.current-feature", &format!("{FEATURE}\n"));
        workshop
    }

    /// The client of one version in this project, with the assembled plugin.
    pub fn client(&self, version: &str, model: &ScriptedModel) -> Client {
        client(version, &self.project, model).home(self.home.path()).plugin(assembled_plugin())
    }

    /// The client with the plugin that `spool setup` has installed for the person: every client of this home has it.
    pub fn client_of_setup(&self, version: &str, model: &ScriptedModel) -> Client {
        let home = self.home.path();
        let clients = program(version).parent().expect("a folder").display().to_string();
        let setup = Command::new(programs().spool)
            .arg("setup")
            .current_dir(home)
            .env_clear()
            .env("HOME", home)
            .env("PATH", format!("{clients}:/usr/bin:/bin"))
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .output()
            .expect("spool");
        assert!(setup.status.success(), "{setup:?}");
        client(version, &self.project, model).home(home)
    }

    /// Writes the state file as older tools left it: in execution, armed by nobody.
    pub fn write_old_state(&self, total: usize) {
        let state = json!({
            "featureId": "001", "name": "long-list", "basePath": FOLDER, "phase": "execution",
            "taskIndex": 0, "totalTasks": total, "taskIteration": 1, "maxTaskIterations": 5,
            "globalIteration": 1, "maxGlobalIterations": 100, "awaitingApproval": false,
        });
        let text = serde_json::to_string_pretty(&state).expect("a state");
        self.project.write(&Workshop::in_feature(STATE), &text);
    }

    pub fn worker(&self) -> Worker {
        Worker { folder: self.project.path().to_owned() }
    }

    /// The path of a file of the feature, relative to the project.
    pub fn in_feature(name: &str) -> String {
        format!("{FOLDER}/{name}")
    }

    /// Where a file of the feature lies.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.project.path().join(FOLDER).join(name)
    }

    /// Whether the feature has a file of this name.
    pub fn has(&self, name: &str) -> bool {
        self.path_of(name).exists()
    }

    /// What `spool` prints in this project, in a terminal of the same person.
    pub fn spool(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_spool"))
            .args(arguments)
            .current_dir(self.project.path())
            .env_clear()
            .env("HOME", self.home.path())
            .output()
            .expect("spool")
    }

    /// Runs lines in the person's shell, in a folder, and returns what they print and the folder after them.
    pub fn shell(&self, folder: &Path, lines: &str) -> (String, PathBuf) {
        let programs = programs().spool.parent().expect("a folder").to_owned();
        let after = self.home.path().join("folder");
        let output = Command::new("sh")
            .args(["-c", &format!("set -e\n{lines}\npwd > \"$1\""), "sh"])
            .arg(&after)
            .current_dir(folder)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .output()
            .expect("a shell");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{lines}\n{printed}{errors}");
        let folder = fs::read_to_string(after).expect("a folder").trim().into();
        (printed, folder)
    }

    /// What `spool status --json` tells of the feature.
    pub fn status(&self) -> Value {
        let output = self.spool(&["status", "--json"]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        report["features"][0].clone()
    }

    /// The lines of `spool log --json`, oldest first.
    pub fn journal(&self) -> Vec<Value> {
        let output = self.spool(&["log", "--json"]);
        json_lines(&String::from_utf8(output.stdout).expect("a journal"))
    }

    /// The verdicts in the journal, oldest first, an end with its reason: `continue`, `end completed`.
    pub fn verdicts(&self) -> Vec<String> {
        let verdict = |entry: &Value| {
            let words =
                [&entry["verdict"], &entry["reason"]].map(|word| word.as_str().unwrap_or_default());
            words.join(" ").trim().to_owned()
        };
        self.journal().iter().map(verdict).filter(|verdict| !verdict.is_empty()).collect()
    }

    /// Fails unless every task is done: its file is there with its content and its box is ticked, and nothing else is.
    pub fn assert_all_done(&self, count: usize) {
        for number in 1..=count {
            let id = format!("T{number:03}");
            let written = self.project.read(&format!("out/{id}.txt"));
            assert_eq!(written, format!("the work of {id}\n"));
        }
        let text = self.project.read(&Workshop::in_feature("tasks.md"));
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(list.tasks.len(), count, "{text}");
        assert_eq!(list.open().count(), 0, "{text}");
        assert!(text.contains("- [ ] T999"), "what is no task was ticked: {text}");
        assert_eq!(
            self.project.read(&Workshop::in_feature(".progress.md")),
            "Notes of a person.\n"
        );
    }
}

impl Worker {
    /// The id of the first task whose box is open.
    pub fn next_task(&self) -> Option<String> {
        let text = fs::read(self.folder.join(FOLDER).join("tasks.md")).unwrap_or_default();
        TaskList::parse(&text).open().next().map(|task| task.id.clone())
    }

    /// The command that does a task: it writes the task's file and ticks its box.
    pub fn command_for(id: &str) -> String {
        let list = format!("{FOLDER}/tasks.md");
        format!(
            "mkdir -p out && echo 'the work of {id}' >> out/{id}.txt && \
             sed 's/- \\[ \\] {id} /- [x] {id} /' {list} > {list}.new && mv {list}.new {list}"
        )
    }

    /// The reply that does a task with the shell.
    pub fn work_on(id: &str) -> Reply {
        let input = json!({"command": Worker::command_for(id), "description": format!("do {id}")});
        Reply::text(&format!("I do {id}.")).and_tool("Bash", input)
    }

    /// The reply that runs one command of the shell in the project.
    pub fn run(command: &str) -> Reply {
        Reply::tool("Bash", json!({"command": command, "description": "a command of a test"}))
    }

    /// The reply of an agent that does one task and then tries to stop, again and again.
    pub fn one_task_then_stop(&self, asked: &Asked) -> Reply {
        match self.next_task() {
            None => Reply::text("Everything is done.\n\nALL_TASKS_COMPLETE"),
            Some(_) if !asked.tool_results().is_empty() => Reply::text("That is one. I stop here."),
            Some(id) => Worker::work_on(&id),
        }
    }
}

/// What one hook was asked and how it answered, in the order of the calls.
#[derive(Debug)]
pub struct Call {
    pub event: String,
    pub folder: String,
    pub stdout: String,
    pub stderr: String,
    pub code: String,
}

impl Workshop {
    /// Assembles a plugin whose hook gets the event of a stop a second after it was started.
    pub fn plugin_with_late_stops(&self) -> PathBuf {
        let folder = self.project.path().join("plugins/speckit");
        assemble(&folder, &programs()).expect("a plugin");
        let hook = folder.join("bin/ralph-hook");
        fs::rename(&hook, folder.join("bin/real-hook")).expect("the real hook");
        let script = r#"real=$CLAUDE_PLUGIN_ROOT/bin/real-hook
test "$1" = Stop || exec "$real" "$@"
{ sleep 1; cat; } | "$real" "$@""#;
        self.project.program("plugins/speckit/bin/ralph-hook", script);
        folder
    }

    /// Assembles a plugin whose hooks are the real ones behind a script that writes down what goes in and comes out.
    pub fn recording_plugin(&self) -> PathBuf {
        let folder = self.project.path().join("plugins/speckit");
        assemble(&folder, &programs()).expect("a plugin");
        let script = r#"real=${0%/*}/real-${0##*/}
case $0,$1 in */spool,hook | */ralph-hook,*) ;; *) exec "$real" "$@" ;; esac
calls=$CLAUDE_PLUGIN_ROOT/../../calls
number=1; while ! mkdir -p "$calls" || ! mkdir "$calls/$number" 2>/dev/null; do number=$((number + 1)); done
cd "$calls/$number" || exit 0
cat >stdin
"$real" "$@" <stdin >stdout 2>stderr
echo $? >code.part; mv code.part code
cat stderr >&2; cat stdout; exit "$(cat code)""#;
        for name in ["ralph-hook", "spool"] {
            let program = folder.join("bin").join(name);
            fs::rename(&program, folder.join(format!("bin/real-{name}")))
                .expect("the real program");
            self.project.program(&format!("plugins/speckit/bin/{name}"), script);
        }
        folder
    }

    /// What the script of the recording plugin wrote down, of the calls that are over.
    pub fn recorded(&self) -> Vec<Call> {
        let read = |number: usize, name: &str| self.project.read(&format!("calls/{number}/{name}"));
        let exists = |number: &usize| self.project.path().join(format!("calls/{number}")).is_dir();
        let call = |number| {
            let event: Value = serde_json::from_str(&read(number, "stdin")).expect("an event");
            let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
            Call {
                event: text("hook_event_name"),
                folder: text("cwd"),
                stdout: read(number, "stdout"),
                stderr: read(number, "stderr"),
                code: read(number, "code").trim().to_owned(),
            }
        };
        let is_over =
            |number: &usize| self.project.path().join(format!("calls/{number}/code")).is_file();
        (1..1_000).take_while(exists).filter(is_over).map(call).collect()
    }
}

/// The folder of a plugin with the programs of this build: one for all tests, for a client takes a plugin up again that
/// changes while it runs.
pub fn assembled_plugin() -> &'static Path {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        let make = |folder: &Path| {
            assemble(&folder.join("plugin"), &programs()).expect("a plugin");
        };
        once_a_run("plugin", make).join("plugin")
    })
}

pub fn programs() -> Programs {
    Programs {
        spool: env!("CARGO_BIN_EXE_spool").into(),
        ralph_hook: env!("CARGO_BIN_EXE_ralph-hook").into(),
    }
}
