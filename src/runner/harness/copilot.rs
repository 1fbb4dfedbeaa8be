//! Copilot CLI.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;

use super::lines::{self, Errors, FinalText, Once, Refusals, Told};
use super::program::{self, Program, Version, Way};
use super::{
    Approval, Ending, Event, Harness, Input, Launch, Left, Missing, Order, Outcome, Reader, Report,
    Stream, Tokens, environment, sessions,
};
use crate::store::read;
use crate::world;

const PROGRAM: Program = Program {
    name: "copilot",
    title: "Copilot CLI",
    install: "npm install -g @github/copilot",
    set: &[("COPILOT_AUTO_UPDATE", "false")],
    oldest: None,
    proven: Version(1, 0, 102),
};

/// What standard error says when trying again does not help.
const LASTING: &[&str] = &["No session, task, or name matched", "No authentication information"];
/// What it says when there is no such session.
const GONE: &[&str] = &["No session, task, or name matched"];
/// The file in the iteration's own folder in which the program counts its tokens.
const USAGE: &str = "copilot-usage.json";
/// The most of that file that is read, in bytes.
const USAGE_SIZE: u64 = 1 << 20;

/// Copilot CLI.
#[derive(Clone, Copy, Debug)]
pub struct Copilot;

impl Harness for Copilot {
    fn name(&self) -> &'static str {
        PROGRAM.name
    }

    fn check(&self) -> Result<Option<String>> {
        Ok(PROGRAM.check()?.map(|version| version.to_string()))
    }

    fn launch(&self, order: &Order<'_>) -> Result<Launch> {
        let mut arguments = Vec::new();
        let input = match program::way(order.prompt)? {
            Way::Argument(prompt) => {
                arguments.extend(["-p".into(), prompt.into()]);
                Input::Nothing
            }
            Way::Input(input) => input,
        };
        arguments.extend(["--output-format".into(), "json".into()]);
        if order.approval == Approval::All {
            // `--allow-all-tools` alone still refuses what lies outside of the folder.
            arguments.push("--allow-all".into());
        }
        if let Some(model) = order.model {
            arguments.extend(["--model".into(), program::model(model)?.into()]);
        }
        arguments.extend(["--usage-output-file".into(), order.scratch.join(USAGE).into()]);
        if let Some(session) = order.resume {
            arguments.push(format!("--resume={}", program::session(session)?).into());
        }
        Ok(Launch {
            program: PROGRAM.name.into(),
            arguments,
            set: PROGRAM.set(),
            unset: environment::scrubbed(),
            input,
            ending: Ending::Terminate,
        })
    }

    fn reader(&self, order: &Order<'_>) -> Box<dyn Reader> {
        Box::new(CopilotReader::new(&order.scratch.join(USAGE), order.resume.is_some()))
    }

    fn session_folders(&self) -> Vec<PathBuf> {
        let own = world::folder("COPILOT_HOME");
        let folder = own.or_else(|| Some(world::folder("HOME")?.join(".copilot")));
        folder.map(|folder| folder.join("session-state")).into_iter().collect()
    }

    fn session_tokens(&self, session: &str, since: u64) -> Option<Tokens> {
        let is_its = |path: &Path| path.ends_with(Path::new(session).join("events.jsonl"));
        let mut sum: Option<Tokens> = None;
        sessions::read(&self.session_folders(), &is_its, &mut |line| {
            if line["type"] == "session.usage_record" && sessions::time(&line["timestamp"]) >= since
            {
                sum = Some(sum.unwrap_or_default().plus(used(&line["data"]["usage"])));
            }
        });
        sum
    }

    fn caution(&self, version: &str) -> Option<String> {
        PROGRAM.caution(version)
    }
}

/// Reads `--output-format json`, and the file with the tokens when the run is over.
#[derive(Debug, Default)]
pub(super) struct CopilotReader {
    usage: PathBuf,
    resumed: bool,
    text: FinalText,
    calls: Once,
    /// Tool calls that have begun, by id: their end does not name them.
    open: Vec<(String, String, String)>,
    refusals: Refusals,
    errors: Errors,
    session: Option<String>,
    model: Option<String>,
    /// Whether a turn of the agent is going on: a result in its middle is that of an end by force.
    in_turn: bool,
    failure: Option<Outcome>,
    exit: Option<i64>,
    failed_calls: u64,
    /// The status of the last failed answer, and what the service said in it.
    status: Option<u64>,
    answer: String,
}

/// Tool calls without an end that are remembered.
const OPEN: usize = 64;

impl CopilotReader {
    /// Returns a reader; the tokens are in the file at `usage`, which counts a resumed session from its
    /// first day.
    pub fn new(usage: &Path, resumed: bool) -> Self {
        Self { usage: usage.to_owned(), resumed, ..Self::default() }
    }

    fn message(&mut self, data: &Value, heard: &mut dyn FnMut(Event)) {
        if !data["parentToolCallId"].is_null() {
            return;
        }
        if let Some(model) = data["model"].as_str() {
            self.model = Some(lines::one_line(model, 120));
        }
        let text = data["content"].as_str().unwrap_or_default();
        if !text.is_empty() {
            heard(Event::Said(text.to_owned()));
        }
        if data["toolRequests"].as_array().is_none_or(Vec::is_empty) {
            self.text.set(text);
        } else {
            self.text.clear();
        }
    }

    fn tool_start(&mut self, data: &Value, heard: &mut dyn FnMut(Event)) {
        let id = data["toolCallId"].as_str().unwrap_or_default();
        let tool = lines::one_line(data["toolName"].as_str().unwrap_or("?"), 80);
        let what = lines::what(&data["arguments"]);
        if self.open.len() == OPEN {
            self.open.remove(0);
        }
        self.open.push((id.to_owned(), tool.clone(), what.clone()));
        heard(Event::Called { tool, what });
    }

    fn tool_complete(&mut self, data: &Value, heard: &mut dyn FnMut(Event)) {
        let id = data["toolCallId"].as_str().unwrap_or_default();
        if !self.calls.is_new(id) {
            return;
        }
        let at = self.open.iter().position(|(open, ..)| open == id);
        let (_, tool, what) = at.map(|at| self.open.remove(at)).unwrap_or_default();
        self.failed_calls += u64::from(data["success"] == false);
        if data["error"]["code"] == "denied" {
            let tool = if tool.is_empty() { "a tool".to_owned() } else { tool };
            heard(Event::Trouble(lines::message(&format!("{tool} was refused"), &what)));
            self.refusals.add(&tool, &what);
        }
    }

    fn error(&mut self, data: &Value, heard: &mut dyn FnMut(Event)) {
        let said = lines::words(data["message"].as_str().unwrap_or_default());
        heard(Event::Trouble(said.clone()));
        let message = lines::message("`copilot` failed", &said);
        self.status = data["statusCode"].as_u64();
        self.failure = Some(match data["errorType"].as_str() {
            // What the service itself has said says more: no credit is a 429, too.
            _ if lines::is_lasting(&self.answer) => {
                Outcome::Lasting(lines::message(&message, &self.answer))
            }
            Some("rate_limit" | "quota") => Outcome::UsageLimit { resets_at: None, words: said },
            Some("authentication" | "authorization") => Outcome::Lasting(message),
            _ => lines::failure(self.status, &said, message),
        });
    }

    fn told(&self) -> Told {
        match (self.exit, &self.failure) {
            (None, None) => Told::Nothing,
            (_, Some(failure)) => Told::Failure(failure.clone()),
            (Some(0), None) if self.in_turn => Told::Failure(Outcome::Failed(
                "`copilot` was ended in the middle of a turn".to_owned(),
            )),
            (Some(0), None) => Told::Result,
            (Some(code), None) => {
                Told::Failure(Outcome::Failed(format!("`copilot` failed with exit code {code}")))
            }
        }
    }

    /// The tokens of the session, from the program's own file; it counts what came from a cache as sent.
    fn tokens(&self) -> Option<Tokens> {
        let file = read::read(&self.usage, USAGE_SIZE).ok()?;
        let usage: Value = serde_json::from_slice(&file.bytes).ok()?;
        let models = usage["modelMetrics"].as_object()?;
        Some(models.values().fold(Tokens::default(), |sum, model| sum.plus(used(&model["usage"]))))
    }
}

/// What a usage counts; what came from a cache is in its input.
fn used(usage: &Value) -> Tokens {
    let cached = lines::number(&usage["cacheReadTokens"]);
    let written = lines::number(&usage["cacheWriteTokens"]);
    Tokens {
        input: lines::number(&usage["inputTokens"]).saturating_sub(cached.saturating_add(written)),
        output: lines::number(&usage["outputTokens"]),
        cache_read: cached,
        cache_write: written,
    }
}

impl Reader for CopilotReader {
    fn line(&mut self, stream: Stream, line: &[u8], heard: &mut dyn FnMut(Event)) {
        if stream == Stream::Errors {
            self.errors.add(line);
            return;
        }
        let Some(kind) = lines::kind(line) else {
            return;
        };
        let wanted = matches!(
            kind.as_str(),
            "assistant.turn_start"
                | "assistant.turn_end"
                | "assistant.message"
                | "tool.execution_start"
                | "tool.execution_complete"
                | "model.call_failure"
                | "session.warning"
                | "session.error"
                | "user.message"
                | "result"
        );
        let Some(line) = wanted.then(|| lines::value(line)).flatten() else {
            return;
        };
        let data = &line["data"];
        match kind.as_str() {
            "assistant.turn_start" => {
                self.in_turn = true;
                self.failure = None;
                self.answer.clear();
            }
            "assistant.turn_end" => self.in_turn = false,
            "assistant.message" => self.message(data, heard),
            // The prompt, or a hook that sent the agent back: what it said was not its last word.
            "user.message" => self.text.clear(),
            "tool.execution_start" => self.tool_start(data, heard),
            "tool.execution_complete" => self.tool_complete(data, heard),
            "model.call_failure" => {
                let status =
                    data["statusCode"].as_u64().map_or(String::new(), |it| format!(" ({it})"));
                let said = data["errorMessage"].as_str().unwrap_or_default();
                self.answer = lines::words(said);
                heard(Event::Trouble(lines::message(
                    &format!("the model did not answer{status}"),
                    said,
                )));
            }
            "session.warning" => {
                let said = data["message"].as_str().unwrap_or_default();
                heard(Event::Trouble(lines::words(said)));
            }
            "session.error" => self.error(data, heard),
            "result" => {
                self.session = lines::session(&line["sessionId"]);
                self.exit = line["exitCode"].as_i64();
                heard(Event::Finished);
            }
            _ => {}
        }
    }

    fn report(&mut self, left: &Left) -> Report {
        let told = self.told();
        let mut outcome = lines::outcome(PROGRAM.name, &told, left, &self.errors, LASTING);
        if self.resumed {
            outcome = lines::resumed(outcome, &told, &self.errors, GONE);
        }
        let tokens = self.tokens();
        Report {
            final_text: self.text.take(),
            tool_calls: Some(self.calls.count()),
            failed_calls: self.failed_calls,
            denied: self.refusals.take(),
            session: self.session.take(),
            tokens,
            status: self.status,
            missing: Missing::Nothing,
            tokens_of_session: self.resumed,
            model: self.model.take(),
            outcome,
        }
    }
}
