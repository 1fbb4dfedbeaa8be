//! The five agent programs: which version is installed where, what each needs in its home, and how its model calls a tool.

use crate::left_out::left_out;
use ralph_speckit::runner::options::HarnessChoice;
use scripted_model::Reply;
use serde_json::json;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// An agent program, pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    Claude,
    /// The oldest that is driven.
    OldClaude,
    Codex,
    Opencode,
    Gemini,
    Copilot,
}

/// Makes one test of each function for each agent program; the function gets the program. Three words before the function say
/// when it is played with Claude Code, with Codex and with opencode: `gate` or `night`. With the others it is played by night.
/// A test whose program is not installed is left out with a line that says so, or fails where the program is demanded.
macro_rules! on_every_agent {
    ($($claude:ident $codex:ident $opencode:ident $test:ident)*) => {
        mod claude { $(crate::tier::play! { $claude $test crate::agent::Agent::Claude.play(super::$test) })* }
        mod claude_2_1_143 { $(crate::tier::play! { night $test crate::agent::Agent::OldClaude.play(super::$test) })* }
        mod codex { $(crate::tier::play! { $codex $test crate::agent::Agent::Codex.play(super::$test) })* }
        mod opencode { $(crate::tier::play! { $opencode $test crate::agent::Agent::Opencode.play(super::$test) })* }
        mod gemini { $(crate::tier::play! { night $test crate::agent::Agent::Gemini.play(super::$test) })* }
        mod copilot { $(crate::tier::play! { night $test crate::agent::Agent::Copilot.play(super::$test) })* }
    };
}
pub(crate) use on_every_agent;

/// The variable with the names of the programs that must be installed; the gate and the night set it.
const DEMANDED: &str = "RALPH_AGENTS_DEMANDED";

/// The versions that `scripts/fetch-clients` has behind this word: the newest one, and the oldest.
fn pinned(word: &str) -> (&'static str, &'static str) {
    let script = include_str!("../../scripts/fetch-clients");
    let line = script.lines().find_map(|line| line.strip_prefix(word)).unwrap();
    let versions = line.trim_matches('\'');
    versions.split_once(' ').unwrap_or((versions, versions))
}

impl Agent {
    const ALL: [Agent; 6] = [
        Agent::Claude,
        Agent::OldClaude,
        Agent::Codex,
        Agent::Opencode,
        Agent::Gemini,
        Agent::Copilot,
    ];

    /// Runs a test with this program, if it is installed.
    pub fn play(self, test: fn(Agent)) {
        if self.program().is_some() {
            return test(self);
        }
        let demanded = env::var(DEMANDED).unwrap_or_default();
        let wanted = if self.name() == "claude" { self.version() } else { self.name() };
        let advice = format!("`scripts/fetch-clients {wanted}` installs it");
        assert!(
            !demanded.split_whitespace().any(|name| name == self.name()),
            "{DEMANDED} demands {}, which is not installed\n{advice}",
            self.name()
        );
        left_out(&format!("{} {} is not installed; {advice}", self.name(), self.version()));
    }

    /// The name, as `--harness` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Agent::Claude | Agent::OldClaude => "claude",
            Agent::Codex => "codex",
            Agent::Opencode => "opencode",
            Agent::Gemini => "gemini",
            Agent::Copilot => "copilot",
        }
    }

    pub fn version(self) -> &'static str {
        match self {
            Agent::Claude => pinned("claude_versions=").0,
            Agent::OldClaude => pinned("claude_versions=").1,
            Agent::Codex => pinned("codex_version=").0,
            Agent::Opencode => pinned("opencode_version=").0,
            Agent::Gemini => pinned("gemini_version=").0,
            Agent::Copilot => pinned("copilot_version=").0,
        }
    }

    pub fn choice(self) -> HarnessChoice {
        match self {
            Agent::Claude | Agent::OldClaude => HarnessChoice::Claude,
            Agent::Codex => HarnessChoice::Codex,
            Agent::Opencode => HarnessChoice::Opencode,
            Agent::Gemini => HarnessChoice::Gemini,
            Agent::Copilot => HarnessChoice::Copilot,
        }
    }

    /// The model that is asked for, as `--model` takes it.
    pub fn model(self) -> &'static str {
        match self {
            Agent::Claude | Agent::OldClaude => "claude-sonnet-4-5",
            Agent::Opencode => "scripted/scripted",
            Agent::Gemini => "gemini-2.5-pro",
            Agent::Codex | Agent::Copilot => "scripted",
        }
    }

    /// The installed program, or nothing.
    pub fn program(self) -> Option<PathBuf> {
        let clients = env::var_os("RALPH_CLIENTS").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients"),
            PathBuf::from,
        );
        let modules = clients.join(self.folder()).join("node_modules");
        let found = match self {
            Agent::Claude | Agent::OldClaude => {
                below(&modules.join("@anthropic-ai"), "claude-code-", "claude")
            }
            Agent::Codex => below(&modules.join("@openai/codex/vendor"), "", "bin/codex"),
            Agent::Opencode => below(&modules, "opencode-", "bin/opencode"),
            Agent::Gemini => Some(modules.join(".bin/gemini")),
            Agent::Copilot => below(&modules.join("@github"), "copilot-", "copilot"),
        };
        found.filter(|path| path.is_file())
    }

    /// The installed program itself: a script looks for its modules beside itself, and not beside a link.
    pub fn installed(self) -> PathBuf {
        let program = self.program().expect("an installed program");
        fs::canonicalize(program).expect("a real path")
    }

    /// What `spool` asks the program before a loop, and what counts of the answer. Some programs take a second to answer.
    pub fn answers(self) -> Vec<(&'static str, String)> {
        let version = self.version();
        let version = match self {
            Agent::Claude | Agent::OldClaude => format!("{version} (Claude Code)"),
            Agent::Codex => format!("codex-cli {version}"),
            Agent::Copilot => format!("GitHub Copilot CLI {version}."),
            Agent::Opencode | Agent::Gemini => version.to_owned(),
        };
        let mut answers = vec![("--version", version)];
        if self.name() == "claude" {
            answers.push(("auth status", "{\"loggedIn\": true}".to_owned()));
        }
        answers
    }

    /// The folder in which `scripts/fetch-clients` installs it.
    fn folder(self) -> String {
        if self.name() == "claude" {
            return self.version().to_owned();
        }
        format!("{}-{}", self.name(), self.version())
    }

    /// Writes into the home what the program needs to ask the model at `url`, and returns the variables that it needs.
    ///
    /// Each is told to try a failed request again as seldom as it can be told.
    pub fn settle(self, home: &Path, url: &str) -> Vec<(&'static str, String)> {
        match self {
            Agent::Claude | Agent::OldClaude => vec![
                ("ANTHROPIC_BASE_URL", url.to_owned()),
                ("ANTHROPIC_API_KEY", "scratch-key".to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
                ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
                ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ],
            Agent::Codex => {
                let config = format!(
                    "model_provider = \"scripted\"\nmodel = \"scripted\"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n\
                     [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\nenv_key = \"SCRIPTED_KEY\"\n\
                     wire_api = \"responses\"\nrequires_openai_auth = false\nsupports_websockets = false\n\
                     request_max_retries = 0\nstream_max_retries = 0\n"
                );
                write(&home.join(".codex/config.toml"), &config);
                vec![("SCRIPTED_KEY", "scratch-key".to_owned())]
            }
            Agent::Opencode => {
                let model =
                    json!({"tool_call": true, "limit": {"context": 200_000, "output": 8000}});
                let provider = json!({
                    "npm": "@ai-sdk/openai-compatible",
                    "options": {"baseURL": format!("{url}/v1"), "apiKey": "scratch-key"},
                    "models": {"scripted": model},
                });
                let config = json!({"autoupdate": false, "share": "disabled", "provider": {"scripted": provider}});
                let folder = home.join(".config/opencode");
                write(&folder.join("opencode.json"), &config.to_string());
                // Without these two it would install this package at each start.
                let package = json!({"dependencies": {"@opencode-ai/plugin": self.version()}});
                let lock = json!({"packages": {"": package}});
                write(&folder.join("package-lock.json"), &lock.to_string());
                fs::create_dir(folder.join("node_modules")).expect("a folder in the home");
                vec![
                    ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
                    ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
                    ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1".to_owned()),
                    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".to_owned()),
                ]
            }
            Agent::Gemini => {
                let settings = json!({
                    "general": {"enableAutoUpdate": false, "maxAttempts": 1},
                    "privacy": {"usageStatisticsEnabled": false},
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                });
                write(&home.join(".gemini/settings.json"), &settings.to_string());
                vec![
                    ("GEMINI_API_KEY", "scratch-key".to_owned()),
                    ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
                ]
            }
            Agent::Copilot => vec![
                ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
                ("COPILOT_PROVIDER_API_KEY", "scratch-key".to_owned()),
                ("COPILOT_MODEL", "scripted".to_owned()),
                ("COPILOT_OFFLINE", "true".to_owned()),
                ("COPILOT_AUTO_UPDATE", "false".to_owned()),
            ],
        }
    }

    /// Lets the program work in a folder as a person has who trusts it; only Gemini CLI asks for that.
    pub fn trust(self, home: &Path, folder: &Path) {
        if self == Agent::Gemini {
            let trusted = json!({ folder.display().to_string(): "TRUST_FOLDER" });
            write(&home.join(".gemini/trustedFolders.json"), &trusted.to_string());
        }
    }

    /// A reply that calls the program's own tool for a shell command.
    pub fn shell(self, command: &str) -> Reply {
        match self {
            Agent::Claude | Agent::OldClaude => {
                Reply::tool("Bash", json!({"command": command, "description": "leave a trace"}))
            }
            Agent::Codex => Reply::tool("exec_command", json!({"cmd": command})),
            Agent::Opencode => {
                Reply::tool("bash", json!({"command": command, "description": "leave a trace"}))
            }
            Agent::Gemini => Reply::tool(
                "run_shell_command",
                json!({"command": command, "description": "leave a trace"}),
            ),
            Agent::Copilot => Reply::tool(
                "bash",
                json!({"command": command, "description": "leave a trace", "sessionId": "s1", "async": false, "initial_wait": 120}),
            ),
        }
    }

    /// A reply that calls the program's own tool for reading a file, which needs no consent; Codex has none besides its shell.
    pub fn reads(self, path: &Path) -> Reply {
        let (name, input) = match self {
            Agent::Claude | Agent::OldClaude => ("Read", json!({ "file_path": path })),
            Agent::Codex => return self.shell(&format!("cat '{}'", path.display())),
            Agent::Opencode => ("read", json!({ "filePath": path })),
            Agent::Gemini => ("read_file", json!({ "file_path": path })),
            Agent::Copilot => ("view", json!({ "path": path })),
        };
        Reply::tool(name, input)
    }

    /// A reply that calls the program's own tool for writing a file; Codex has none besides its shell.
    pub fn writes(self, path: &Path, text: &str) -> Reply {
        let (name, input) = match self {
            Agent::Claude | Agent::OldClaude => {
                ("Write", json!({"file_path": path, "content": text}))
            }
            Agent::Codex => {
                return self.shell(&format!("printf '%s' '{text}' > '{}'", path.display()));
            }
            Agent::Opencode => ("write", json!({"filePath": path, "content": text})),
            Agent::Gemini => ("write_file", json!({"file_path": path, "content": text})),
            Agent::Copilot => ("create", json!({"path": path, "file_text": text})),
        };
        Reply::tool(name, input)
    }
}

#[test]
fn document_names_the_tested_versions() {
    let document = include_str!("../../docs/agents.md");
    for agent in Agent::ALL {
        let row = format!("| {} | `{}` |", agent.version(), agent.name());
        assert!(document.contains(&row), "docs/agents.md has no row with {row}");
    }
}

/// The first `<folder>/<prefix>*/<name>` that is there.
fn below(folder: &Path, prefix: &str, name: &str) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path().join(name))
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    found.into_iter().next()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder in the home");
    fs::write(path, text).expect("a file in the home");
}
