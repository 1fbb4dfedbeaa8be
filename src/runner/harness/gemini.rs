//! Gemini CLI.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;

use super::lines::{self, Errors, FinalText, Once, Refusals, Told};
use super::program::{self, Program, Version, Way};
use super::{
    Approval, Ending, Event, Harness, Input, Launch, Left, Missing, Order, Outcome, Reader, Report,
    Stream, Tokens, environment, sessions,
};
use crate::world;

const PROGRAM: Program = Program {
    name: "gemini",
    title: "Gemini CLI",
    install: "npm install -g @google/gemini-cli",
    // One process instead of two: a signal reaches the one that works.
    set: &[("GEMINI_CLI_NO_RELAUNCH", "true")],
    oldest: None,
    proven: Version(0, 61, 0),
};

/// Exit codes of its own: no login, bad input such as an unknown session, bad settings, a folder that is not trusted.
const LASTING: [i32; 4] = [41, 42, 52, 55];
/// The exit code of a failed answer is the last byte of its status.
const UNAUTHORIZED: i32 = 401 - 256;
const FORBIDDEN: i32 = 403 - 256;
const TOO_MANY: i32 = 429 - 256;
/// The exit code for a session that is not there.
const BAD_INPUT: i32 = 42;
/// What it says then.
const GONE: &[&str] = &["Error resuming session"];
/// What a daily quota is told by, in the program's own words.
const DAILY_QUOTA: &str = "exhausted your daily quota";

/// Gemini CLI.
#[derive(Clone, Copy, Debug)]
pub struct Gemini;

impl Harness for Gemini {
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
                arguments.extend(["-p", prompt]);
                Input::Nothing
            }
            Way::Input(input) => input,
        };
        if let Some(model) = order.model {
            arguments.extend(["-m", program::model(model)?]);
        }
        arguments.extend(["-o", "stream-json"]);
        if order.approval == Approval::All {
            // In a folder that is not trusted the first is ignored without the second.
            arguments.extend(["--yolo", "--skip-trust"]);
        }
        if let Some(session) = order.resume {
            arguments.extend(["-r", program::session(session)?]);
        }
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
        Box::new(GeminiReader {
            resumed: order.resume.is_some(),
            ..GeminiReader::new(order.approval)
        })
    }

    fn session_folders(&self) -> Vec<PathBuf> {
        world::folder("HOME").map(|home| home.join(".gemini").join("tmp")).into_iter().collect()
    }

    fn session_tokens(&self, session: &str, since: u64) -> Option<Tokens> {
        // `tmp/<project>/chats/session-<time>-<beginning of the id>.jsonl`
        let short: String = session.chars().take(8).collect();
        let is_its = |path: &Path| {
            let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
            path.extension().is_some_and(|it| it == "jsonl") && name.ends_with(&short)
        };
        let mut messages: BTreeMap<String, Tokens> = BTreeMap::new();
        let mut is_meant = false;
        sessions::read(&self.session_folders(), &is_its, &mut |line| {
            // Its first line says whose it is.
            if let Some(whose) = line["sessionId"].as_str() {
                is_meant = whose == session;
            }
            let tokens = &line["tokens"];
            let (true, Some(id), true) = (is_meant, line["id"].as_str(), tokens.is_object()) else {
                return;
            };
            if sessions::time(&line["timestamp"]) >= since {
                let cached = lines::number(&tokens["cached"]);
                let input = lines::number(&tokens["input"]);
                let cost = Tokens {
                    input: input.saturating_sub(cached),
                    output: lines::number(&tokens["total"]).saturating_sub(input),
                    cache_read: cached,
                    cache_write: 0,
                };
                messages.insert(id.to_owned(), cost);
            }
        });
        let sum = messages.values().fold(Tokens::default(), |sum, one| sum.plus(*one));
        (!messages.is_empty()).then_some(sum)
    }

    fn caution(&self, version: &str) -> Option<String> {
        PROGRAM.caution(version)
    }
}

/// What the service says in a failed answer: `[API Error: …]`.
fn api_error(said: &str) -> &str {
    said.strip_prefix("[API Error: ").unwrap_or(said)
}

/// Reads `-o stream-json`.
#[derive(Debug, Default)]
pub(super) struct GeminiReader {
    approval: Approval,
    resumed: bool,
    failed_calls: u64,
    failed: bool,
    text: FinalText,
    calls: Once,
    /// The last tool calls, by id, for the names of refused ones.
    open: Vec<(String, String, String)>,
    refusals: Refusals,
    errors: Errors,
    session: Option<String>,
    model: Option<String>,
    tokens: Option<Tokens>,
    told: Told,
}

/// Tool calls without a result that are remembered.
const OPEN: usize = 64;

impl GeminiReader {
    /// Returns a reader; without consent, a tool that is missing was refused.
    pub fn new(approval: Approval) -> Self {
        Self { approval, ..Self::default() }
    }

    fn tool_use(&mut self, line: &Value, heard: &mut dyn FnMut(Event)) {
        self.text.clear();
        let id = line["tool_id"].as_str().unwrap_or_default();
        if !self.calls.is_new(id) {
            return;
        }
        let tool = lines::one_line(line["tool_name"].as_str().unwrap_or("?"), 80);
        let what = lines::what(&line["parameters"]);
        if self.open.len() == OPEN {
            self.open.remove(0);
        }
        self.open.push((id.to_owned(), tool.clone(), what.clone()));
        heard(Event::Called { tool, what });
    }

    fn tool_result(&mut self, line: &Value, heard: &mut dyn FnMut(Event)) {
        self.text.clear();
        let id = line["tool_id"].as_str().unwrap_or_default();
        let at = self.open.iter().position(|(open, ..)| open == id);
        let (_, tool, what) = at.map(|at| self.open.remove(at)).unwrap_or_default();
        self.failed_calls += u64::from(line["status"] == "error");
        let refused = match line["error"]["type"].as_str() {
            Some("policy_violation" | "execution_denied") => true,
            // Without consent, the tools that need it are not there.
            Some("tool_not_registered") => self.approval == Approval::Own,
            _ => false,
        };
        if refused {
            heard(Event::Trouble(lines::message(&format!("{tool} was refused"), &what)));
            self.refusals.add(&tool, &what);
        }
    }

    fn result(&mut self, line: &Value) {
        let stats = &line["stats"];
        if stats.is_object() {
            let sent = lines::number(&stats["input_tokens"]);
            let output = lines::number(&stats["output_tokens"]);
            // Only the total knows of the thoughts.
            let rest = lines::number(&stats["total_tokens"]).saturating_sub(sent);
            self.tokens = Some(Tokens {
                input: sent.saturating_sub(lines::number(&stats["cached"])),
                output: output.max(rest),
                cache_read: lines::number(&stats["cached"]),
                cache_write: 0,
            });
        }
        if line["status"] == "success" {
            self.told = Told::Result;
            return;
        }
        let said = line["error"]["message"].as_str().unwrap_or_default();
        let message = lines::message("`gemini` failed", said);
        self.told = Told::Failure(if said.contains(DAILY_QUOTA) {
            Outcome::UsageLimit { resets_at: None, words: lines::words(said) }
        } else {
            self.failed = true;
            lines::failure(None, api_error(said), message)
        });
    }
}

impl Reader for GeminiReader {
    fn line(&mut self, stream: Stream, line: &[u8], heard: &mut dyn FnMut(Event)) {
        if stream == Stream::Errors {
            // Standard output is silent while it tries again.
            if line.starts_with(b"Attempt ") {
                heard(Event::Trouble(lines::words(&String::from_utf8_lossy(line))));
            }
            self.errors.add(line);
            return;
        }
        let Some(kind) = lines::kind(line) else {
            return;
        };
        let wanted = matches!(
            kind.as_str(),
            "init" | "message" | "tool_use" | "tool_result" | "error" | "result"
        );
        let Some(line) = wanted.then(|| lines::value(line)).flatten() else {
            return;
        };
        match kind.as_str() {
            "init" => {
                self.session = lines::session(&line["session_id"]).or(self.session.take());
                self.model = line["model"].as_str().map(|model| lines::one_line(model, 120));
            }
            "message" if line["role"] == "assistant" => {
                let text = line["content"].as_str().unwrap_or_default();
                self.text.add(text);
                heard(Event::Said(text.to_owned()));
            }
            // The prompt, or what a hook put in its place: a new turn.
            "message" => self.text.clear(),
            "tool_use" => self.tool_use(&line, heard),
            "tool_result" => self.tool_result(&line, heard),
            "error" => {
                let said = lines::words(line["message"].as_str().unwrap_or_default());
                // A hook sent the agent back: what it said was not its last word.
                if said.starts_with("Agent execution blocked") {
                    self.text.clear();
                }
                heard(Event::Trouble(said));
            }
            "result" => {
                self.result(&line);
                heard(Event::Finished);
            }
            _ => {}
        }
    }

    fn report(&mut self, left: &Left) -> Report {
        let mut outcome = lines::outcome(PROGRAM.name, &self.told, left, &self.errors, &[]);
        if let Outcome::Failed(message) = &outcome {
            let quota = self.errors.line_with(&[DAILY_QUOTA]);
            outcome = match left.code {
                Some(TOO_MANY) if quota.is_some() => Outcome::UsageLimit {
                    resets_at: None,
                    words: quota.unwrap_or_default().to_owned(),
                },
                Some(UNAUTHORIZED | FORBIDDEN) => Outcome::Lasting(message.clone()),
                Some(code) if LASTING.contains(&code) => Outcome::Lasting(message.clone()),
                // 404 has no code of its own; it stands in what is printed beside the stream.
                Some(1) if self.errors.line_with(&["code: 404", "status: 404"]).is_some() => {
                    Outcome::Lasting(message.clone())
                }
                _ => outcome,
            };
        }
        if self.resumed && left.code == Some(BAD_INPUT) {
            outcome = lines::resumed(outcome, &self.told, &self.errors, GONE);
        }
        // The exit code is the last byte of the status.
        let status = left.code.filter(|code| self.failed && (144..256).contains(code));
        let status = status.map(|code| code + 256);
        Report {
            final_text: self.text.take(),
            tool_calls: Some(self.calls.count()),
            failed_calls: self.failed_calls,
            status: status.and_then(|status| u64::try_from(status).ok()),
            denied: self.refusals.take(),
            session: self.session.take(),
            tokens: self.tokens,
            missing: if self.told == Told::Nothing { Missing::Elsewhere } else { Missing::Nothing },
            tokens_of_session: false,
            model: self.model.take(),
            outcome,
        }
    }
}
