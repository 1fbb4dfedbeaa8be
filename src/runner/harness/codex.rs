//! Codex.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use serde_json::Value;

use super::lines::{self, StreamEnd};
use super::permissions::{Accepts, Letters};
use super::stream::{Format, RunState, StreamReader, Take, text};
use super::{
    AgentOrder, AgentReport, Approval, CallOutcome, Ending, ExitInfo, Harness, Launch,
    OutputReader, RunOutcome, TokenUsage, adapter::KnownProgram, program, sessions,
};
use crate::exec::version::Version;
use crate::world::{self, WallTime};

const PROGRAM: KnownProgram = KnownProgram {
    name: "codex",
    install: "npm install -g @openai/codex",
    set: &[],
    oldest: None,
    proven: Version(0, 169, 0),
    lasting: &["Not inside a trusted directory", "no rollout found", "Not logged in"],
    gone: &["no rollout found"],
    accepts: ACCEPTS,
};

/// Codex's words for a service that is out of order; the text has no status.
const OVERLOADED: &[&str] =
    &["We're currently experiencing high demand", "Selected model is at capacity"];

/// Items that are tool calls; others are words, plans and warnings.
const TOOLS: &[&str] =
    &["command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"];

/// Taken from the help of `codex exec` 0.169.0.
const ACCEPTS: Accepts = Accepts {
    title: "Codex",
    denies: "without --allow-all, Codex can only read files, and does not say so when it may not write them",
    mode: Some(("--sandbox", &["read-only", "workspace-write"])),
    allow: None,
    deny: None,
    settings: "its config.toml",
    letters: Letters::WithValue,
    own: "--json -C --cd --worktree -h --help -V --version",
    ours: &[
        ("-m", "--model"),
        ("--model", "--model"),
        ("-s", "--permission-mode"),
        ("--sandbox", "--permission-mode"),
        ("--full-auto", "--permission-mode"),
        ("--dangerously-bypass-approvals-and-sandbox", "--allow-all"),
        ("--yolo", "--allow-all"),
    ],
};

#[derive(Clone, Copy, Debug)]
pub struct Codex;

impl Harness for Codex {
    fn known(&self) -> Option<&'static KnownProgram> {
        Some(&PROGRAM)
    }

    fn check(&self) -> Result<Option<String>> {
        let version = PROGRAM.check()?;
        let asked = PROGRAM.ask(&["login", "status"]).ok().flatten();
        let logged_out = asked.is_some_and(|answer| {
            let said = answer.output + &answer.errors;
            !answer.status.success() && said.contains("Not logged in")
        });
        if logged_out && !may_do_without_login() {
            bail!("Codex is not logged in\nlog in with `codex login`, or set CODEX_API_KEY");
        }
        Ok(version.map(|version| version.to_string()))
    }

    fn launch(&self, order: &AgentOrder<'_>) -> Result<Launch> {
        let mut arguments = vec!["exec", "--json"];
        if order.approval == Approval::All {
            arguments.push("--dangerously-bypass-approvals-and-sandbox");
        }
        let permitted = order.permissions.arguments(&ACCEPTS);
        arguments.extend(permitted.iter().map(String::as_str));
        if order.approval == Approval::ReadOnly {
            arguments.extend(["--sandbox", "read-only"]);
        }
        arguments.push("--skip-git-repo-check");
        if let Some(model) = order.model {
            arguments.extend(["-m", program::model(model)?]);
        }
        if let Some(session) = order.resume {
            arguments.extend(["resume", program::session(session)?]);
        }
        let (prompt, input) = program::way(order.prompt)?;
        arguments.push(prompt.unwrap_or("-"));
        // Codex ends its tools on SIGINT only.
        let launch = PROGRAM.launch(arguments, input);
        Ok(Launch { ending: Ending::Interrupt, folder: order.own_folder(), ..launch })
    }

    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader> {
        Box::new(reader(order, now()))
    }

    fn session_folders(&self) -> Vec<PathBuf> {
        home().map(|folder| folder.join("sessions")).into_iter().collect()
    }

    fn session_tokens(&self, session: &str, since: WallTime) -> Option<TokenUsage> {
        let is_its = |path: &Path| {
            path.file_stem().and_then(OsStr::to_str).is_some_and(|name| name.ends_with(session))
        };
        let (mut answers, mut turns) = (None, None);
        sessions::read(&self.session_folders(), &is_its, &mut |line| {
            if sessions::time(&line["timestamp"]) < since {
                return;
            }
            let (payload, last) = (&line["payload"], &line["payload"]["info"]["last_token_usage"]);
            if line["type"] == "token_usage_record" {
                used(&payload["usage"]).add_to(&mut answers);
            } else if payload["type"] == "token_count" && last.is_object() {
                used(last).add_to(&mut turns);
            }
        });
        // Older versions record each turn with its tools only.
        answers.or(turns)
    }
}

/// A key in the environment, or a person's own provider, needs no login.
fn may_do_without_login() -> bool {
    if ["CODEX_API_KEY", "OPENAI_API_KEY"].iter().any(|name| world::variable(name).is_some()) {
        return true;
    }
    let project = std::env::current_dir().unwrap_or_default();
    let projects = project.ancestors().map(|folder| folder.join(".codex"));
    let mut files = projects.chain(home()).map(|folder| folder.join("config.toml"));
    files.any(|file| program::says_one_of(&file, &["provider", "profile", "oss"]))
}

fn home() -> Option<PathBuf> {
    program::home("CODEX_HOME", ".codex")
}

fn now() -> Zoned {
    let millis = i64::try_from(world::now().millis()).unwrap_or(0);
    Timestamp::from_millisecond(millis).unwrap_or_default().to_zoned(TimeZone::system())
}

/// `now` resolves a time of day in a message: the next such time is meant.
pub(super) fn reader(order: &AgentOrder<'_>, now: Zoned) -> StreamReader<CodexStream> {
    StreamReader::new(CodexStream { now, trouble: String::new() }, order)
}

/// The events of `exec --json`.
///
/// No event shows a command that the sandbox stopped: without `--allow-all`, Codex may have made more tool calls than
/// are counted, and refused ones have no name.
#[derive(Debug)]
pub(super) struct CodexStream {
    now: Zoned,
    /// The last top-level error: a retry, unless the stream ends behind it.
    trouble: String,
}

impl CodexStream {
    fn item_started(_: &mut Self, run: &mut RunState, line: &Value) {
        let item = &line["item"];
        let kind = text(&item["type"]);
        if TOOLS.contains(&kind) {
            run.text.clear();
            let (tool, what) = tool(kind, item);
            run.begins(text(&item["id"]), lines::one_line(tool, 80), what);
        }
    }

    fn item_completed(_: &mut Self, run: &mut RunState, line: &Value) {
        let item = &line["item"];
        match text(&item["type"]) {
            kind if TOOLS.contains(&kind) => tool_completed(run, kind, item),
            "agent_message" => run.says_finally(text(&item["text"])),
            // A warning in spite of its name: only `turn.failed` is final.
            "error" => run.trouble(lines::words(
                item["message"].as_str().unwrap_or("a warning without words"),
            )),
            _ => {}
        }
    }

    fn turn_completed(_: &mut Self, run: &mut RunState, line: &Value) {
        let usage = &line["usage"];
        if usage.is_object() {
            // Later turns count on from earlier ones, so the last figure is the whole.
            run.uses(used(usage));
        }
        run.stream_end = StreamEnd::Result;
        run.finished();
    }

    fn turn_failed(&mut self, run: &mut RunState, line: &Value) {
        run.stream_end = StreamEnd::Failure(self.failure(run, text(&line["error"]["message"])));
        run.finished();
    }

    fn failure(&self, run: &mut RunState, said: &str) -> RunOutcome {
        if is_usage_limit(said) {
            let resets_at = resets_at(said, &self.now);
            return RunOutcome::UsageLimit { resets_at, words: lines::words(said) };
        }
        let message = lines::message("`codex` failed", said);
        let plain = said.replace('’', "'");
        let is_overloaded = OVERLOADED.iter().any(|words| plain.starts_with(words));
        run.status = if is_overloaded { Some(503) } else { status_in(said) };
        lines::failure(run.status, said, message)
    }
}

/// A tool, and its input.
fn tool<'a>(kind: &'a str, item: &'a Value) -> (&'a str, String) {
    let with = if item["changes"].is_null() { item } else { &item["changes"][0] };
    (item["tool"].as_str().unwrap_or(kind), lines::what(with))
}

fn tool_completed(run: &mut RunState, kind: &str, item: &Value) {
    run.text.clear();
    if !run.calls.is_new(text(&item["id"])) {
        return;
    }
    let (is_denied, is_failed) = (item["status"] == "declined", item["status"] == "failed");
    run.failed_calls += u64::from(is_denied || is_failed);
    run.ends(text(&item["id"]), CallOutcome::of(is_denied, is_failed));
    if is_denied {
        let (tool, what) = tool(kind, item);
        run.refuses(tool, &what);
    }
}

impl Format for CodexStream {
    fn reads(kind: &str) -> Option<Take<Self>> {
        Some(match kind {
            "thread.started" => |_, run, line| {
                run.session = lines::session(&line["thread_id"]).or(run.session.take());
            },
            "turn.started" => |_, run, _| run.stream_end = StreamEnd::Nothing,
            "item.started" => Self::item_started,
            "item.completed" => Self::item_completed,
            "turn.completed" => Self::turn_completed,
            "turn.failed" => Self::turn_failed,
            "error" => |format, run, line| {
                format.trouble = lines::words(text(&line["message"]));
                run.trouble(format.trouble.clone());
            },
            _ => return None,
        })
    }

    fn usage_so_far(&self, run: &RunState) -> TokenUsage {
        // A resumed session counts from its first day.
        run.tokens.filter(|_| !run.resumed).unwrap_or_default()
    }

    fn report(&mut self, run: &mut RunState, left: &ExitInfo) -> AgentReport {
        let mut report = run.report(&PROGRAM, left);
        if let (StreamEnd::Nothing, RunOutcome::Failed(message)) =
            (&run.stream_end, &mut report.outcome)
            && !self.trouble.is_empty()
        {
            *message = lines::message(message, &self.trouble);
        }
        AgentReport { tokens_of_session: run.resumed, ..report }
    }
}

/// The input includes cached tokens.
fn used(usage: &Value) -> TokenUsage {
    let names =
        ["input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"];
    TokenUsage::of_all_in(usage, names)
}

/// Codex has no field for a usage limit, only these words at the beginning of a message. No agent can write that
/// message.
fn is_usage_limit(said: &str) -> bool {
    said.replace('’', "'").starts_with("You've hit your usage limit")
}

/// Reads `…status: 429 Too Many Requests` and `unexpected status 401 …`.
fn status_in(said: &str) -> Option<u64> {
    let (_, behind) = said.split_once("status")?;
    let digits = behind.trim_start_matches([':', ' ']).get(..3)?;
    digits.parse().ok().filter(|status| (100..600).contains(status))
}

/// Reads `… try again at TIME.` as seconds since the Unix epoch. TIME is `3:45 PM` for today, or `Nov 22nd, 2026 12:59
/// AM`, in the local time zone.
///
/// `None` for an uncertain, a past time, or one more than 40 days ahead.
fn resets_at(said: &str, now: &Zoned) -> Option<u64> {
    let (_, behind) = said.rsplit_once("try again at ")?;
    let time = behind.trim().trim_end_matches('.');
    let time = ["st, ", "nd, ", "rd, ", "th, "]
        .iter()
        .find_map(|ending| time.split_once(ending))
        .map_or_else(|| time.to_owned(), |(day, rest)| format!("{day}, {rest}"));
    let parsed = DateTime::strptime("%b %d, %Y %I:%M %p", &time).ok().or_else(|| {
        let today = now.date();
        let whole = format!("{today} {time}");
        DateTime::strptime("%Y-%m-%d %I:%M %p", whole).ok()
    })?;
    let then = parsed.to_zoned(now.time_zone().clone()).ok()?;
    let away = now.duration_until(&then);
    // The message has no seconds: a limit that ends in this minute seems past.
    if away < SignedDuration::from_mins(-1) || away > SignedDuration::from_hours(40 * 24) {
        return None;
    }
    // The end of the named minute, since the message has no seconds.
    u64::try_from(then.timestamp().as_second()).ok().map(|second| second + 59)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Zoned {
        time.parse().unwrap()
    }

    const SAID: &str = "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at ";

    #[test]
    fn uncertain_limit_time_is_unread() {
        let now = at("2026-11-21T23:58:30+00:00[UTC]");
        for (time, expected) in [
            // 2026-11-22 00:59:59 UTC.
            ("Nov 22nd, 2026 12:59 AM.", Some(1_795_309_199)),
            ("Nov 23rd, 2026 1:05 PM.", Some(1_795_439_159)),
            ("Dec 1st, 2026 12:00 PM.", Some(1_796_126_459)),
            // Today.
            ("11:59 PM.", Some(1_795_305_599)),
            // This minute: its seconds are cut off.
            ("11:58 PM.", Some(1_795_305_539)),
            // Past, years away, or not a time at all.
            ("3:45 PM.", None),
            ("Nov 22nd, 2027 12:59 AM.", None),
            ("Nov 31st, 2026 12:59 AM.", None),
            ("13:00 PM.", None),
            ("noon.", None),
            ("", None),
        ] {
            assert_eq!(resets_at(&format!("{SAID}{time}"), &now), expected, "{time}");
        }
        assert_eq!(resets_at("You've hit your usage limit. Try again later.", &now), None);
    }

    #[test]
    fn usage_limit_time_is_local() {
        let now = at("2026-11-21T23:58:30+09:00[Asia/Tokyo]");
        let said = format!("{SAID}Nov 22nd, 2026 12:59 AM.");
        assert_eq!(resets_at(&said, &now), Some(1_795_309_199 - 9 * 3600));
    }

    #[test]
    fn failed_turn_words_give_status() {
        for (said, status) in [
            ("exceeded retry limit, last status: 429 Too Many Requests", Some(429)),
            ("unexpected status 401 Unauthorized: no key", Some(401)),
            ("We’re currently experiencing high demand", None),
            ("status", None),
            ("status: 1€5", None),
        ] {
            assert_eq!(status_in(said), status, "{said}");
        }
    }
}
