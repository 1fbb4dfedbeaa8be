//! Claude Code.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::Value;

use super::lines::{self, Once, StreamEnd};
use super::permissions::{Accepts, Letters, ToolRule};
use super::stream::{self, Format, RunState, StreamReader, Take, list, text};
use super::usage::MessageUsage;
use super::{
    AgentOrder, AgentReport, Approval, CallOutcome, ExitInfo, Harness, Launch, OutputReader,
    RunOutcome, TokenUsage, adapter::KnownProgram, program, sessions,
};
use crate::exec::version::Version;
use crate::system::processes;
use crate::world::WallTime;

const PROGRAM: KnownProgram = KnownProgram {
    name: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    set: &[("DISABLE_AUTOUPDATER", "1")],
    oldest: Some(Version(2, 1, 143)),
    proven: Version(2, 1, 332),
    lasting: &["cannot be used with root", GONE],
    gone: &[GONE],
    accepts: ACCEPTS,
};

/// Claude Code's words for a missing session.
const GONE: &str = "No conversation found";
/// Only reading is left: no tool server, and no hook, permission or instruction of the project.
const READ_ONLY: [&str; 5] =
    ["--tools", "Read,Grep,Glob", "--strict-mcp-config", "--setting-sources", "user"];
/// Nobody can answer questions of the program, so Claude Code denies them at once, whoever its settings name.
const NO_PROMPTS: [&str; 2] = ["--permission-prompts", "none"];
/// The first version with the flag, by its changelog.
const NO_PROMPTS_SINCE: Version = Version(2, 1, 259);

/// Taken from the help of 2.1.143 and 2.1.330.
const ACCEPTS: Accepts = Accepts {
    title: "Claude Code",
    denies: "without --allow-all, Claude Code denies what it would ask you for: edits, and most commands",
    mode: Some((
        "--permission-mode",
        &["acceptEdits", "auto", "default", "dontAsk", "manual", "plan"],
    )),
    allow: Some(ToolRule::Flag("--allowedTools")),
    deny: Some(ToolRule::Flag("--disallowedTools")),
    settings: "`permissions` of .claude/settings.json",
    letters: Letters::WithValue,
    own: "-p --print --output-format --input-format --session-id --fork-session --from-pr \
          --teleport --bg --background --cloud --desktop --remote-control --tmux -w --worktree \
          -h --help -v --version",
    ours: &[
        ("--model", "--model"),
        ("--dangerously-skip-permissions", "--allow-all"),
        ("--allow-dangerously-skip-permissions", "--allow-all"),
        ("--permission-mode", "--permission-mode"),
        ("--allowed-tools", "--allow"),
        ("--disallowed-tools", "--deny"),
        ("-r", "--continue-session"),
        ("--resume", "--continue-session"),
        ("-c", "--continue-session"),
        ("--continue", "--continue-session"),
    ],
};

#[derive(Clone, Copy, Debug)]
pub struct Claude;

impl Harness for Claude {
    fn known(&self) -> Option<&'static KnownProgram> {
        Some(&PROGRAM)
    }

    fn check(&self) -> Result<Option<String>> {
        let version = PROGRAM.check()?;
        // Only the program itself knows of keychains and helpers.
        let answer = PROGRAM.ask(&["auth", "status"]).ok().flatten();
        let logged_in = answer.and_then(|answer| logged_in(&answer.output));
        if logged_in == Some(false)
            && !std::env::current_dir().is_ok_and(|folder| may_log_in_by_project(&folder))
        {
            bail!(
                "Claude Code is not logged in\nstart `claude` and log in with /login, or set ANTHROPIC_API_KEY"
            );
        }
        Ok(version.map(|version| version.to_string()))
    }

    fn version(&self) -> Option<String> {
        PROGRAM.check().ok().flatten().map(|version| version.to_string())
    }

    fn launch(&self, order: &AgentOrder<'_>) -> Result<Launch> {
        launch(order, whose())
    }

    fn reports_cost(&self) -> bool {
        true
    }

    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader> {
        Box::new(reader(order))
    }

    fn session_folders(&self) -> Vec<PathBuf> {
        let folder = program::home("CLAUDE_CONFIG_DIR", ".claude");
        folder.map(|folder| folder.join("projects")).into_iter().collect()
    }

    fn session_tokens(&self, session: &str, since: WallTime) -> Option<TokenUsage> {
        // `projects/<project>/<session>.jsonl`; sub-agents write into a folder with the session's name.
        let is_its = |path: &Path| {
            let is_session = |name: Option<&OsStr>| name.is_some_and(|name| name == session);
            path.extension().is_some_and(|extension| extension == "jsonl")
                && (is_session(path.file_stem())
                    || path.ancestors().skip(1).any(|folder| is_session(folder.file_name())))
        };
        let mut messages = MessageUsage::default();
        sessions::read(&self.session_folders(), &is_its, &mut |line| {
            let message = &line["message"];
            if line["type"] != "assistant" || sessions::time(&line["timestamp"]) < since {
                return;
            }
            // A message's last line has the full count.
            if let (Some(id), Some(used)) = (message["id"].as_str(), usage(&message["usage"])) {
                messages.add(id, used);
            }
        });
        messages.sum()
    }

    fn caution(&self, version: &str) -> Option<String> {
        // The oldest driven version is proven as well.
        let is_oldest = Version::find(version) == PROGRAM.oldest;
        if is_oldest { None } else { PROGRAM.caution(version) }
    }
}

fn logged_in(answer: &str) -> Option<bool> {
    serde_json::from_str::<Value>(answer).ok()?["loggedIn"].as_bool()
}

/// Project settings may hold credentials, which `auth status` does not see.
fn may_log_in_by_project(start: &Path) -> bool {
    start.ancestors().any(|folder| {
        ["settings.json", "settings.local.json"].iter().any(|name| {
            let file = folder.join(".claude").join(name);
            program::says_one_of(&file, &["\"env\"", "\"apiKeyHelper\""])
        })
    })
}

/// Root has to declare a sandbox, or Claude Code refuses to run without consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rights {
    Root,
    Person,
}

fn whose() -> Rights {
    if processes::is_root() { Rights::Root } else { Rights::Person }
}

fn launch(order: &AgentOrder<'_>, rights: Rights) -> Result<Launch> {
    let (prompt, input) = program::way(order.prompt)?;
    let mut arguments = vec!["-p"];
    arguments.extend(prompt);
    // These do not come last: a flag that takes a list would swallow what follows, the prompt as well.
    let permitted = order.permissions.arguments(&ACCEPTS);
    arguments.extend(permitted.iter().map(String::as_str));
    // A person may have named who answers.
    let has_prompts = permitted.iter().any(|argument| argument.starts_with("--permission-prompt"));
    let knows_it = Version::find(order.version).is_some_and(|version| version >= NO_PROMPTS_SINCE);
    if knows_it && !has_prompts && order.approval != Approval::All {
        arguments.extend(NO_PROMPTS);
    }
    arguments.extend(["--output-format", "stream-json", "--verbose"]);
    if let Some(model) = order.model {
        arguments.extend(["--model", program::model(model)?]);
    }
    if order.approval == Approval::All {
        arguments.push("--dangerously-skip-permissions");
    }
    if order.approval == Approval::ReadOnly {
        arguments.extend(READ_ONLY);
    }
    if let Some(session) = order.resume {
        arguments.extend(["--resume", program::session(session)?]);
    }
    let mut launch = PROGRAM.launch(arguments, input);
    if order.approval == Approval::All && rights == Rights::Root {
        launch.set.push(("IS_SANDBOX".to_owned(), "1".into()));
    }
    Ok(launch)
}

fn reader(order: &AgentOrder<'_>) -> StreamReader<ClaudeStream> {
    StreamReader::new(ClaudeStream::default(), order)
}

/// The events of `--output-format stream-json`.
#[derive(Debug, Default)]
pub struct ClaudeStream {
    tokens: ResultTokens,
    /// Sub-agents in the background; the end of one starts another turn.
    background: usize,
    /// A sub-agent's end was reported in this turn, so another turn may follow the result.
    notified: bool,
    limit: Option<Limit>,
    /// The kind of error that the client reported in the agent's place.
    trouble: Option<String>,
    /// Denied and failed tool calls.
    failed_calls: Once,
    /// Usage by message. Output tokens are incomplete until the message ends.
    messages: MessageUsage,
}

/// A usage limit, from a structured event.
#[derive(Clone, Debug)]
struct Limit {
    resets_at: Option<u64>,
}

/// Token counts of the `result` events.
#[derive(Clone, Copy, Debug, Default)]
struct ResultTokens {
    /// The sum of the results' own shares with sub-agents (newer clients).
    shares: Option<TokenUsage>,
    /// The last result's count for the whole process, with sub-agents.
    process: Option<TokenUsage>,
    /// The sum over the results of the main thread.
    main: Option<TokenUsage>,
}

impl ClaudeStream {
    fn system(&mut self, run: &mut RunState, line: &Value) {
        match text(&line["subtype"]) {
            // Every turn begins with `init`, also one after a result.
            "init" => {
                self.notified = false;
                run.session = lines::session(&line["session_id"]).or(run.session.take());
                run.model = stream::model(&line["model"]);
            }
            "api_retry" => {
                let (attempt, most) = (&line["attempt"], &line["max_retries"]);
                let why = line["error"].as_str().unwrap_or("an error");
                let status = line["error_status"]
                    .as_u64()
                    .map_or(String::new(), |status| format!(" ({status})"));
                run.trouble(format!(
                    "the model is asked again, {attempt} of {most}: {}{status}",
                    lines::one_line(why, 80)
                ));
            }
            "permission_denied" => {
                let tool = lines::one_line(line["tool_name"].as_str().unwrap_or("a tool"), 80);
                let (called, what) = run.ends(text(&line["tool_use_id"]), CallOutcome::Denied);
                // The result names it as well, where the run lives to print one.
                if !called.is_empty() {
                    run.refusals.add(&called, &what);
                }
                run.trouble(lines::message(&format!("{tool} was refused"), text(&line["message"])));
            }
            "task_notification" => self.notified = true,
            "background_tasks_changed" => {
                let is_agent = |task: &&Value| {
                    task["task_type"].as_str().is_some_and(|kind| !kind.contains("bash"))
                };
                self.background = list(&line["tasks"]).iter().filter(is_agent).count();
            }
            _ => {}
        }
    }

    fn assistant(&mut self, run: &mut RunState, line: &Value) {
        run.session = run.session.take().or_else(|| lines::session(&line["session_id"]));
        let message = &line["message"];
        let Some(blocks) = message["content"].as_array() else { return };
        // On an error the client speaks in the agent's place.
        if message["model"] == "<synthetic>" || line["is_api_error_message"] == true {
            self.trouble = line["error"].as_str().map(str::to_owned);
            let limit = &line["api_error_params"]["rate_limit_info"];
            if limit["status"] == "rejected" {
                self.limit = Some(Limit { resets_at: limit["resetsAt"].as_u64() });
            }
            for text in blocks.iter().filter_map(|block| block["text"].as_str()) {
                run.trouble(lines::words(text));
            }
            return;
        }
        run.stream_end = StreamEnd::Nothing;
        if let (Some(id), Some(used)) = (message["id"].as_str(), usage(&message["usage"])) {
            self.messages.add(id, used);
        }
        let main = line["parent_tool_use_id"].is_null();
        for block in blocks {
            match text(&block["type"]) {
                "text" if main => run.says_finally(text(&block["text"])),
                "tool_use" => {
                    if main {
                        run.text.clear();
                    }
                    let id = text(&block["id"]);
                    if run.calls.is_new(id) {
                        run.begins(id, stream::tool(&block["name"]), lines::what(&block["input"]));
                    }
                }
                _ => {}
            }
        }
    }

    /// The results of tools.
    fn user(&mut self, run: &mut RunState, line: &Value) {
        for block in list(&line["message"]["content"]) {
            if block["type"] != "tool_result" {
                continue;
            }
            let (id, failed) = (text(&block["tool_use_id"]), block["is_error"] == true);
            if failed && self.failed_calls.is_new(id) {
                run.failed_calls += 1;
            }
            run.ends(id, CallOutcome::of(false, failed));
        }
    }

    fn limited(&mut self, run: &mut RunState, line: &Value) {
        let info = &line["rate_limit_info"];
        match text(&info["status"]) {
            // With a subscription, a merely busy service is reported the same way, but without a limit.
            "rejected" if info["rateLimitType"].is_string() || info["resetsAt"].is_u64() => {
                self.limit = Some(Limit { resets_at: info["resetsAt"].as_u64() });
            }
            "allowed_warning" => {
                let used = info["utilization"].as_f64().map_or(String::new(), |part| {
                    format!(": {:.0} % is used", (part * 100.0).clamp(0.0, 999.0))
                });
                run.near_usage_limit = true;
                run.trouble(format!("the usage limit is near{used}"));
            }
            _ => {}
        }
    }

    fn result(&mut self, run: &mut RunState, line: &Value) {
        run.session = lines::session(&line["session_id"]).or(run.session.take());
        self.tokens.take_in(line);
        // A resumed session counts from its first day.
        let cost = line["total_cost_usd"].as_f64().filter(|_| !run.resumed);
        run.costs(cost.and_then(lines::millionths));
        for refused in list(&line["permission_denials"]) {
            let tool = refused["tool_name"].as_str().unwrap_or("a tool");
            run.refusals.add(tool, &lines::what(&refused["tool_input"]));
            run.ends(text(&refused["tool_use_id"]), CallOutcome::Denied);
        }
        let said = text(&line["result"]);
        let failed = line["is_error"] != false || line["subtype"] != "success";
        if failed {
            run.stream_end = StreamEnd::Failure(self.failure(run, line, said));
        } else {
            run.stream_end = StreamEnd::Result;
            if !said.is_empty() {
                run.text.set(said);
            }
        }
        // More turns may come while agents work in the background: a finished run may be ended.
        if self.background == 0 && !self.notified {
            run.finished();
        }
    }

    fn failure(&mut self, run: &mut RunState, line: &Value, said: &str) -> RunOutcome {
        let more: Vec<&str> = list(&line["errors"]).iter().filter_map(Value::as_str).collect();
        let subtype =
            line["subtype"].as_str().filter(|subtype| *subtype != "success").unwrap_or_default();
        let message =
            lines::message("`claude` failed", &[said, &more.join(" "), subtype].join(" "));
        let limit = self.limit.take();
        if limit.is_some() || line["api_error"] == "usage_limit_reached" {
            let resets_at = limit.and_then(|limit| limit.resets_at);
            return RunOutcome::UsageLimit { resets_at, words: lines::words(said) };
        }
        let kind = self.trouble.take();
        let lasting = matches!(
            kind.as_deref(),
            Some("authentication_failed" | "model_not_found" | "billing_error")
        );
        let gone = more.iter().any(|error| error.starts_with(GONE));
        if gone && run.resumed {
            return RunOutcome::SessionGone(message);
        }
        if lasting || gone {
            return RunOutcome::Lasting(message);
        }
        run.status = line["api_error_status"].as_u64();
        lines::failure(run.status, said, message)
    }
}

impl Format for ClaudeStream {
    fn reads(kind: &str) -> Option<Take<Self>> {
        Some(match kind {
            "system" => Self::system,
            "assistant" => Self::assistant,
            "user" => Self::user,
            "rate_limit_event" => Self::limited,
            "result" => Self::result,
            _ => return None,
        })
    }

    fn usage_so_far(&self, _run: &RunState) -> TokenUsage {
        self.messages.sum().unwrap_or_default()
    }

    fn costs_more(&self, run: &RunState) -> bool {
        // Background agents wake the session after its result.
        run.cost.is_some() && run.stream_end == StreamEnd::Nothing
    }

    fn report(&mut self, run: &mut RunState, left: &ExitInfo) -> AgentReport {
        run.tokens = self.tokens.of_this_run(run.resumed).or_else(|| {
            // A cut run has no result, so the messages report the tokens.
            self.messages.sum().filter(|_| run.stream_end == StreamEnd::Nothing)
        });
        run.report(&PROGRAM, left)
    }
}

impl ResultTokens {
    fn take_in(&mut self, result: &Value) {
        if let Some(share) = usage(&result["usage"]) {
            share.add_to(&mut self.main);
        }
        if let Some(share) = of_models(&result["model_usage_since_last_result"]) {
            share.add_to(&mut self.shares);
        }
        if let Some(all) = of_models(&result["modelUsage"]) {
            self.process = Some(self.process.unwrap_or_default().at_least(all));
        }
    }

    /// Newer clients count `modelUsage` from the first day of a resumed session; older ones leave sub-agents out of
    /// `usage`.
    fn of_this_run(self, resumed: bool) -> Option<TokenUsage> {
        let process = if resumed { None } else { self.process };
        self.shares.or(process).or(self.main)
    }
}

fn usage(usage: &Value) -> Option<TokenUsage> {
    let names =
        ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    usage.is_object().then(|| TokenUsage::of_in(usage, names))
}

/// The sum over all models.
fn of_models(usage: &Value) -> Option<TokenUsage> {
    let names = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
    TokenUsage::sum(usage.as_object()?.values().map(|model| TokenUsage::of_in(model, names)))
}
