//! Copilot CLI.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;

use super::lines::{self, StreamEnd};
use super::permissions::{Accepts, Letters, ToolRule};
use super::stream::{self, Format, RunState, StreamReader, Take, text};
use super::{
    AgentOrder, AgentReport, Approval, ExitInfo, Harness, Launch, Missing, OutputReader,
    RunOutcome, TokenUsage, TokensKnown, adapter::KnownProgram, program, sessions,
};
use crate::exec::version::Version;
use crate::store::read;
use crate::world::WallTime;

const PROGRAM: KnownProgram = KnownProgram {
    name: "copilot",
    install: "npm install -g @github/copilot",
    set: &[("COPILOT_AUTO_UPDATE", "false")],
    oldest: None,
    proven: Version(1, 0, 102),
    lasting: &["No session, task, or name matched", "No authentication information"],
    gone: &["No session, task, or name matched"],
    accepts: ACCEPTS,
};

/// Only reading is left: Copilot CLI knows no other tool.
const READ_ONLY: [&str; 3] =
    ["--available-tools=view,grep,glob", "--disable-builtin-mcps", "--no-custom-instructions"];
/// Copilot CLI's token counts, in the iteration's own folder.
const USAGE: &str = "copilot-usage.json";
/// The longest usage file that is read, in bytes.
const USAGE_SIZE: u64 = 1 << 20;

/// Taken from the help of 1.0.102.
const ACCEPTS: Accepts = Accepts {
    title: "Copilot CLI",
    denies: "without --allow-all, Copilot CLI denies what it would ask you for: edits and commands",
    mode: None,
    allow: Some(ToolRule::Flag("--allow-tool")),
    deny: Some(ToolRule::Flag("--deny-tool")),
    settings: "flags of its own, as `-- --allow-url DOMAIN`",
    letters: Letters::WithValue,
    own: "-p --prompt -i --interactive --output-format --session-id --connect \
          --usage-output-file -s --silent -C --acp --remote -h --help -v --version",
    ours: &[
        ("--model", "--model"),
        ("--allow-all", "--allow-all"),
        ("--yolo", "--allow-all"),
        ("--allow-tool", "--allow"),
        ("--deny-tool", "--deny"),
        ("-r", "--continue-session"),
        ("--resume", "--continue-session"),
        ("--continue", "--continue-session"),
    ],
};

#[derive(Clone, Copy, Debug)]
pub struct Copilot;

impl Harness for Copilot {
    fn known(&self) -> Option<&'static KnownProgram> {
        Some(&PROGRAM)
    }

    fn launch(&self, order: &AgentOrder<'_>) -> Result<Launch> {
        let mut arguments: Vec<OsString> = Vec::new();
        let (prompt, input) = program::way(order.prompt)?;
        if let Some(prompt) = prompt {
            arguments.extend(["-p".into(), prompt.into()]);
        }
        arguments.extend(order.permissions.arguments(&ACCEPTS).into_iter().map(Into::into));
        arguments.extend(["--output-format".into(), "json".into()]);
        if order.approval == Approval::All {
            // `--allow-all-tools` alone still refuses paths outside of the folder.
            arguments.push("--allow-all".into());
        }
        if order.approval == Approval::ReadOnly {
            arguments.extend(READ_ONLY.map(Into::into));
            arguments.extend(["--add-dir".into(), order.folder.into()]);
        }
        if let Some(model) = order.model {
            arguments.extend(["--model".into(), program::model(model)?.into()]);
        }
        arguments.extend(["--usage-output-file".into(), order.scratch.join(USAGE).into()]);
        if let Some(session) = order.resume {
            arguments.push(format!("--resume={}", program::session(session)?).into());
        }
        Ok(Launch { folder: order.own_folder(), ..PROGRAM.launch(arguments, input) })
    }

    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader> {
        let usage = order.scratch.join(USAGE);
        Box::new(StreamReader::new(CopilotStream { usage, ..CopilotStream::default() }, order))
    }

    fn session_folders(&self) -> Vec<PathBuf> {
        let folder = program::home("COPILOT_HOME", ".copilot");
        folder.map(|folder| folder.join("session-state")).into_iter().collect()
    }

    fn reports_tokens(&self) -> TokensKnown {
        TokensKnown::AtTheEnd
    }

    fn session_tokens(&self, session: &str, since: WallTime) -> Option<TokenUsage> {
        let is_its = |path: &Path| path.ends_with(Path::new(session).join("events.jsonl"));
        let mut sum = None;
        sessions::read(&self.session_folders(), &is_its, &mut |line| {
            if line["type"] == "session.usage_record" && sessions::time(&line["timestamp"]) >= since
            {
                used(&line["data"]["usage"]).add_to(&mut sum);
            }
        });
        sum
    }
}

/// The events of `--output-format json`, and the usage file behind the run's end.
#[derive(Debug, Default)]
struct CopilotStream {
    /// The usage file; a resumed session counts from its first day.
    usage: PathBuf,
    /// A turn is running: a result within a turn comes from a forced end.
    in_turn: bool,
    failure: Option<RunOutcome>,
    exit: Option<i64>,
    /// The service's words in its last failed answer.
    answer: String,
}

impl CopilotStream {
    fn turn_start(&mut self, _: &mut RunState, _: &Value) {
        self.in_turn = true;
        self.failure = None;
        self.answer.clear();
    }

    fn message(_: &mut Self, run: &mut RunState, line: &Value) {
        let data = &line["data"];
        if !data["parentToolCallId"].is_null() {
            return;
        }
        run.model = stream::model(&data["model"]).or(run.model.take());
        let content = text(&data["content"]);
        if !content.is_empty() {
            run.says(content);
        }
        if data["toolRequests"].as_array().is_none_or(Vec::is_empty) {
            run.text.set(content);
        } else {
            run.text.clear();
        }
    }

    fn tool_start(_: &mut Self, run: &mut RunState, line: &Value) {
        let data = &line["data"];
        let (tool, what) = (stream::tool(&data["toolName"]), lines::what(&data["arguments"]));
        run.begins(text(&data["toolCallId"]), tool, what);
    }

    fn tool_complete(_: &mut Self, run: &mut RunState, line: &Value) {
        let data = &line["data"];
        let id = text(&data["toolCallId"]);
        if !run.calls.is_new(id) {
            return;
        }
        let is_denied = data["error"]["code"] == "denied";
        if let Some((tool, what)) = run.returns(id, is_denied, data["success"] == false) {
            run.refuses(if tool.is_empty() { "a tool" } else { &tool }, &what);
        }
    }

    fn call_failure(&mut self, run: &mut RunState, line: &Value) {
        let data = &line["data"];
        let status =
            data["statusCode"].as_u64().map_or(String::new(), |status| format!(" ({status})"));
        let said = text(&data["errorMessage"]);
        self.answer = lines::words(said);
        run.trouble(lines::message(&format!("the model did not answer{status}"), said));
    }

    fn error(&mut self, run: &mut RunState, line: &Value) {
        let data = &line["data"];
        let said = lines::words(text(&data["message"]));
        run.trouble(said.clone());
        let message = lines::message("`copilot` failed", &said);
        run.status = data["statusCode"].as_u64();
        self.failure = Some(match text(&data["errorType"]) {
            // The service's own words outrank the type: no credit is a 429, too.
            _ if lines::is_lasting(&self.answer) => {
                RunOutcome::Lasting(lines::message(&message, &self.answer))
            }
            "rate_limit" | "quota" => RunOutcome::UsageLimit { resets_at: None, words: said },
            "authentication" | "authorization" => RunOutcome::Lasting(message),
            _ => lines::failure(run.status, &said, message),
        });
    }

    fn result(&mut self, run: &mut RunState, line: &Value) {
        run.session = lines::session(&line["sessionId"]);
        self.exit = line["exitCode"].as_i64();
        run.finished();
    }

    fn stream_end(&self) -> StreamEnd {
        match (self.exit, &self.failure) {
            (None, None) => StreamEnd::Nothing,
            (_, Some(failure)) => StreamEnd::Failure(failure.clone()),
            (Some(0), None) if self.in_turn => StreamEnd::Failure(RunOutcome::Failed(
                "`copilot` was ended in the middle of a turn".to_owned(),
            )),
            (Some(0), None) => StreamEnd::Result,
            (Some(code), None) => StreamEnd::Failure(RunOutcome::Failed(format!(
                "`copilot` failed with exit code {code}"
            ))),
        }
    }

    /// The session's tokens, from the usage file.
    fn tokens(&self) -> Option<TokenUsage> {
        let file = read::read(&self.usage, USAGE_SIZE).ok()?;
        let usage: Value = serde_json::from_slice(&file.bytes).ok()?;
        let models = usage["modelMetrics"].as_object()?.values();
        Some(TokenUsage::sum(models.map(|model| used(&model["usage"]))).unwrap_or_default())
    }
}

/// The input includes cached tokens.
fn used(usage: &Value) -> TokenUsage {
    let names = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"];
    TokenUsage::of_all_in(usage, names)
}

impl Format for CopilotStream {
    fn reads(kind: &str) -> Option<Take<Self>> {
        Some(match kind {
            "assistant.turn_start" => Self::turn_start,
            "assistant.turn_end" => |format, _, _| format.in_turn = false,
            "assistant.message" => Self::message,
            // The prompt, or a hook that sent the agent back: the words before were not its last.
            "user.message" => |_, run, _| run.text.clear(),
            "tool.execution_start" => Self::tool_start,
            "tool.execution_complete" => Self::tool_complete,
            "model.call_failure" => Self::call_failure,
            "session.warning" => {
                |_, run, line| run.trouble(lines::words(text(&line["data"]["message"])))
            }
            "session.error" => Self::error,
            "result" => Self::result,
            _ => return None,
        })
    }

    fn report(&mut self, run: &mut RunState, left: &ExitInfo) -> AgentReport {
        run.stream_end = self.stream_end();
        run.tokens = self.tokens();
        let report = run.report(&PROGRAM, left);
        AgentReport { missing: Missing::Nothing, tokens_of_session: run.resumed, ..report }
    }
}
