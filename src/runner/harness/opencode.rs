//! opencode.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;

use super::lines::{self, Errors, FinalText, Once, Refusals, Told};
use super::program::{self, Program, Version};
use super::{
    Approval, Ending, Event, Harness, Launch, Left, Missing, Order, Outcome, Reader, Report,
    Stream, Tokens, environment,
};
use crate::world;

const PROGRAM: Program = Program {
    name: "opencode",
    title: "opencode",
    install: "npm install -g opencode-ai",
    set: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
    oldest: None,
    proven: Version(1, 18, 33),
};

/// What standard error says when trying again does not help.
const LASTING: &[&str] = &["Session not found"];
/// What it says when there is no such session.
const GONE: &[&str] = &["Session not found"];
/// The tool by which it hands work to agents of its own.
const DELEGATING: &str = "task";
/// Its own tools that a person's rules can deny.
const OWN_TOOLS: &[&str] = &[
    "bash",
    "edit",
    "write",
    "patch",
    "read",
    "list",
    "glob",
    "grep",
    "webfetch",
    "websearch",
    DELEGATING,
];
/// Errors whose name alone says that trying again does not help.
const LASTING_NAMES: &[&str] =
    &["ProviderAuthError", "ProviderModelNotFoundError", "ProviderInitError", "ConfigInvalidError"];

/// opencode.
#[derive(Clone, Copy, Debug)]
pub struct Opencode;

impl Harness for Opencode {
    fn name(&self) -> &'static str {
        PROGRAM.name
    }

    fn check(&self) -> Result<Option<String>> {
        Ok(PROGRAM.check()?.map(|version| version.to_string()))
    }

    fn launch(&self, order: &Order<'_>) -> Result<Launch> {
        let mut arguments = vec!["run", "--format", "json"];
        if let Some(model) = order.model {
            arguments.extend(["-m", program::model(model)?]);
        }
        if order.approval == Approval::All {
            arguments.push("--auto");
        }
        match order.resume {
            Some(session) => arguments.extend(["-s", program::session(session)?]),
            // A session without a title asks the model for one: a call, and its tokens.
            None => arguments.extend(["--title", "spool ralph"]),
        }
        // An argument with a blank in it gets quotation marks from the program, and a backslash
        // before each of its own: only standard input arrives as it is.
        let input = program::by_input(order.prompt)?;
        Ok(Launch {
            program: PROGRAM.name.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            set: PROGRAM.set(),
            unset: environment::scrubbed(),
            input,
            ending: Ending::Terminate,
        })
    }

    fn reader(&self, order: &Order<'_>) -> Box<dyn Reader> {
        Box::new(OpencodeReader {
            resumed: order.resume.is_some(),
            ..OpencodeReader::new(order.approval)
        })
    }

    fn session_folders(&self) -> Vec<PathBuf> {
        let own = world::folder("XDG_DATA_HOME");
        let folder = own.or_else(|| Some(world::folder("HOME")?.join(".local").join("share")));
        folder.map(|folder| folder.join("opencode")).into_iter().collect()
    }

    fn session_tokens(&self, session: &str, since: u64) -> Option<Tokens> {
        if !lines::is_plain(session) {
            return None;
        }
        // Its sub-agents work in sessions below this one. The id is plain: it cannot leave its quotes.
        let sum = |name: &str| format!("coalesce(sum(json_extract(data,'$.tokens.{name}')),0)");
        let query = format!(
            "with recursive tree(id) as (values('{session}') union select s.id from session s join tree on s.parent_id = tree.id) \
             select count(*) as messages, {} as input, {} as output, {} as reasoning, {} as cache_read, {} as cache_write \
             from message where session_id in (select id from tree) and time_created >= {since}",
            sum("input"),
            sum("output"),
            sum("reasoning"),
            sum("cache.read"),
            sum("cache.write"),
        );
        let answer = PROGRAM.ask(&["db", &query, "--format", "json"]).ok()??;
        let rows: Value = serde_json::from_str(answer.output.trim()).ok()?;
        let row = rows.get(0).filter(|row| lines::number(&row["messages"]) > 0)?;
        Some(Tokens {
            input: lines::number(&row["input"]),
            output: lines::number(&row["output"]).saturating_add(lines::number(&row["reasoning"])),
            cache_read: lines::number(&row["cache_read"]),
            cache_write: lines::number(&row["cache_write"]),
        })
    }

    fn caution(&self, version: &str) -> Option<String> {
        PROGRAM.caution(version)
    }
}

/// Reads `run --format json`. It has no terminal event: the last step says why it was the last.
#[derive(Debug, Default)]
pub(super) struct OpencodeReader {
    approval: Approval,
    resumed: bool,
    failed_calls: u64,
    status: Option<u64>,
    /// Whether agents of its own worked: their tokens are told nowhere in the stream.
    delegated: bool,
    text: FinalText,
    /// The message that the text belongs to: it may come in parts.
    message: String,
    calls: Once,
    refusals: Refusals,
    errors: Errors,
    session: Option<String>,
    steps: Once,
    tokens: Option<Tokens>,
    /// Why the last step ended, `None` while one is going on.
    reason: Option<String>,
    failure: Option<Outcome>,
}

impl OpencodeReader {
    /// Returns a reader; without consent, a tool that is missing was refused.
    pub fn new(approval: Approval) -> Self {
        Self { approval, ..Self::default() }
    }

    fn words(&mut self, part: &Value, heard: &mut dyn FnMut(Event)) {
        let text = part["text"].as_str().unwrap_or_default();
        let message = part["messageID"].as_str().unwrap_or_default();
        if message.is_empty() || message != self.message {
            self.text.clear();
            message.clone_into(&mut self.message);
        } else {
            self.text.add("\n");
        }
        self.text.add(text);
        heard(Event::Said(text.to_owned()));
    }

    fn tool_use(&mut self, part: &Value, heard: &mut dyn FnMut(Event)) {
        self.text.clear();
        self.message.clear();
        if !self.calls.is_new(part["callID"].as_str().unwrap_or_default()) {
            return;
        }
        let (state, input) = (&part["state"], &part["state"]["input"]);
        let missing = part["tool"] == "invalid";
        let named = if missing { &input["tool"] } else { &part["tool"] };
        let tool = lines::one_line(named.as_str().unwrap_or("?"), 80);
        let what = if missing { String::new() } else { lines::what(input) };
        self.failed_calls += u64::from(missing || state["status"] == "error");
        self.delegated |= tool == DELEGATING;
        heard(Event::Called { tool: tool.clone(), what: what.clone() });
        let error = state["error"].as_str().unwrap_or_default();
        let refused = state["status"] == "error"
            && (error.starts_with("The user rejected permission")
                || error.starts_with("The user has specified a rule")
                || error.starts_with("Permission denied by ruleset"));
        // A tool that a rule denies is not offered: one of its own that is missing was denied, any other was
        // made up by the model, unless nothing was allowed beforehand.
        let denied = self.approval == Approval::Own || OWN_TOOLS.contains(&tool.as_str());
        if refused || (missing && denied) {
            heard(Event::Trouble(lines::message(&format!("{tool} was refused"), &what)));
            self.refusals.add(&tool, &what);
        }
    }

    fn step_finish(&mut self, part: &Value, heard: &mut dyn FnMut(Event)) {
        let tokens = &part["tokens"];
        if self.steps.is_new(part["id"].as_str().unwrap_or_default()) && tokens.is_object() {
            let step = Tokens {
                input: lines::number(&tokens["input"]),
                output: lines::number(&tokens["output"])
                    .saturating_add(lines::number(&tokens["reasoning"])),
                cache_read: lines::number(&tokens["cache"]["read"]),
                cache_write: lines::number(&tokens["cache"]["write"]),
            };
            self.tokens = Some(self.tokens.unwrap_or_default().plus(step));
        }
        self.reason = part["reason"].as_str().map(|reason| lines::one_line(reason, 80));
        if self.reason.as_deref() == Some("stop") {
            heard(Event::Finished);
        }
    }

    fn error(&mut self, error: &Value, heard: &mut dyn FnMut(Event)) {
        let name = error["name"].as_str().unwrap_or("an error");
        let said = error["data"]["message"].as_str().unwrap_or(name);
        let mut message = lines::message("`opencode` failed", said);
        if name == "UnknownError" {
            // A model or a provider that it does not know is told like this, without its name.
            message.push_str("\n`opencode models` lists the models that it knows");
        }
        heard(Event::Trouble(lines::words(said)));
        self.status = error["data"]["statusCode"].as_u64();
        let answer = error["data"]["responseBody"].as_str().unwrap_or_default();
        self.failure = Some(if LASTING_NAMES.contains(&name) || lines::is_lasting(answer) {
            Outcome::Lasting(message)
        } else {
            lines::failure(self.status, said, message)
        });
    }

    fn session_begun(&self) -> bool {
        self.session.is_some() || self.calls.count() > 0
    }

    fn told(&self) -> Told {
        if let Some(failure) = &self.failure {
            return Told::Failure(failure.clone());
        }
        match self.reason.as_deref() {
            None => Told::Nothing,
            Some("stop") => Told::Result,
            Some("tool-calls") if !self.refusals.is_empty() => Told::Failure(Outcome::Failed(
                "`opencode` ended the run because a permission was refused\nallow it in its settings, or give --allow-all".to_owned(),
            )),
            Some(reason) => Told::Failure(Outcome::Failed(format!(
                "`opencode` ended in the middle of its work, with the reason `{reason}`"
            ))),
        }
    }
}

impl Reader for OpencodeReader {
    fn line(&mut self, stream: Stream, line: &[u8], heard: &mut dyn FnMut(Event)) {
        if stream == Stream::Errors {
            self.errors.add(line);
            return;
        }
        let Some(kind) = lines::kind(line) else {
            return;
        };
        let wanted =
            matches!(kind.as_str(), "step_start" | "text" | "tool_use" | "step_finish" | "error");
        let Some(line) = wanted.then(|| lines::value(line)).flatten() else {
            return;
        };
        self.session = lines::session(&line["sessionID"]).or(self.session.take());
        let part = &line["part"];
        match kind.as_str() {
            "step_start" => self.reason = None,
            "text" => self.words(part, heard),
            "tool_use" => self.tool_use(part, heard),
            "step_finish" => self.step_finish(part, heard),
            _ => self.error(&line["error"], heard),
        }
    }

    fn report(&mut self, left: &Left) -> Report {
        let told = self.told();
        let mut outcome = lines::outcome(PROGRAM.name, &told, left, &self.errors, LASTING);
        if self.resumed {
            outcome = lines::resumed(outcome, &told, &self.errors, GONE);
        }
        Report {
            final_text: self.text.take(),
            tool_calls: Some(self.calls.count()),
            failed_calls: self.failed_calls,
            denied: self.refusals.take(),
            session: self.session.take(),
            tokens: self.tokens,
            missing: match (&self.reason, self.delegated) {
                // A step tells what it used when its tools are done, and not before.
                (None, _) if self.session_begun() => Missing::Lost,
                (_, true) => Missing::Elsewhere,
                _ => Missing::Nothing,
            },
            status: self.status,
            tokens_of_session: false,
            model: None,
            outcome,
        }
    }
}
