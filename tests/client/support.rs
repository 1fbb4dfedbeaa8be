//! What the end-to-end tests share: the pinned clients, a throw-away project, and a hook that a test writes for itself.

use crate::headless::Client;
use ralph_speckit::world::{Deadline, pause};
use scripted_model::ScriptedModel;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Makes one test of each function for each pinned client; the function gets the client's version. Two words before the function
/// say when it is played with the newest client and with the oldest: `gate` or `night`.
macro_rules! on_every_client {
    ($($newest:ident $oldest:ident $test:ident)*) => {
        mod client_2_1_143 { $(crate::tier::play! { $oldest $test super::$test("2.1.143") })* }
        mod client_2_1_332 { $(crate::tier::play! { $newest $test super::$test("2.1.332") })* }
    };
}
pub(crate) use on_every_client;

/// A project folder that is gone after the test.
pub struct Project {
    /// What is removed after the test.
    _folder: TempDir,
    path: PathBuf,
}

impl Project {
    pub fn new() -> Project {
        Project::named("")
    }

    /// A project in a folder of this name, which is yet to be made; without a name, in one that is there.
    pub fn named(name: &str) -> Project {
        let folder = TempDir::with_prefix("project-").expect("a temporary project");
        let path = folder.path().join(name);
        Project { path, _folder: folder }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder"))
            .expect("a folder in the project");
        fs::write(&path, text).expect("a file in the project");
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }

    /// Writes a settings file with one shell script as the hook of one event, and returns the file's path.
    ///
    /// The script runs in the project and gets the event's JSON on its standard input.
    pub fn hook(&self, event: &str, script: &str) -> PathBuf {
        let program = self.program(&format!("hooks/{event}.sh"), script);
        let hook = json!({"type": "command", "command": program, "args": [], "timeout": 10});
        let settings = json!({"hooks": {event: [{"hooks": [hook]}]}});
        self.write(&format!("hooks/{event}.json"), &settings.to_string())
    }

    /// Writes a plugin with one command and with one shell script as the hook of one event, and returns the plugin's folder.
    pub fn plugin(
        &self,
        name: &str,
        command: &str,
        event: &str,
        matcher: &str,
        script: &str,
    ) -> PathBuf {
        let root = format!("plugins/{name}");
        self.program(&format!("{root}/bin/hook"), script);
        let manifest = json!({"name": name, "version": "1.0.0", "description": "a plugin of a test", "author": {"name": "a test"}});
        self.write(&format!("{root}/.claude-plugin/plugin.json"), &manifest.to_string());
        let body = format!(
            "---\ndescription: a command of a test\n---\nThe body of {command}: $ARGUMENTS\n"
        );
        self.write(&format!("{root}/commands/{command}.md"), &body);
        let hook = json!({
            "type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/hook", "args": [], "timeout": 10,
            "statusMessage": "a hook of a test",
        });
        let hooks = json!({"hooks": {event: [{"matcher": matcher, "hooks": [hook]}]}});
        self.write(&format!("{root}/hooks/hooks.json"), &hooks.to_string());
        self.path().join(root)
    }

    /// Writes a shell script that can be run.
    pub fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.write(name, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an executable file");
        path
    }
}

/// The pinned client of one version, in this project, answered by this model.
pub fn client(version: &str, project: &Project, model: &ScriptedModel) -> Client {
    Client::new(&program(version), project.path(), &model.url()).expect("a scratch home")
}

/// The program of one pinned client, or fails with the way to install it.
pub fn program(version: &str) -> PathBuf {
    let clients = std::env::var_os("RALPH_CLIENTS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients"),
        PathBuf::from,
    );
    let packages = clients.join(version).join("node_modules/@anthropic-ai");
    let mut programs: Vec<PathBuf> = fs::read_dir(&packages)
        .map(|entries| {
            entries
                .flatten()
                .map(|entry| entry.path().join("claude"))
                .filter(|path| path.is_file())
                .collect()
        })
        .unwrap_or_default();
    programs.sort();
    programs.into_iter().next().unwrap_or_else(|| {
        panic!(
            "no Claude Code {version} under `{}`\nrun `scripts/fetch-clients`, or `npm install --prefix {} @anthropic-ai/claude-code@{version}` \
             and name the folder above it in RALPH_CLIENTS",
            packages.display(),
            clients.join(version).display(),
        )
    })
}

/// Waits until a process is gone. One that nobody has reaped yet is gone too.
pub fn wait_until_gone(pid: &str) {
    let limit = Deadline::after(Duration::from_mins(1));
    loop {
        assert!(!limit.is_over(), "process {pid} is still there after a minute");
        let listing = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().expect("ps");
        let state = String::from_utf8_lossy(&listing.stdout).trim().to_owned();
        if state.is_empty() || state.starts_with('Z') {
            return;
        }
        pause(Duration::from_millis(20));
    }
}

/// The JSON objects in a file that holds one a line.
pub fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}
