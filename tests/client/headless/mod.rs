//! The real Claude Code, started headless in a scratch home against a scripted model.

mod group;
mod run;

pub use run::{ClientRun, Heard, heard};

use anyhow::{Context, Result};
use run::{read_transcripts, transcript_lengths};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// How the real Claude Code is to be started. Runs of one `Client` share its home, so a session can be resumed.
#[derive(Clone, Debug)]
pub struct Client {
    program: PathBuf,
    project: PathBuf,
    model_url: String,
    home: Home,
    permission_mode: Option<String>,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    limit: Duration,
}

/// What the client takes for a person's home. A temporary one goes with the last copy of the client.
#[derive(Clone, Debug)]
enum Home {
    Temporary(Arc<TempDir>),
    Given(PathBuf),
}

impl Client {
    /// A client that runs `program` in `project` against the model at `model_url`, in a new temporary home.
    pub fn new(program: &Path, project: &Path, model_url: &str) -> Result<Client> {
        let temporary =
            TempDir::with_prefix("headless-").context("no temporary folder for a scratch home")?;
        Ok(Client {
            program: program.to_owned(),
            project: project.to_owned(),
            model_url: model_url.to_owned(),
            home: Home::Temporary(Arc::new(temporary)),
            permission_mode: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            limit: Duration::from_mins(5),
        })
    }

    /// Uses a given folder as `HOME` instead of a temporary one; it stays when the client is gone.
    #[must_use]
    pub fn home(mut self, home: &Path) -> Client {
        self.home = Home::Given(home.to_owned());
        self
    }

    /// Asks for permissions in this mode, such as `default` or `acceptEdits`; without it, every tool is allowed.
    #[must_use]
    pub fn permission_mode(mut self, mode: &str) -> Client {
        self.permission_mode = Some(mode.to_owned());
        self
    }

    /// Loads the plugin in a folder for every run.
    #[must_use]
    pub fn plugin(self, folder: &Path) -> Client {
        self.argument("--plugin-dir").argument(folder)
    }

    /// Loads a settings file for every run.
    #[must_use]
    pub fn settings(self, file: &Path) -> Client {
        self.argument("--settings").argument(file)
    }

    /// Gives a new session this identifier, which must be a UUID.
    #[must_use]
    pub fn session(self, session_id: &str) -> Client {
        self.argument("--session-id").argument(session_id)
    }

    /// Resumes the session with this identifier, which an earlier run of the same home has left.
    #[must_use]
    pub fn resume(self, session_id: &str) -> Client {
        self.argument("--resume").argument(session_id)
    }

    /// Adds one argument of the client's command line.
    #[must_use]
    pub fn argument(mut self, argument: impl AsRef<OsStr>) -> Client {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds one variable to the environment, which is otherwise empty but for `PATH` and what the client needs.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Client {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Sets the time after which a run is killed with everything it started; five minutes without it.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Client {
        self.limit = limit;
        self
    }

    /// The folder that the client takes for the person's home.
    pub fn home_folder(&self) -> &Path {
        match &self.home {
            Home::Temporary(folder) => folder.path(),
            Home::Given(folder) => folder,
        }
    }

    /// The folder where the client keeps its settings, plugins and transcripts.
    pub fn config_folder(&self) -> PathBuf {
        self.home_folder().join(".claude")
    }

    /// Runs one prompt to its end, headless, and returns all that was seen of it.
    pub fn run(&self, prompt: &str) -> Result<ClientRun> {
        self.run_watched(prompt, &mut |_| {})
    }

    /// Runs one prompt as `run` does; the test fails unless it ends well.
    #[track_caller]
    pub fn succeeds(&self, prompt: &str) -> ClientRun {
        let run = self.run(prompt).expect("a run");
        assert!(run.is_success(), "{}", run.describe());
        run
    }

    /// Runs one prompt as `run` does and shows `watch` every line of the client's output as it comes.
    pub fn run_watched(&self, prompt: &str, watch: &mut dyn FnMut(&Value)) -> Result<ClientRun> {
        let config = self.config_folder();
        let temporary = self.home_folder().join("tmp");
        for folder in [&config, &temporary] {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make `{}`", folder.display()))?;
        }
        let before = transcript_lengths(&config);
        let command = self.command(&["-p", prompt, "--output-format", "stream-json", "--verbose"]);
        let mut run = ClientRun::default();
        let ended = group::run(command, self.limit, &mut |line| {
            if let Some(value) = run.take_line(line) {
                watch(value);
            }
        })
        .with_context(|| format!("cannot start `{}`", self.program.display()))?;
        run.exit_code = ended.status.and_then(|status| status.code());
        run.timed_out = ended.timed_out();
        run.stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        run.transcript = read_transcripts(&config, &before);
        Ok(run)
    }

    /// The command with its arguments, folder and environment, the headless ones first.
    ///
    /// Also for a caller that runs it under a terminal of its own.
    pub fn command(&self, first: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(first);
        match &self.permission_mode {
            Some(mode) => command.args(["--permission-mode", mode]),
            None => command.arg("--dangerously-skip-permissions"),
        };
        command.args(&self.arguments);
        command.current_dir(&self.project).env_clear();
        // The environment is cleared because a person's own keys, proxies and settings have no place in a test.
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
            .env("HOME", self.home_folder())
            .env("CLAUDE_CONFIG_DIR", self.config_folder())
            .env("TMPDIR", self.home_folder().join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("ANTHROPIC_BASE_URL", &self.model_url)
            .env("ANTHROPIC_API_KEY", "scripted-model")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1")
            // Without it the client refuses to run as root with permissions skipped.
            .env("IS_SANDBOX", "1")
            // A model on this machine answers or is gone: a client whose test was interrupted ends within seconds.
            .env("CLAUDE_CODE_MAX_RETRIES", "2");
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command
    }
}
