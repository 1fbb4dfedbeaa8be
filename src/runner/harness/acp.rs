//! Any agent program that speaks the Agent Client Protocol: JSON-RPC, one message a line, on standard input and output.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::command::program_of;
use super::lines::{self, Once, StreamEnd};
use super::permissions::{Accepts, Letters, Permissions, ToolRule};
use super::stream::{self, RunState, list, text};
use super::{
    AgentEvent, AgentOrder, AgentReport, Approval, CallOutcome, ExitInfo, Harness, Input, Launch,
    Missing, OutputReader, RunOutcome, SoFar, Stream, TokenUsage, TokensKnown, Told, environment,
    program,
};

/// The version of the protocol.
const VERSION: u64 = 1;
/// The error code for a missing login.
const AUTH_REQUIRED: i64 = -32_000;
/// The JSON-RPC error code for an unknown method.
const NO_METHOD: i64 = -32_601;
/// The protocol's kinds of tools.
const KINDS: &str = "read, edit, delete, move, search, execute, think, fetch, switch_mode, other";

const EMPTY: &str =
    "the command after `acp:` is empty\nname a program, as in --harness \"acp:opencode acp\"";

const ACCEPTS: Accepts = Accepts {
    title: "an ACP agent",
    denies: "without --allow-all, what an ACP agent asks for is refused, except the kinds of tools in --allow",
    mode: None,
    allow: Some(ToolRule::Asked(KINDS)),
    deny: Some(ToolRule::Asked(KINDS)),
    settings: "the program's own settings",
    letters: Letters::WithValue,
    own: "",
    ours: &[],
};

#[derive(Clone, Debug)]
pub struct Acp {
    program: PathBuf,
    arguments: Vec<String>,
    /// The harness only reads a kept log.
    reads_log: bool,
}

impl Acp {
    /// Splits the line as a shell would, but starts no shell.
    pub fn new(line: &str) -> Result<Self> {
        let (program, arguments) = program_of(line)?.context(EMPTY)?;
        Ok(Self { program: program::from_here(program), arguments, reads_log: false })
    }

    /// A reader for the log of an iteration. The log of every program reads the same.
    pub fn of_log() -> Self {
        Self { program: PathBuf::from("agent"), arguments: Vec::new(), reads_log: true }
    }
}

impl Harness for Acp {
    fn name(&self) -> &'static str {
        "acp"
    }

    fn check(&self) -> Result<Option<String>> {
        if cfg!(windows) {
            bail!(
                "`--harness acp:…` does not work on Windows yet\nname another harness, or use WSL"
            );
        }
        program::is_there(&self.program)?;
        Ok(None)
    }

    fn launch(&self, order: &AgentOrder<'_>) -> Result<Launch> {
        program::by_input(order.prompt)?;
        if let Some(model) = order.model {
            program::model(model)?;
        }
        if let Some(session) = order.resume {
            program::session(session)?;
        }
        let arguments = self.arguments.iter().cloned();
        let arguments = arguments.chain(order.permissions.arguments(&ACCEPTS));
        let hello = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {
                "fs": { "readTextFile": false, "writeTextFile": false },
                "terminal": false,
            },
            "clientInfo": { "name": "spool", "version": env!("CARGO_PKG_VERSION") },
        });
        Ok(Launch {
            program: self.program.clone().into(),
            arguments: arguments.map(Into::into).collect(),
            unset: environment::scrubbed(),
            input: Input::Dialog(request(DialogStep::Initialize, &hello)),
            ..Launch::default()
        })
    }

    fn accepts(&self) -> Option<&'static Accepts> {
        Some(&ACCEPTS)
    }

    fn reports_tokens(&self) -> TokensKnown {
        TokensKnown::AtTheEnd
    }

    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader> {
        let name = self.program.file_name().unwrap_or(self.program.as_os_str());
        Box::new(AcpReader {
            name: lines::one_line(&name.to_string_lossy(), 80),
            prompt: order.prompt.to_owned(),
            folder: order.folder.to_string_lossy().into_owned(),
            model: order.model.map(str::to_owned),
            opening: match order.resume {
                _ if self.reads_log => SessionOpening::AsLogged,
                Some(session) => SessionOpening::Load(session.to_owned()),
                None => SessionOpening::New,
            },
            approval: order.approval,
            permissions: order.permissions.clone(),
            step: DialogStep::Initialize,
            cancelled: false,
            ended: Once::default(),
            sentence: String::new(),
            told: Told::default(),
            lost: true,
            counts_a_part: false,
            run: RunState::new(order),
        })
    }
}

/// The requests, in their order; a request's id is its place here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DialogStep {
    Initialize,
    NewSession,
    LoadSession,
    SetModel,
    SetOption,
    Prompt,
    Over,
}

impl DialogStep {
    fn method(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::NewSession => "session/new",
            Self::LoadSession => "session/load",
            Self::SetModel => "session/set_model",
            Self::SetOption => "session/set_config_option",
            Self::Prompt | Self::Over => "session/prompt",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum SessionOpening {
    New,
    Load(String),
    /// A kept log does not hold the request, so the answer decides.
    AsLogged,
}

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

fn request(step: DialogStep, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": step as u8, "method": step.method(), "params": params }))
}

/// The runner's side of the protocol.
#[derive(Debug)]
struct AcpReader {
    name: String,
    prompt: String,
    folder: String,
    model: Option<String>,
    opening: SessionOpening,
    approval: Approval,
    permissions: Permissions,
    step: DialogStep,
    cancelled: bool,
    /// The ids of ended tool calls.
    ended: Once,
    /// The agent's words arrive in pieces; these are not shown yet.
    sentence: String,
    told: Told,
    /// Some tokens are reported nowhere: all of them until the answer, part of them later.
    lost: bool,
    /// opencode's answer counts the model's last reply only.
    counts_a_part: bool,
    run: RunState,
}

impl AcpReader {
    fn asks(&mut self, step: DialogStep, params: &Value) {
        self.step = step;
        self.told.text.extend(request(step, params));
    }

    fn ends(&mut self, end: StreamEnd) {
        self.show();
        self.step = DialogStep::Over;
        self.run.stream_end = end;
        self.told.closes = true;
        self.run.finished();
    }

    fn fails(&mut self, outcome: RunOutcome) {
        self.ends(StreamEnd::Failure(outcome));
    }

    fn show(&mut self) {
        let words = std::mem::take(&mut self.sentence);
        if !words.trim().is_empty() {
            self.run.says(&words);
        }
    }

    fn message(&mut self, message: &Value) {
        // A log does not hold the request, so the answer tells which one it was.
        if self.opening == SessionOpening::AsLogged
            && self.step == DialogStep::NewSession
            && message["id"] == json!(DialogStep::LoadSession as u8)
            && message.get("method").is_none()
        {
            self.step = DialogStep::LoadSession;
            self.run.session = Some("loaded".to_owned());
        }
        match (message["method"].as_str(), message.get("id")) {
            (Some("session/request_permission"), Some(id)) => {
                self.permission(id, &message["params"]);
            }
            (Some("session/update"), None) => self.update(&message["params"]),
            (Some(_), Some(id)) => self.told.text.extend(line(&json!({
                "jsonrpc": "2.0",
                "id": id,
                "error": { "code": NO_METHOD, "message": "this client does not offer it" },
            }))),
            (_, None) => {}
            (None, Some(id)) if self.step == DialogStep::Over || *id != json!(self.step as u8) => {}
            (None, Some(_)) => match message.get("error").filter(|error| !error.is_null()) {
                Some(error) => self.error(error),
                None => self.result(&message["result"]),
            },
        }
    }

    fn error(&mut self, error: &Value) {
        let detail = ["details", "message"].iter().find_map(|name| error["data"][*name].as_str());
        let detail = detail.or_else(|| error["data"].as_str()).unwrap_or_default();
        let said = text(&error["message"]);
        let said = if detail.is_empty() { said.to_owned() } else { format!("{said}: {detail}") };
        let what = format!("`{}` answered `{}` with an error", self.name, self.step.method());
        let message = lines::message(&what, &said);
        let outcome = if error["code"].as_i64() == Some(AUTH_REQUIRED) {
            RunOutcome::Lasting(format!(
                "{message}\nlog in with `{}` itself, or set the key that it takes, then start again",
                self.name
            ))
        } else if self.step == DialogStep::LoadSession {
            RunOutcome::SessionGone(message)
        } else if self.step == DialogStep::Prompt {
            let words = if detail.is_empty() { &said } else { detail };
            // Some programs send the HTTP status as the error code.
            lines::failure(error["code"].as_u64(), words, message)
        } else {
            RunOutcome::Lasting(message)
        };
        self.fails(outcome);
    }

    fn result(&mut self, result: &Value) {
        match self.step {
            DialogStep::Initialize => self.initialized(result),
            DialogStep::NewSession | DialogStep::LoadSession => self.opened(result),
            DialogStep::SetModel | DialogStep::SetOption => {
                self.run.model.clone_from(&self.model);
                self.prompts();
            }
            DialogStep::Prompt => self.answered(result),
            DialogStep::Over => {}
        }
    }

    fn initialized(&mut self, result: &Value) {
        if result["protocolVersion"].as_u64() != Some(VERSION) {
            let version = lines::one_line(&result["protocolVersion"].to_string(), 20);
            return self.fails(RunOutcome::Lasting(format!(
                "`{}` speaks version {version} of the Agent Client Protocol, and this is {VERSION}\nupdate the older of the two",
                self.name
            )));
        }
        self.counts_a_part = result["agentInfo"]["name"] == "OpenCode";
        match self.opening.clone() {
            SessionOpening::New | SessionOpening::AsLogged => {
                let params = json!({ "cwd": self.folder, "mcpServers": [] });
                self.asks(DialogStep::NewSession, &params);
            }
            SessionOpening::Load(session) if result["agentCapabilities"]["loadSession"] == true => {
                let params = json!({ "sessionId": session, "cwd": self.folder, "mcpServers": [] });
                self.run.session = Some(session);
                self.asks(DialogStep::LoadSession, &params);
            }
            SessionOpening::Load(_) => self.fails(RunOutcome::Lasting(format!(
                "`{}` cannot continue a session\nleave --continue-session out",
                self.name
            ))),
        }
    }

    fn opened(&mut self, result: &Value) {
        if self.step == DialogStep::NewSession {
            self.run.session = lines::session(&result["sessionId"]);
        }
        let Some(session) = self.run.session.clone() else {
            return self.fails(RunOutcome::Lasting(format!(
                "`{}` gave its session no id that can be used\nupdate it",
                self.name
            )));
        };
        let mut options = list(&result["configOptions"]).iter();
        let option = options.find(|option| option["category"] == "model").unwrap_or(&Value::Null);
        let current = [&result["models"]["currentModelId"], &option["currentValue"]];
        self.run.model = current.into_iter().find_map(stream::model);
        let Some(model) = self.model.clone() else { return self.prompts() };
        let offered = list(&result["models"]["availableModels"]).iter();
        let mut names: Vec<&str> = offered.map(|model| text(&model["modelId"])).collect();
        if names.contains(&model.as_str()) {
            let params = json!({ "sessionId": session, "modelId": model });
            return self.asks(DialogStep::SetModel, &params);
        }
        let values = values(option);
        if values.contains(&model.as_str()) {
            let params = json!({ "sessionId": session, "configId": option["id"], "value": model });
            return self.asks(DialogStep::SetOption, &params);
        }
        names.extend(values);
        let (name, shown) = (&self.name, lines::words(&model));
        let why = if names.is_empty() {
            format!(
                "`{name}` does not let its client choose a model\nleave --model out, and say it in the program's own settings"
            )
        } else {
            format!("`{name}` has no model `{shown}`\nit has {}", lines::words(&names.join(", ")))
        };
        self.fails(RunOutcome::Lasting(why));
    }

    fn prompts(&mut self) {
        let prompt = std::mem::take(&mut self.prompt);
        let params = json!({
            "sessionId": self.run.session,
            "prompt": [{ "type": "text", "text": prompt }],
        });
        self.asks(DialogStep::Prompt, &params);
    }

    fn answered(&mut self, result: &Value) {
        self.run.tokens = TokenUsage::of_turn(&result["usage"]);
        self.lost = self.counts_a_part || self.run.tokens.is_none();
        if self.run.tokens.is_none() {
            // Gemini CLI counts in a field of its own, without thoughts.
            self.run.tokens = TokenUsage::of_quota(&result["_meta"]["quota"]["token_count"]);
        }
        match text(&result["stopReason"]) {
            "refusal" => self.fails(RunOutcome::Failed(format!(
                "`{}` ended its turn with `refusal`: the model does not do this",
                self.name
            ))),
            "cancelled" => self
                .fails(RunOutcome::Failed(format!("`{}` cancelled its turn by itself", self.name))),
            reason => {
                if matches!(reason, "max_tokens" | "max_turn_requests") {
                    self.run.trouble(format!("the agent stopped at its own limit, `{reason}`"));
                }
                self.ends(StreamEnd::Result);
            }
        }
    }

    fn update(&mut self, params: &Value) {
        // Updates before the prompt replay the loaded session.
        if self.step != DialogStep::Prompt {
            return;
        }
        let update = &params["update"];
        match text(&update["sessionUpdate"]) {
            "agent_message_chunk" => {
                let words = text(&update["content"]["text"]);
                self.run.text.add(words);
                self.sentence.push_str(words);
                if self.sentence.ends_with('\n') || self.sentence.len() > 4_096 {
                    self.show();
                }
            }
            "tool_call" | "tool_call_update" => {
                self.begins(update);
                let id = text(&update["toolCallId"]);
                let outcome = match text(&update["status"]) {
                    "completed" => CallOutcome::Done,
                    "failed" => CallOutcome::Failed,
                    _ => return,
                };
                if self.ended.is_new(id) {
                    self.run.failed_calls += u64::from(outcome == CallOutcome::Failed);
                    self.run.ends(id, outcome);
                }
            }
            "usage_update" if !self.run.resumed && update["cost"]["currency"] == "USD" => {
                self.run.costs(update["cost"]["amount"].as_f64().and_then(lines::millionths));
            }
            _ => {}
        }
    }

    /// Counts and shows a tool call once.
    fn begins(&mut self, call: &Value) {
        let id = text(&call["toolCallId"]);
        if id.is_empty() || !self.run.calls.is_new(id) {
            return;
        }
        self.show();
        self.run.text.clear();
        self.run.begins(id, kind(call), title(call));
    }

    /// A denied kind stays denied where all else is allowed.
    fn allows(&self, kind: &str) -> bool {
        let has = |kinds: &[String]| kinds.iter().any(|listed| listed == kind);
        let Permissions { allow, deny, .. } = &self.permissions;
        !has(deny) && (self.approval == Approval::All || has(allow))
    }

    fn permission(&mut self, id: &Value, params: &Value) {
        let call = &params["toolCall"];
        self.begins(call);
        let call_id = text(&call["toolCallId"]);
        let allows = !self.cancelled && self.allows(&kind(call));
        let wanted =
            if allows { ["allow_once", "allow_always"] } else { ["reject_once", "reject_always"] };
        let options = list(&params["options"]);
        let option =
            wanted.iter().find_map(|kind| options.iter().find(|option| option["kind"] == **kind));
        let outcome = match option {
            Some(option) if !self.cancelled => {
                json!({ "outcome": "selected", "optionId": option["optionId"] })
            }
            _ => json!({ "outcome": "cancelled" }),
        };
        self.told
            .text
            .extend(line(&json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } })));
        if !allows && !self.cancelled {
            let (_, what) = self.run.ends(call_id, CallOutcome::Denied);
            let what = if what.is_empty() { title(call) } else { what };
            self.run.failed_calls += u64::from(self.ended.is_new(call_id));
            self.run.refuses(&kind(call), &what);
        }
    }
}

/// The values of an option; a program may group them.
fn values(option: &Value) -> Vec<&str> {
    fn inner(entry: &Value) -> &[Value] {
        list(&entry["options"])
    }
    let each = inner(option).iter().flat_map(|entry| std::iter::once(entry).chain(inner(entry)));
    each.map(|value| text(&value["value"])).filter(|value| !value.is_empty()).collect()
}

fn kind(call: &Value) -> String {
    let kind = text(&call["kind"]);
    lines::one_line(if kind.is_empty() { "other" } else { kind }, 80)
}

fn title(call: &Value) -> String {
    let title = text(&call["title"]);
    if title.is_empty() { lines::what(&call["rawInput"]) } else { lines::one_line(title, 200) }
}

impl OutputReader for AcpReader {
    fn line(&mut self, stream: Stream, line: &[u8], heard: &mut dyn FnMut(AgentEvent)) {
        match lines::value(line).filter(|_| stream == Stream::Output) {
            Some(message) if message.is_object() => self.message(&message),
            // Standard error, or a line outside of the protocol.
            _ => self.run.errors.add(line),
        }
        self.run.reports(heard);
    }

    fn tells(&mut self) -> Told {
        std::mem::take(&mut self.told)
    }

    fn cancels(&mut self) -> Vec<u8> {
        if self.step != DialogStep::Prompt || self.cancelled {
            return Vec::new();
        }
        self.cancelled = true;
        let params = json!({ "sessionId": self.run.session });
        line(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params }))
    }

    fn so_far(&self) -> SoFar<'_> {
        self.run.so_far(self.run.tokens.unwrap_or_default(), false)
    }

    fn report(&mut self, left: &ExitInfo) -> AgentReport {
        let end = &self.run.stream_end;
        // The answer is whole. Some programs then leave with another code because their input was closed.
        let answered = *end == StreamEnd::Result && !left.cut;
        let outcome = if answered {
            RunOutcome::Finished
        } else {
            lines::outcome(&self.name, end, left, &self.run.errors, &[])
        };
        let missing = if self.lost { Missing::Lost } else { Missing::Nothing };
        AgentReport { missing, ..self.run.report_on(outcome) }
    }
}
