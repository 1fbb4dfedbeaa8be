//! The coordinator's prompt as a model follows it: `spool task`, delegation to agents, honest ends.

use crate::headless::{Client, ClientRun};
use crate::support::{Project, client, json_lines, on_every_client};
use crate::workshop::assembled_plugin;
use ralph_speckit::engine::tasks::TaskList;
use scripted_model::{Asked, Reply, ScriptedModel};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

on_every_client! {
    night night template_feature_reaches_its_end
    night night failing_task_ends_the_loop
    night night needing_agent_ends_at_once
}

const FOLDER: &str = "specs/001-user-login";
/// Tasks in the list, two of them `[VERIFY]`.
const TASKS: usize = 30;
/// The task that fails twice: once it gets a repair, then it is tried again.
const STUBBORN: &str = "T007";

/// A feature in the shape of spec-kit's own template, as its scripts lay it out.
fn spec_kit_project() -> Project {
    let project = Project::new();
    let mut list = "---\ndescription: \"Task list for the login\"\n---\n\n# Tasks: User Login\n\n\
        **Input**: Design documents from `/specs/001-user-login/`\n\n## Format: `[ID] [P?] [Story] Description`\n\n\
        <!--\n  - [ ] T900 A sample, to be replaced\n-->\n"
        .to_owned();
    for number in 1..=TASKS {
        if number % 6 == 1 {
            let phase = number / 6 + 1;
            if phase > 1 {
                list += "\n**Checkpoint**: this story works on its own\n\n---\n";
            }
            let _ = write!(list, "\n## Phase {phase}: User Story {phase} (Priority: P{phase})\n\n");
        }
        let marks = match number % 6 {
            2..=4 => format!("[P] [US{}] ", number / 6 + 1),
            _ if number == 12 || number == 24 => "[VERIFY] ".to_owned(),
            _ => String::new(),
        };
        let _ = writeln!(list, "- [ ] T{number:03} {marks}Write out/T{number:03}.txt");
        if number % 5 == 0 {
            let _ = writeln!(list, "  - **Verify**: `test -s out/T{number:03}.txt`");
        }
    }
    project.write(&format!("{FOLDER}/tasks.md"), &list);
    project.write(&format!("{FOLDER}/spec.md"), "# User Login\n");
    project.write(".specify/feature.json", &json!({"feature_directory": FOLDER}).to_string());
    project
}

/// What the coordinator is waiting for.
enum Waiting {
    Prompt,
    Next,
    Agents(Vec<Value>),
    Books,
}

/// A model that follows `implement.md` to the letter and tries to stop after every fourth report.
struct Coordinator {
    waiting: Waiting,
    reports: usize,
    stubborn_failures: usize,
    foreground: Value,
    project: std::path::PathBuf,
    disagreements: Arc<Mutex<Vec<String>>>,
}

impl Coordinator {
    fn reply(&mut self, asked: &Asked) -> Reply {
        if asked.is_subagent() {
            return agent(asked);
        }
        if asked.tool_results().is_empty() {
            // A prompt or the hook's answer to a stop: the books are looked at here.
            self.compare_books();
            self.waiting = Waiting::Prompt;
        }
        let results = asked.tool_results();
        match std::mem::replace(&mut self.waiting, Waiting::Prompt) {
            Waiting::Prompt => self.ask_next(),
            Waiting::Next => self.delegate(asked, &results[0]),
            Waiting::Agents(tasks) => self.report(&tasks, &results),
            Waiting::Books => {
                self.reports += 1;
                if self.reports.is_multiple_of(4) {
                    return Reply::text("Four more reports are made. I stop here.");
                }
                self.ask_next()
            }
        }
    }

    fn ask_next(&mut self) -> Reply {
        self.waiting = Waiting::Next;
        shell("spool task next --json")
    }

    fn delegate(&mut self, asked: &Asked, printed: &str) -> Reply {
        // Older clients append reminders of their own to what a tool has printed.
        let line = printed.lines().next().unwrap_or_default();
        let next: Value = serde_json::from_str(line).unwrap_or_else(|error| {
            panic!("`spool task next --json` printed {printed:?}: {error}")
        });
        if next["status"] == "done" {
            return Reply::text("Everything is built and checked.\n\nALL_TASKS_COMPLETE");
        }
        let tasks = next["tasks"].as_array().cloned().unwrap_or_default();
        let tool = if asked.tool_names().contains(&"Task") { "Task" } else { "Agent" };
        let mut reply = Reply::text("I hand this out.");
        for task in &tasks {
            let attempt = if task["id"] == STUBBORN { self.stubborn_failures } else { 9 };
            let mut input = json!({
                "description": format!("do {}", task["id"]),
                "prompt": format!("attempt {attempt} of task {}\n{}", task["id"], task["block"]),
                "subagent_type": format!("speckit:{}", task["agent"].as_str().unwrap_or_default()),
            });
            if self.foreground != Value::Null {
                input["run_in_background"] = self.foreground.clone();
            }
            reply = reply.and_tool(tool, input);
        }
        self.waiting = Waiting::Agents(tasks);
        reply
    }

    fn report(&mut self, tasks: &[Value], results: &[String]) -> Reply {
        self.waiting = Waiting::Books;
        let ids: Vec<_> = tasks.iter().filter_map(|task| task["id"].as_str()).collect();
        if results.iter().any(|result| result.contains("TASK_FAILED")) {
            assert_eq!(ids, [STUBBORN]);
            self.stubborn_failures += 1;
            return shell(&format!("spool task fail {STUBBORN} 'it does not want to'"));
        }
        let ended = |result: &&String| {
            result.contains("TASK_COMPLETE") || result.contains("VERIFICATION_PASS")
        };
        assert_eq!(results.iter().filter(ended).count(), ids.len(), "{results:?}");
        shell(&format!("spool task done {} --no-change 'its agents only talk'", ids.join(" ")))
    }

    /// State, boxes, progress notes and journal say the same.
    fn compare_books(&self) {
        let read = |name: &str| {
            std::fs::read_to_string(self.project.join(FOLDER).join(name)).unwrap_or_default()
        };
        let list = TaskList::parse(read("tasks.md").as_bytes());
        let state: Value = serde_json::from_str(&read(".speckit-state.json")).unwrap_or_default();
        let mut noted: Vec<_> = read(".progress.md")
            .lines()
            .filter_map(|line| line.strip_prefix("- [done] ")?.split(' ').next().map(str::to_owned))
            .collect();
        let mut entered: Vec<_> = spool_log(&self.project)
            .iter()
            .filter(|entry| entry["event"] == "done")
            .filter_map(|entry| entry["words"].as_str()?.split(' ').next().map(str::to_owned))
            .collect();
        let mut ticked: Vec<_> =
            list.tasks.iter().filter(|task| task.done).map(|task| task.id.clone()).collect();
        for ids in [&mut noted, &mut entered, &mut ticked] {
            ids.sort();
        }
        let counters = [&state["taskIndex"], &state["totalTasks"]].map(Value::as_u64);
        let agree = noted == ticked
            && entered == ticked
            && counters == [Some(list.first_open() as u64), Some(list.tasks.len() as u64)];
        if !agree {
            let words = format!("{ticked:?} noted {noted:?} entered {entered:?} {state}");
            self.disagreements.lock().expect("the list of disagreements").push(words);
        }
    }
}

/// What `spec-executor` and `qa-engineer` do: one file by a real tool call, and their end signal.
fn agent(asked: &Asked) -> Reply {
    let prompt = asked.first_text();
    let id = prompt.split("task \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("?");
    if prompt.contains("[VERIFY]") {
        return Reply::text("Every file is there.\n\nVERIFICATION_PASS");
    }
    if prompt.contains("attempt 0 of") || prompt.contains("attempt 1 of") {
        return Reply::text("TASK_FAILED\nError: no\nTried: once\nNext: again");
    }
    if asked.tool_results().is_empty() {
        return shell(&format!("mkdir -p out && echo 'the work of {id}' >> out/{id}.txt"));
    }
    Reply::text("Written and read.\n\nTASK_COMPLETE")
}

fn shell(command: &str) -> Reply {
    Reply::tool("Bash", json!({"command": command, "description": "a step of the cycle"}))
}

fn spool_log(project: &Path) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_spool"))
        .args(["log", "--json"])
        .current_dir(project)
        .env_clear()
        .output()
        .expect("spool");
    json_lines(&String::from_utf8(output.stdout).expect("a journal"))
}

fn status(project: &Project, client: &Client) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_spool"))
        .args(["status", "--json"])
        .current_dir(project.path())
        .env_clear()
        .env("HOME", client.home_folder())
        .output()
        .expect("spool");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    report["features"][0].clone()
}

fn template_feature_reaches_its_end(version: &str) {
    let project = spec_kit_project();
    // One repair for each original, set in a state file that an older tool has left.
    project.write(
        &format!("{FOLDER}/.speckit-state.json"),
        r#"{"phase": "tasks", "maxFixTasksPerOriginal": 1, "ours": {"kept": true}}"#,
    );
    let disagreements = Arc::new(Mutex::new(Vec::new()));
    let mut coordinator = Coordinator {
        waiting: Waiting::Prompt,
        reports: 0,
        stubborn_failures: 0,
        foreground: if version == "2.1.143" { Value::Null } else { Value::Bool(false) },
        project: project.path().to_owned(),
        disagreements: Arc::clone(&disagreements),
    };
    let model = ScriptedModel::start(move |asked| coordinator.reply(asked));
    let client = client(version, &project, &model).plugin(assembled_plugin());
    let run = client.succeeds("/speckit:implement --recovery-mode");
    assert_eq!(model.complaints(), [""; 0], "{}", run.describe());
    assert_eq!(disagreements.lock().unwrap().as_slice(), [""; 0]);
    assert_eq!(run.block_cap(), None);

    let list = TaskList::parse(project.read(&format!("{FOLDER}/tasks.md")).as_bytes());
    let repairs: Vec<_> = list.tasks.iter().filter(|task| task.fixes.is_some()).collect();
    assert_eq!(repairs.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["T007.F1"]);
    assert_eq!((list.tasks.len(), list.open().count()), (TASKS + 1, 0));
    for number in (1..=TASKS).filter(|number| *number != 12 && *number != 24) {
        let name = format!("out/T{number:03}.txt");
        assert_eq!(project.read(&name), format!("the work of T{number:03}\n"), "{name}");
    }
    let agents: Vec<_> = agents_called(&run);
    assert_eq!(agents.iter().filter(|agent| *agent == "speckit:qa-engineer").count(), 2);
    // 28 tasks and one repair; the stubborn one took three attempts.
    assert_eq!(agents.iter().filter(|agent| *agent == "speckit:spec-executor").count(), 31);

    let journal = spool_log(project.path());
    let failed = journal.iter().filter(|entry| entry["event"] == "failed").count();
    assert_eq!(failed, 2, "{journal:#?}");
    let report = status(&project, &client);
    assert_eq!(report["loop"]["end"]["name"], "completed", "{report}");
    let state: Value =
        serde_json::from_str(&project.read(&format!("{FOLDER}/.speckit-state.json"))).unwrap();
    assert_eq!(state["taskIndex"], TASKS + 1, "{state}");
    assert_eq!(state["ours"]["kept"], true, "{state}");
    assert_eq!(state["fixTaskMap"]["T007"]["fixTaskIds"], json!(["T007.F1"]), "{state}");
}

fn agents_called(run: &ClientRun) -> Vec<String> {
    let calls = run.tool_calls().into_iter();
    calls.filter_map(|(_, input)| input["subagent_type"].as_str().map(str::to_owned)).collect()
}

/// Plays shell commands one after the other, then text.
fn played(version: &str, prompt: &str, commands: &[&str]) -> (Project, Client, ClientRun) {
    let project = spec_kit_project();
    let mut replies: Vec<_> = commands.iter().map(|command| shell(command)).collect();
    replies.push(Reply::text("I end my turn: see above."));
    let model = ScriptedModel::playing(replies);
    let client = client(version, &project, &model).plugin(assembled_plugin());
    let run = client.succeeds(prompt);
    assert_eq!(model.main_requests().len(), commands.len() + 1, "{}", run.describe());
    (project, client, run)
}

fn told_once(run: &ClientRun) -> String {
    let told = run.system_messages("Stop");
    assert_eq!(told.len(), 1, "{}", run.describe());
    assert_eq!(run.hook_feedbacks(), [""; 0], "{}", run.describe());
    told[0].to_owned()
}

fn failing_task_ends_the_loop(version: &str) {
    let fail = "spool task fail T001 'the compiler is missing'";
    let (project, client, run) =
        played(version, "/speckit:implement --max-task-iterations 3", &[fail, fail, fail]);
    let told = told_once(&run);
    assert!(told.contains("(task_failed)"), "{told}");
    assert!(told.contains("task T001"), "{told}");
    assert!(told.contains("/speckit:implement"), "{told}");
    let report = status(&project, &client);
    assert_eq!(report["loop"]["end"]["name"], "task_failed", "{report}");
    let journal = spool_log(project.path());
    assert!(journal.iter().any(|entry| entry["reason"] == "task_failed"), "{journal:#?}");
}

fn needing_agent_ends_at_once(version: &str) {
    let (project, client, run) =
        played(version, "/speckit:implement", &["spool task block 'put the API key into .env'"]);
    let told = told_once(&run);
    assert!(told.contains("(blocked)"), "{told}");
    assert!(told.contains("put the API key into .env"), "{told}");
    assert!(told.contains("/speckit:implement"), "{told}");
    let report = status(&project, &client);
    assert_eq!(report["loop"]["end"]["name"], "blocked", "{report}");
    assert!(
        report["loop"]["end"]["words"].as_str().unwrap().contains("put the API key into .env"),
        "{report}"
    );
    let journal = spool_log(project.path());
    assert!(journal.iter().any(|entry| entry["reason"] == "blocked"), "{journal:#?}");
}
