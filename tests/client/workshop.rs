//! A spec-kit project with one feature, the assembled plugin, and the agent that a scripted model plays in it.

use crate::support::{Project, client, json_lines};
use ralph_speckit::engine::tasks::TaskList;
use ralph_speckit::plugin::{Programs, assemble};
use ralph_speckit::rehearsal::{Asked, Client, ClientRun, Reply, ScriptedModel};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The feature that every workshop has.
pub const FEATURE: &str = "001-long-list";
const FOLDER: &str = ".specify/specs/001-long-list";

/// A throw-away project whose feature has a list of open tasks.
pub struct Workshop {
    pub project: Project,
}

/// An agent that works with real tool calls and looks into the list, as a model does that follows its prompt.
#[derive(Clone)]
pub struct Worker {
    folder: PathBuf,
}

impl Workshop {
    /// Returns a project whose feature has this many open tasks, and things in its list that are no tasks.
    pub fn with_tasks(count: usize) -> Workshop {
        let project = Project::new();
        let mut list =
            "# Tasks: a long list\n\n```\n- [ ] T999 An example, no task\n```\n".to_owned();
        for number in 1..=count {
            if number % 10 == 1 {
                list += &format!("\n## Phase {}\n", number / 10 + 1);
            }
            let mark = match number % 10 {
                2 | 3 => "[P] ",
                0 => "[VERIFY] ",
                _ => "",
            };
            list += &format!("- [ ] T{number:03} {mark}Write out/T{number:03}.txt\n");
        }
        project.write(&format!("{FOLDER}/tasks.md"), &list);
        project.write(&format!("{FOLDER}/.progress.md"), "Notes of a person.\n");
        project.write(".specify/.current-feature", &format!("{FEATURE}\n"));
        Workshop { project }
    }

    /// Returns the client of one version in this project, with the assembled plugin.
    pub fn client(&self, version: &str, model: &ScriptedModel) -> Client {
        client(version, &self.project, model).plugin(assembled_plugin())
    }

    /// Returns the agent of this project.
    pub fn worker(&self) -> Worker {
        Worker { folder: self.project.path().to_owned() }
    }

    /// Returns the path of a file of the feature, relative to the project.
    pub fn in_feature(name: &str) -> String {
        format!("{FOLDER}/{name}")
    }

    /// Returns whether the feature has a file of this name.
    pub fn has(&self, name: &str) -> bool {
        self.project.path().join(FOLDER).join(name).exists()
    }

    /// Returns what `spool` prints in this project.
    pub fn spool(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_spool"))
            .args(arguments)
            .current_dir(self.project.path())
            .env_clear()
            .output()
            .expect("spool")
    }

    /// Returns what `spool status --json` tells of the feature.
    pub fn status(&self) -> Value {
        let output = self.spool(&["status", "--json"]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        report["features"][0].clone()
    }

    /// Returns the lines of `spool log --json`, oldest first.
    pub fn journal(&self) -> Vec<Value> {
        let output = self.spool(&["log", "--json"]);
        json_lines(&String::from_utf8(output.stdout).expect("a journal"))
    }

    /// Returns the verdicts in the journal, oldest first, an end with its reason: `continue`, `end completed`.
    pub fn verdicts(&self) -> Vec<String> {
        let verdict = |entry: &Value| {
            let words =
                [&entry["verdict"], &entry["reason"]].map(|word| word.as_str().unwrap_or_default());
            words.join(" ").trim().to_owned()
        };
        self.journal().iter().map(verdict).filter(|verdict| !verdict.is_empty()).collect()
    }

    /// Returns how many verdicts of the journal are this one.
    pub fn count_of(&self, verdict: &str) -> usize {
        self.verdicts().iter().filter(|one| *one == verdict).count()
    }

    /// Fails unless every task is done: its file is there with its content and its box is ticked, and nothing else is.
    pub fn assert_all_done(&self, count: usize, run: &ClientRun) {
        for number in 1..=count {
            let id = format!("T{number:03}");
            let written = self.project.read(&format!("out/{id}.txt"));
            assert_eq!(written, format!("the work of {id}\n"), "{}", run.describe());
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
    /// Returns the id of the first task whose box is open.
    pub fn next_task(&self) -> Option<String> {
        let text = fs::read(self.folder.join(FOLDER).join("tasks.md")).unwrap_or_default();
        TaskList::parse(&text).open().next().map(|task| task.id.clone())
    }

    /// Returns the reply that does a task: it writes the task's file and ticks its box, with the shell.
    pub fn work_on(&self, id: &str) -> Reply {
        let list = format!("{FOLDER}/tasks.md");
        let command = format!(
            "mkdir -p out && echo 'the work of {id}' >> out/{id}.txt && \
             sed 's/- \\[ \\] {id} /- [x] {id} /' {list} > {list}.new && mv {list}.new {list}"
        );
        let input = json!({"command": command, "description": format!("do {id}")});
        Reply::text(&format!("I do {id}.")).and_tool("Bash", input)
    }

    /// Returns the reply of an agent that does one task and then tries to stop, again and again.
    pub fn one_task_then_stop(&self, asked: &Asked) -> Reply {
        if !asked.tool_results().is_empty() {
            return Reply::text("That task is done. I stop here for now.");
        }
        match self.next_task() {
            Some(id) => self.work_on(&id),
            None => Reply::text("Everything is done.\n\nALL_TASKS_COMPLETE"),
        }
    }
}

/// Returns the folder of a plugin with the programs of this build, assembled once for all tests.
pub fn assembled_plugin() -> &'static Path {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        let programs = Programs {
            spool: env!("CARGO_BIN_EXE_spool").into(),
            ralph_hook: env!("CARGO_BIN_EXE_ralph-hook").into(),
        };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugin");
        assemble(&folder, &programs).expect("a plugin").folder
    })
}
