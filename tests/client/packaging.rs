//! The plugin in the real Claude Code: valid, installed by `spool setup`, started, and gone without a trace.

use crate::headless::Client;
use crate::support::{Project, client, json_lines, on_every_client, program};
use ralph_speckit::plugin::files::FILES;
use scripted_model::{Reply, ScriptedModel};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

on_every_client! {
    night night plugin_and_checkout_are_valid
    night night top_level_checkout_installs
    night night setup_enables_and_remove_clears
    gate night installed_stop_hook_fires
    night night checkout_finds_installed_program
    night night checkout_without_programs_says_once
    gate night commands_ask_spool_alone
}

const SPOOL: &str = env!("CARGO_BIN_EXE_spool");

/// A scratch home, with nothing of this machine's environment.
pub struct Home {
    folder: TempDir,
    claude: PathBuf,
}

impl Home {
    pub fn new(version: &str) -> Self {
        let folder = TempDir::with_prefix("home of speckit ").unwrap();
        Self { folder, claude: program(version) }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn run(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Output {
        self.command(program, arguments).output().unwrap()
    }

    fn command(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Command {
        let claude = self.claude.parent().unwrap().display();
        let mut command = Command::new(program.as_ref());
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .env("CLAUDE_CONFIG_DIR", self.path().join(".claude"))
            .env("PATH", format!("{claude}:/usr/bin:/bin"))
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1");
        command
    }

    pub fn claude(&self, arguments: &[&str]) -> Output {
        self.run(&self.claude, arguments)
    }

    /// Runs the client with variables more than it would have.
    pub fn claude_with(&self, arguments: &[&str], more: &[(&str, String)]) -> Output {
        let mut command = self.command(&self.claude, arguments);
        command.envs(more.iter().map(|(name, value)| (name, value)));
        command.output().unwrap()
    }

    /// Runs `spool` and returns what it printed; it must succeed.
    fn spool(&self, arguments: &[&str]) -> String {
        let output = self.run(SPOOL, arguments);
        assert!(output.status.success(), "spool {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The installed plugins, without those that the client brings itself.
    pub fn plugins(&self) -> Value {
        let output = self.claude(&["plugin", "list", "--json"]);
        assert!(output.status.success(), "{output:?}");
        let listed: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        let is_built_in = |plugin: &Value| plugin["id"].to_string().contains("@builtin");
        listed.into_iter().filter(|plugin| !is_built_in(plugin)).collect()
    }

    pub fn client(&self, version: &str, project: &Project, model: &ScriptedModel) -> Client {
        client(version, project, model).home(self.path())
    }
}

/// Every path below a folder, files and folders.
pub fn paths(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                waiting.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Fails unless the client finds nothing to say against the plugin in this folder, by the rules of the directory as well.
pub fn assert_valid(home: &Home, version: &str, folder: &Path) {
    let profile: &[&str] = match version {
        // It has no profiles yet.
        "2.1.143" => &[],
        _ => &["--profile", "directory", "--strict"],
    };
    let folder = folder.to_str().unwrap();
    let output = home.claude(&[&["plugin", "validate", folder], profile].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("Validation passed"), "{said}");
    for word in ["warning", "Warning", "error", "Error", "Advice", "⚠", "✘"] {
        assert!(!said.contains(word), "{word}: {said}");
    }
}

fn plugin_and_checkout_are_valid(version: &str) {
    let home = Home::new(version);
    let built = home.path().join("plugin");
    home.spool(&["plugin", "build", built.to_str().unwrap()]);
    for folder in [&built, Path::new(env!("CARGO_MANIFEST_DIR"))] {
        assert_valid(&home, version, folder);
    }
}

fn top_level_checkout_installs(version: &str) {
    let home = Home::new(version);
    let place = Project::new();
    let folder = checkout(&place);
    for name in ["plugin.json", "marketplace.json"] {
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(name), folder.join(name)).unwrap();
    }
    for arguments in [
        &["plugin", "marketplace", "add", folder.to_str().unwrap()][..],
        &["plugin", "install", "speckit@ralph-speckit"],
    ] {
        let output = home.claude(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
    let plugins = home.plugins();
    assert_eq!(plugins.as_array().unwrap().len(), 1, "{plugins:#}");
    assert_eq!(plugins[0]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&plugins[0]["enabled"], plugins[0].get("errors")), (&json!(true), None));
}

fn setup_enables_and_remove_clears(version: &str) {
    let home = Home::new(version);
    // What the client makes of an empty home by itself is not ours.
    assert_eq!(home.plugins(), json!([]));
    let before = paths(home.path());

    for _first_then_again in 0..2 {
        home.spool(&["setup"]);
        let plugins = home.plugins();
        assert_eq!(plugins.as_array().unwrap().len(), 1, "{plugins:#}");
        assert_eq!(plugins[0]["id"], "speckit@ralph-speckit");
        assert_eq!(plugins[0]["version"], "1.0.0");
        assert_eq!(plugins[0]["enabled"], true);
        assert_eq!(plugins[0].get("errors"), None, "{plugins:#}");
    }
    let told = home.spool(&["doctor"]);
    assert!(told.ends_with("all checks passed\n"), "{told}");

    home.spool(&["setup", "--remove"]);
    assert_eq!(home.plugins(), json!([]));
    let after = paths(home.path());
    let gone: Vec<_> = before.iter().filter(|path| !after.contains(path)).collect();
    assert_eq!(gone, Vec::<&PathBuf>::new());
    for path in after.iter().filter(|path| !before.contains(path)) {
        let relative = path.strip_prefix(home.path()).unwrap();
        // Lists that the client keeps once it ever had a plugin; they must be empty of ours.
        assert!(relative.starts_with(".claude"), "{} was left", relative.display());
        assert!(!relative.to_string_lossy().contains("speckit"), "{} was left", relative.display());
        if path.is_file() {
            let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
            assert!(!text.contains("speckit"), "{} still names it: {text}", relative.display());
        }
    }
}

fn installed_stop_hook_fires(version: &str) {
    let home = Home::new(version);
    home.spool(&["setup"]);
    let project = Project::new();
    project.write(".specify/feature.json", r#"{"feature_directory":"specs/001-notes"}"#);
    let tasks = project.write("specs/001-notes/tasks.md", "- [ ] T001 Write a note\n");
    let tick = json!({"file_path": tasks, "content": "- [x] T001 Write a note\n"});
    let read = json!({"file_path": tasks});
    let note = json!({"file_path": project.path().join("note.txt"), "content": "A note\n"});
    let model = ScriptedModel::playing(vec![
        Reply::text("I would rather stop."),
        Reply::text("The note.").and_tool("Write", note),
        Reply::text("So be it.").and_tool("Read", read),
        Reply::text("Ticked.").and_tool("Write", tick),
        Reply::text("ALL_TASKS_COMPLETE"),
    ]);
    let run = home.client(version, &project, &model).succeeds("/speckit:implement");
    let reasons = run.hook_feedbacks();
    assert_eq!(reasons.len(), 1, "{}", run.describe());
    assert!(reasons[0].starts_with("Continue feature: 001-notes"), "{}", reasons[0]);
    // The prompt that the model got is the command's body, with the hook's line beside it.
    let requests = model.main_requests();
    let asked = requests[0].messages().iter().map(Value::to_string).collect::<String>()
        + &requests[0].system_text();
    assert!(asked.contains("You are the **coordinator** of one feature"), "{asked}");
    assert!(asked.contains("ralph-speckit: the loop is armed"), "{asked}");
    home.spool(&["setup", "--remove"]);
}

/// Writes what can be started, from another process: one that this process still holds open, in a
/// child that another test just forked, could not be ("text file busy").
fn write_executable(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let status = Command::new("/bin/sh")
        .args(["-c", "printf %s \"$2\" >\"$1\" && chmod 755 \"$1\"", "sh"])
        .args([path.as_os_str(), text.as_ref()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// A checkout without programs: the files of the plugin, and the launchers.
fn checkout(project: &Project) -> PathBuf {
    for file in FILES {
        project.write(&format!("check out/{}", file.path), "");
        fs::write(project.path().join("check out").join(file.path), file.content).unwrap();
    }
    for name in ["ralph-hook", "spool"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("bin").join(name);
        let text = fs::read_to_string(from).unwrap();
        write_executable(&project.path().join("check out/bin").join(name), &text);
    }
    project.path().join("check out")
}

fn checkout_finds_installed_program(version: &str) {
    let home = Home::new(version);
    let place = Project::new();
    let project = Project::new();
    project.write(".claude/commands/other.md", "Speak of speckit:implement and $ARGUMENTS\n");
    let installed = home.path().join(".local/share/ralph-speckit/bin");
    let seen = home.path().join("seen");
    let script = format!("#!/bin/sh\n{{ cat; echo; }} >>'{}'\n", seen.display());
    for name in ["ralph-hook", "spool"] {
        write_executable(&installed.join(name), &script);
    }

    let events = |prompt: &str| {
        let model = ScriptedModel::playing(vec![Reply::text("All is said.")]);
        home.client(version, &project, &model).plugin(&checkout(&place)).succeeds(prompt);
        let text = fs::read_to_string(&seen).unwrap_or_default();
        let _forgotten = fs::remove_file(&seen);
        let lines = text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        json_lines(&lines)
            .iter()
            .map(|event| {
                let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
                (text("hook_event_name"), text("command_name"), text("command_args"))
            })
            .collect::<Vec<_>>()
    };
    let stop = || ("Stop".to_owned(), String::new(), String::new());
    let expansion = |command: &str, arguments: &str| {
        ("UserPromptExpansion".to_owned(), command.to_owned(), arguments.to_owned())
    };
    assert_eq!(
        events("/speckit:implement --max-iterations 3"),
        [expansion("speckit:implement", "--max-iterations 3"), stop()]
    );
    assert_eq!(
        events("/speckit:cancel 'a b'\n$(touch x)"),
        [expansion("speckit:cancel", "'a b'\n$(touch x)"), stop()]
    );
    assert_eq!(events("/speckit:status"), [expansion("speckit:status", ""), stop()]);
    assert_eq!(events("/other speckit:implement"), [stop()]);
    assert_eq!(events("speckit:implement, please"), [stop()]);
    assert!(!project.path().join("x").exists());
}

fn checkout_without_programs_says_once(version: &str) {
    let home = Home::new(version);
    let place = Project::new();
    let project = Project::new();
    let told = || {
        let model = ScriptedModel::playing(vec![Reply::text("All is said.")]);
        let run =
            home.client(version, &project, &model).plugin(&checkout(&place)).succeeds("hello");
        assert_eq!(run.hook_feedbacks(), [""; 0]);
        run.system_messages("Stop").iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()
    };
    let first = told();
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(first[0].contains("cargo install --path ."), "{first:?}");
    assert_eq!(told(), [""; 0]);
}

fn commands_ask_spool_alone(version: &str) {
    let home = Home::new(version);
    let place = Project::new();
    let project = Project::new();
    let tasks = project.write("specs/001-notes/tasks.md", "- [ ] T001 Write a note\n");
    let other = project.write("notes.md", "- [ ] T001 Write a note\n");
    let edit = |path: &Path| json!({"file_path": path, "old_string": "[ ]", "new_string": "[x]"});
    let model = ScriptedModel::playing(vec![
        Reply::tool("Read", json!({"file_path": tasks})),
        Reply::tool("Read", json!({"file_path": other})),
        Reply::tool("Edit", edit(&tasks)),
        Reply::tool("Edit", edit(&other)),
        Reply::tool("Bash", json!({"command": "spool status", "description": "status"})),
        Reply::tool("Bash", json!({"command": "spool task next", "description": "next"})),
        Reply::tool("Bash", json!({"command": "touch made", "description": "a file"})),
        Reply::text("All is said."),
    ]);
    let client = home.client(version, &project, &model).plugin(&checkout(&place));
    let mut command = client.command(&["-p", "/speckit:implement", "--output-format", "json"]);
    // The one flag that would allow everything is taken out again.
    let arguments: Vec<_> = command
        .get_args()
        .filter(|argument| *argument != "--dangerously-skip-permissions")
        .map(std::ffi::OsStr::to_owned)
        .collect();
    let mut asking = Command::new(command.get_program());
    asking.args(arguments).current_dir(project.path()).env_clear();
    for (name, value) in command.get_envs() {
        asking.env(name, value.unwrap_or_default());
    }
    command = asking;
    fs::create_dir_all(home.path().join("tmp")).unwrap();
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let denied: Vec<_> = result["permission_denials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|denial| {
            let input = &denial["tool_input"];
            input["file_path"].as_str().or(input["command"].as_str()).unwrap().to_owned()
        })
        .collect();
    // The program ticks boxes; by hand it takes a person's permission.
    let (tasks, other) = (tasks.to_str().unwrap(), other.to_str().unwrap());
    assert_eq!(denied, [tasks, other, "touch made"], "{result:#}");
    assert_eq!(project.read("specs/001-notes/tasks.md"), "- [ ] T001 Write a note\n");
}
