//! opencode.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Map, Value};

use super::lines::{self, Once, StreamEnd};
use super::permissions::{Accepts, Letters, Permissions, ToolRule};
use super::stream::{self, Format, RunState, StreamReader, Take, text};
use super::{
    AgentOrder, AgentReport, Approval, ExitInfo, Harness, Launch, Missing, OutputReader,
    RunOutcome, TokenUsage, adapter::KnownProgram, program,
};
use crate::exec::version::Version;
use crate::world::WallTime;

/// Only reading is left: opencode offers no other tool.
const READ_ONLY: &str =
    r#"{"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow"}"#;
/// Hides the project's settings, instructions, tool servers and skills from opencode.
const WITHOUT_PROJECT: [&str; 3] = [
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
];
const PROGRAM: KnownProgram = KnownProgram {
    name: "opencode",
    install: "npm install -g opencode-ai",
    set: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
    oldest: None,
    proven: Version(1, 18, 33),
    lasting: &["Session not found"],
    gone: &["Session not found"],
    accepts: ACCEPTS,
};

/// The tool that hands work to sub-agents.
const DELEGATING: &str = "task";
/// opencode's own tools that a person's rules can deny.
const OWN_TOOLS: &str = "bash edit write patch read list glob grep webfetch websearch task";
/// Error names that mean: trying again does not help.
const LASTING_NAMES: &[&str] =
    &["ProviderAuthError", "ProviderModelNotFoundError", "ProviderInitError", "ConfigInvalidError"];

/// Taken from the help of `opencode run` 1.18.33, and from its program (the variable).
const ACCEPTS: Accepts = Accepts {
    title: "opencode",
    denies: "without --allow-all, opencode denies what it would ask you for, such as files outside of the project",
    mode: None,
    allow: Some(ToolRule::Name),
    deny: Some(ToolRule::Name),
    settings: "`permission` of opencode.json",
    letters: Letters::InGroups,
    own: "--format --fork --title --attach --dir --command -i --interactive -h --help -v \
          --version",
    ours: &[
        ("-m", "--model"),
        ("--model", "--model"),
        ("--auto", "--allow-all"),
        ("-s", "--continue-session"),
        ("--session", "--continue-session"),
        ("-c", "--continue-session"),
        ("--continue", "--continue-session"),
    ],
};

/// A person's rules as a variable that outranks the program's settings; a later rule outranks an earlier one.
fn rules(permissions: &Permissions) -> Option<(String, OsString)> {
    let rule = |word: &'static str| move |tool: &String| (tool.clone(), word.into());
    let rules: Map<String, Value> = (permissions.allow.iter().map(rule("allow")))
        .chain(permissions.deny.iter().map(rule("deny")))
        .collect();
    (!rules.is_empty())
        .then(|| ("OPENCODE_PERMISSION".to_owned(), Value::Object(rules).to_string().into()))
}

#[derive(Clone, Copy, Debug)]
pub struct Opencode;

impl Harness for Opencode {
    fn known(&self) -> Option<&'static KnownProgram> {
        Some(&PROGRAM)
    }

    fn launch(&self, order: &AgentOrder<'_>) -> Result<Launch> {
        let permitted = order.permissions.arguments(&ACCEPTS);
        let mut arguments = vec!["run"];
        arguments.extend(permitted.iter().map(String::as_str));
        arguments.extend(["--format", "json"]);
        if let Some(model) = order.model {
            arguments.extend(["-m", program::model(model)?]);
        }
        if order.approval == Approval::All {
            arguments.push("--auto");
        }
        match order.resume {
            Some(session) => arguments.extend(["-s", program::session(session)?]),
            // A session without a title asks the model for one, which costs tokens.
            None => arguments.extend(["--title", "spool ralph"]),
        }
        // opencode quotes an argument with blanks and escapes its quotes. Only standard input arrives unchanged.
        let mut launch = PROGRAM.launch(arguments, program::by_input(order.prompt)?);
        launch.set.extend(rules(order.permissions));
        if order.approval == Approval::ReadOnly {
            launch.set.push(("OPENCODE_PERMISSION".to_owned(), READ_ONLY.into()));
            launch.set.extend(WITHOUT_PROJECT.map(|name| (name.to_owned(), "1".into())));
        }
        Ok(launch)
    }

    fn reports_cost(&self) -> bool {
        true
    }

    fn reports_cost_while_it_runs(&self) -> bool {
        true
    }

    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader> {
        let format = OpencodeStream { approval: order.approval, ..OpencodeStream::default() };
        Box::new(StreamReader::new(format, order))
    }

    fn session_folders(&self) -> Vec<PathBuf> {
        let folder = program::home("XDG_DATA_HOME", ".local/share");
        folder.map(|folder| folder.join("opencode")).into_iter().collect()
    }

    fn session_tokens(&self, session: &str, since: WallTime) -> Option<TokenUsage> {
        if !lines::is_plain(session) {
            return None;
        }
        // Sub-agents work in sessions below this one. The id is plain, so it cannot leave its quotes.
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
        let used = TokenUsage::of_in(row, ["input", "output", "cache_read", "cache_write"]);
        let output = used.output.saturating_add(lines::number(&row["reasoning"]));
        Some(TokenUsage { output, ..used })
    }

    fn session_tokens_now(&self, _: &str, _: WallTime) -> Option<TokenUsage> {
        None
    }
}

/// The events of `run --format json`. There is no terminal event: the last step has the reason for its end.
#[derive(Debug, Default)]
struct OpencodeStream {
    /// Decides whether a missing tool was refused: without consent, it was.
    approval: Approval,
    /// Sub-agents worked, whose tokens the stream does not report.
    delegated: bool,
    /// The id of the text's message: a message may come in parts.
    message: String,
    steps: Once,
    /// A step is running; its usage is reported at its end.
    in_step: bool,
    /// The reason for the last step's end; `None` during a step.
    reason: Option<String>,
    failure: Option<RunOutcome>,
}

impl OpencodeStream {
    fn step_start(&mut self, run: &mut RunState, line: &Value) {
        session(run, line);
        self.reason = None;
        self.in_step = true;
    }

    fn words(&mut self, run: &mut RunState, line: &Value) {
        session(run, line);
        let part = &line["part"];
        let message = text(&part["messageID"]);
        if message.is_empty() || message != self.message {
            run.text.clear();
            message.clone_into(&mut self.message);
        } else {
            run.text.add("\n");
        }
        run.text.add(text(&part["text"]));
        run.says(text(&part["text"]));
    }

    fn tool_use(&mut self, run: &mut RunState, line: &Value) {
        session(run, line);
        let part = &line["part"];
        run.text.clear();
        self.message.clear();
        let id = text(&part["callID"]);
        if !run.calls.is_new(id) {
            return;
        }
        let (state, input) = (&part["state"], &part["state"]["input"]);
        let missing = part["tool"] == "invalid";
        let tool = stream::tool(if missing { &input["tool"] } else { &part["tool"] });
        let what = if missing { String::new() } else { lines::what(input) };
        self.delegated |= tool == DELEGATING;
        run.begins(id, tool.clone(), what);
        let error = text(&state["error"]);
        let refused = state["status"] == "error"
            && (error.starts_with("The user rejected permission")
                || error.starts_with("The user has specified a rule")
                || error.starts_with("Permission denied by ruleset"));
        // opencode does not offer a denied tool. One of its own tools that is missing was denied; the model made up any
        // other, unless nothing was allowed beforehand.
        let denied = self.approval == Approval::Own || OWN_TOOLS.split(' ').any(|own| own == tool);
        let (is_denied, is_failed) = (missing && denied, missing || state["status"] == "error");
        if let Some((tool, what)) = run.returns(id, refused || is_denied, is_failed) {
            run.refuses(&tool, &what);
        }
    }

    fn step_finish(&mut self, run: &mut RunState, line: &Value) {
        session(run, line);
        let part = &line["part"];
        let tokens = &part["tokens"];
        if self.steps.is_new(text(&part["id"])) && tokens.is_object() {
            let step = TokenUsage {
                input: lines::number(&tokens["input"]),
                output: lines::number(&tokens["output"])
                    .saturating_add(lines::number(&tokens["reasoning"])),
                cache_read: lines::number(&tokens["cache"]["read"]),
                cache_write: lines::number(&tokens["cache"]["write"]),
            };
            step.add_to(&mut run.tokens);
            // 0 also stands for a model without a known price.
            let cost = part["cost"].as_f64().filter(|cost| *cost > 0.0).and_then(lines::millionths);
            if let Some(cost) = cost {
                run.cost = Some(run.cost.unwrap_or(0).saturating_add(cost));
            }
        }
        self.in_step = false;
        self.reason = part["reason"].as_str().map(|reason| lines::one_line(reason, 80));
        if self.reason.as_deref() == Some("stop") {
            run.finished();
        }
    }

    fn error(&mut self, run: &mut RunState, line: &Value) {
        session(run, line);
        let error = &line["error"];
        let name = error["name"].as_str().unwrap_or("an error");
        let said = error["data"]["message"].as_str().unwrap_or(name);
        let mut message = lines::message("`opencode` failed", said);
        if name == "UnknownError" {
            // opencode reports an unknown model or provider like this, without its name.
            message.push_str("\n`opencode models` lists the models that it knows");
        }
        run.trouble(lines::words(said));
        run.status = error["data"]["statusCode"].as_u64();
        let answer = text(&error["data"]["responseBody"]);
        self.failure = Some(if LASTING_NAMES.contains(&name) || lines::is_lasting(answer) {
            RunOutcome::Lasting(message)
        } else {
            lines::failure(run.status, said, message)
        });
    }

    fn stream_end(&self, run: &RunState) -> StreamEnd {
        if let Some(failure) = &self.failure {
            return StreamEnd::Failure(failure.clone());
        }
        match self.reason.as_deref() {
            None => StreamEnd::Nothing,
            Some("stop") => StreamEnd::Result,
            Some("tool-calls") if !run.refusals.is_empty() => StreamEnd::Failure(RunOutcome::Failed(
                "`opencode` ended the run because a permission was refused\nallow it in its settings, with --allow, or give --allow-all".to_owned(),
            )),
            Some(reason) => StreamEnd::Failure(RunOutcome::Failed(format!(
                "`opencode` ended in the middle of its work, with the reason `{reason}`"
            ))),
        }
    }
}

/// Every line names the session.
fn session(run: &mut RunState, line: &Value) {
    run.session = lines::session(&line["sessionID"]).or(run.session.take());
}

impl Format for OpencodeStream {
    fn reads(kind: &str) -> Option<Take<Self>> {
        Some(match kind {
            "step_start" => Self::step_start,
            "text" => Self::words,
            "tool_use" => Self::tool_use,
            "step_finish" => Self::step_finish,
            "error" => Self::error,
            _ => return None,
        })
    }

    fn report(&mut self, run: &mut RunState, left: &ExitInfo) -> AgentReport {
        run.stream_end = self.stream_end(run);
        let missing = match (self.in_step, self.delegated) {
            (true, _) => Missing::Lost,
            (false, true) => Missing::Elsewhere,
            (false, false) => Missing::Nothing,
        };
        AgentReport { missing, ..run.report(&PROGRAM, left) }
    }
}
