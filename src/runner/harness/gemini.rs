//! Gemini CLI.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::lines::{self, StreamEnd};
use super::permissions::{Accepts, Letters, ToolRule};
use super::stream::{self, Format, RunState, StreamReader, Take, text};
use super::usage::MessageUsage;
use super::{
    AgentOrder, AgentReport, Approval, ExitInfo, Harness, Launch, OutputReader, RunOutcome,
    TokenUsage, adapter::KnownProgram, program, sessions,
};
use crate::exec::version::Version;
use crate::world::{self, WallTime};

/// Only reading is left: the plan mode, and no tool server.
const READ_ONLY: [&str; 5] =
    ["--approval-mode", "plan", "--skip-trust", "--allowed-mcp-server-names", "none"];
const PROGRAM: KnownProgram = KnownProgram {
    name: "gemini",
    install: "npm install -g @google/gemini-cli",
    // One process instead of two, so that a signal reaches the working one.
    set: &[("GEMINI_CLI_NO_RELAUNCH", "true")],
    oldest: None,
    proven: Version(0, 61, 0),
    // Exit codes tell.
    lasting: &[],
    gone: &[],
    accepts: ACCEPTS,
};

/// Gemini CLI's exit codes: no login, bad input such as an unknown session, bad settings, an untrusted folder.
const LASTING: [i32; 4] = [41, 42, 52, 55];
/// A failed answer's exit code is the last byte of its HTTP status.
const UNAUTHORIZED: i32 = 401 - 256;
const FORBIDDEN: i32 = 403 - 256;
const TOO_MANY: i32 = 429 - 256;
/// A missing session has this exit code, too.
const BAD_INPUT: i32 = 42;
/// Gemini CLI's words for a missing session.
const GONE: &[&str] = &["Error resuming session"];
const DAILY_QUOTA: &str = "exhausted your daily quota";

/// Taken from the help of 0.61.0.
const ACCEPTS: Accepts = Accepts {
    title: "Gemini CLI",
    denies: "without --allow-all, Gemini CLI has no tool to write files or to run commands",
    mode: Some(("--approval-mode", &["default", "auto_edit", "plan"])),
    allow: Some(ToolRule::Flag("--allowed-tools")),
    deny: None,
    settings: "its policies or .gemini/settings.json",
    letters: Letters::InGroups,
    own: "-p --prompt -i --prompt-interactive -o --output-format --session-id --session-file \
          --acp --experimental-acp -l --list-extensions --list-sessions --delete-session -w \
          --worktree -h --help -v --version",
    ours: &[
        ("-m", "--model"),
        ("--model", "--model"),
        ("-y", "--allow-all"),
        ("--yolo", "--allow-all"),
        ("--approval-mode", "--permission-mode"),
        ("--allowed-tools", "--allow"),
        ("-r", "--continue-session"),
        ("--resume", "--continue-session"),
    ],
};

#[derive(Clone, Copy, Debug)]
pub struct Gemini;

impl Harness for Gemini {
    fn known(&self) -> Option<&'static KnownProgram> {
        Some(&PROGRAM)
    }

    fn launch(&self, order: &AgentOrder<'_>) -> Result<Launch> {
        let mut arguments = Vec::new();
        let (prompt, input) = program::way(order.prompt)?;
        if let Some(prompt) = prompt {
            arguments.extend(["-p", prompt]);
        }
        if let Some(model) = order.model {
            arguments.extend(["-m", program::model(model)?]);
        }
        let permitted = order.permissions.arguments(&ACCEPTS);
        arguments.extend(permitted.iter().map(String::as_str));
        arguments.extend(["-o", "stream-json"]);
        if order.approval == Approval::All {
            // An untrusted folder needs the second flag, or the first is ignored.
            arguments.extend(["--yolo", "--skip-trust"]);
        }
        if order.approval == Approval::ReadOnly {
            let project = order.folder.to_str().context("the path of the project is no UTF-8")?;
            arguments.extend(READ_ONLY);
            arguments.extend(["--include-directories", project]);
        }
        if let Some(session) = order.resume {
            arguments.extend(["-r", program::session(session)?]);
        }
        Ok(Launch { folder: order.own_folder(), ..PROGRAM.launch(arguments, input) })
    }

    /// Gemini CLI reads them in every folder that it is shown, whatever its settings say.
    fn instructions(&self) -> Option<&'static str> {
        Some("GEMINI.md")
    }

    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader> {
        let format = GeminiStream { approval: order.approval, failed: false };
        Box::new(StreamReader::new(format, order))
    }

    fn session_folders(&self) -> Vec<PathBuf> {
        world::home().map(|home| home.join(".gemini").join("tmp")).into_iter().collect()
    }

    fn session_tokens(&self, session: &str, since: WallTime) -> Option<TokenUsage> {
        // `tmp/<project>/chats/session-<time>-<beginning of the id>.jsonl`
        let short: String = session.chars().take(8).collect();
        let is_its = |path: &Path| {
            let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
            path.extension().is_some_and(|extension| extension == "jsonl") && name.ends_with(&short)
        };
        let mut messages = MessageUsage::default();
        let mut is_meant = false;
        sessions::read(&self.session_folders(), &is_its, &mut |line| {
            // The first line has the full session id.
            if let Some(whose) = line["sessionId"].as_str() {
                is_meant = whose == session;
            }
            let tokens = &line["tokens"];
            let (true, Some(id), true) = (is_meant, line["id"].as_str(), tokens.is_object()) else {
                return;
            };
            if sessions::time(&line["timestamp"]) >= since {
                let input = lines::number(&tokens["input"]);
                let output = lines::number(&tokens["total"]).saturating_sub(input);
                let cache_read = lines::number(&tokens["cached"]);
                let used = TokenUsage { input, output, cache_read, cache_write: 0 };
                messages.add(id, used.of_all_input());
            }
        });
        messages.sum()
    }
}

/// The service's words in a failed answer: `[API Error: …]`.
fn api_error(said: &str) -> &str {
    said.strip_prefix("[API Error: ").unwrap_or(said)
}

/// The events of `-o stream-json`.
#[derive(Debug)]
struct GeminiStream {
    /// Decides whether a missing tool was refused: without consent, it was.
    approval: Approval,
    /// The service failed to answer.
    failed: bool,
}

impl GeminiStream {
    fn init(_: &mut Self, run: &mut RunState, line: &Value) {
        run.session = lines::session(&line["session_id"]).or(run.session.take());
        run.model = stream::model(&line["model"]);
    }

    fn message(_: &mut Self, run: &mut RunState, line: &Value) {
        if line["role"] == "assistant" {
            run.text.add(text(&line["content"]));
            run.says(text(&line["content"]));
        } else {
            // A new turn: the prompt, or a hook's words in its place.
            run.text.clear();
        }
    }

    fn tool_use(_: &mut Self, run: &mut RunState, line: &Value) {
        run.text.clear();
        let id = text(&line["tool_id"]);
        if run.calls.is_new(id) {
            run.begins(id, stream::tool(&line["tool_name"]), lines::what(&line["parameters"]));
        }
    }

    fn tool_result(&mut self, run: &mut RunState, line: &Value) {
        run.text.clear();
        let refused = match text(&line["error"]["type"]) {
            "policy_violation" | "execution_denied" => true,
            // Without consent, tools that need it are not registered.
            "tool_not_registered" => self.approval == Approval::Own,
            _ => false,
        };
        let (id, is_failed) = (text(&line["tool_id"]), line["status"] == "error");
        if let Some((tool, what)) = run.returns(id, refused, is_failed) {
            run.refuses(&tool, &what);
        }
    }

    fn error(_: &mut Self, run: &mut RunState, line: &Value) {
        let said = lines::words(text(&line["message"]));
        // A hook sent the agent back: the words before were not its last.
        if said.starts_with("Agent execution blocked") {
            run.text.clear();
        }
        run.trouble(said);
    }

    fn result(&mut self, run: &mut RunState, line: &Value) {
        run.finished();
        let stats = &line["stats"];
        if stats.is_object() {
            let input = lines::number(&stats["input_tokens"]);
            // Only the total includes thoughts.
            let rest = lines::number(&stats["total_tokens"]).saturating_sub(input);
            let output = lines::number(&stats["output_tokens"]).max(rest);
            let cache_read = lines::number(&stats["cached"]);
            let used = TokenUsage { input, output, cache_read, cache_write: 0 };
            run.uses(used.of_all_input());
        }
        if line["status"] == "success" {
            run.stream_end = StreamEnd::Result;
            return;
        }
        let said = text(&line["error"]["message"]);
        let message = lines::message("`gemini` failed", said);
        run.stream_end = StreamEnd::Failure(if said.contains(DAILY_QUOTA) {
            RunOutcome::UsageLimit { resets_at: None, words: lines::words(said) }
        } else {
            self.failed = true;
            lines::failure(None, api_error(said), message)
        });
    }
}

impl Format for GeminiStream {
    fn reads(kind: &str) -> Option<Take<Self>> {
        Some(match kind {
            "init" => Self::init,
            "message" => Self::message,
            "tool_use" => Self::tool_use,
            "tool_result" => Self::tool_result,
            "error" => Self::error,
            "result" => Self::result,
            _ => return None,
        })
    }

    fn error_line(&mut self, run: &mut RunState, line: &[u8]) {
        // Standard output does not show retries.
        if line.starts_with(b"Attempt ") {
            run.trouble(lines::words(&String::from_utf8_lossy(line)));
        }
    }

    fn report(&mut self, run: &mut RunState, left: &ExitInfo) -> AgentReport {
        // The exit code is the last byte of the HTTP status.
        let status = left.code.filter(|code| self.failed && (144..256).contains(code));
        run.status = status.and_then(|code| u64::try_from(code + 256).ok());
        let mut report = run.report(&PROGRAM, left);
        if let RunOutcome::Failed(message) = &report.outcome {
            let quota = run.errors.line_with(&[DAILY_QUOTA]);
            report.outcome = match left.code {
                Some(TOO_MANY) if quota.is_some() => RunOutcome::UsageLimit {
                    resets_at: None,
                    words: quota.unwrap_or_default().to_owned(),
                },
                Some(UNAUTHORIZED | FORBIDDEN) => RunOutcome::Lasting(message.clone()),
                Some(code) if LASTING.contains(&code) => RunOutcome::Lasting(message.clone()),
                // 404 has no exit code; standard error shows the status.
                Some(1) if run.errors.line_with(&["code: 404", "status: 404"]).is_some() => {
                    RunOutcome::Lasting(message.clone())
                }
                _ => report.outcome,
            };
        }
        if run.resumed && left.code == Some(BAD_INPUT) {
            report.outcome = lines::resumed(report.outcome, &run.stream_end, &run.errors, GONE);
        }
        report
    }
}
