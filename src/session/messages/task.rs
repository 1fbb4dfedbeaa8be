//! What a ralph loop says, to the agent and to people (spec 002).
//!
//! A reason is shown to the person whole and reaches the model twice on newer clients: it is short,
//! and a long task goes by its file.

use std::fmt::Write;
use std::path::Path;

use super::NextStep;
use super::person;
use super::shortfall::{Reader, brief, explain};
use crate::engine::promise::marker;
use crate::engine::{PromiseMatch, Shortfall, TerminalReason, WithoutWork};
use crate::feature::project::printable;
use crate::refusal::Refusal;
use crate::session::messages::feature::{limited, moved_message, shortened};
use crate::store::loops::{Assignment, Record, Session};
use crate::store::names::{EndStatus, LoopKind};
use crate::text::{self, counted};

/// The longest task, in characters, that is repeated in every text; a longer one is named by its file.
pub const SHORT: usize = 1_500;
/// What begins every text of `/ulw-loop`.
const ULTRAWORK: &str = "ULTRAWORK MODE: full effort. Plan the whole of it first, hand independent parts to agents side by side, take nothing for done that you have not run, and go on until nothing is left.\n\n";
/// How the agent says that only a person can continue.
const BLOCKED: &str = "When only a person can continue, run `spool block \"what the person must do\"` and end your turn with the same: that ends the loop.";
/// The most characters of the beginning of a long task.
const BEGINNING: usize = 240;

/// Returns the first words of a task, on one line of at most 60 characters.
pub fn title(task: &str) -> String {
    let line = task.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    text::title(line, 60)
}

/// Returns the beginning of a long task.
pub fn beginning(task: &str) -> String {
    task.trim_start().chars().take(BEGINNING).collect()
}

/// Returns the contract that the agent gets with its command: task, stopping rule, limits.
pub fn start(record: &Record, folder: &Session) -> String {
    let Some(assignment) = record.ralph() else {
        return String::new();
    };
    let mut text =
        format!("{}ralph-speckit: a loop is armed in this session.\n", flavour(assignment));
    let _ = write!(
        text,
        "\nTask:\n{}\n\nThe rules are strict, do not violate them:\n",
        task(assignment, folder)
    );
    match &assignment.contract.token {
        Some(token) => promise_rules(&mut text, assignment, token),
        None => text.push_str(
            "- Work until the task is fully done. No marker is asked for: whenever you end your turn, the checks below are run, and they alone decide.\n",
        ),
    }
    for check in &assignment.contract.checks {
        let limit = check.limit_seconds;
        let _ = writeln!(text, "- This check has to pass, within {limit} s: `{}`", check.run);
    }
    let _ = writeln!(
        text,
        "- Whenever you end your turn before that, you are sent back to work. Do not ask questions: nobody is there to answer."
    );
    let _ = write!(text, "- {BLOCKED}\n\n{}.", limits(record));
    text
}

fn promise_rules(text: &mut String, assignment: &Assignment, token: &str) {
    let marker = marker(token);
    let place = match assignment.promise_match {
        PromiseMatch::Anywhere => "in your final message",
        PromiseMatch::OwnLine => "alone on the last line of your final message",
    };
    let _ = writeln!(text, "- Only when the task is fully done, output {marker} {place}.");
    let _ = writeln!(
        text,
        "- It has to match exactly: the same letters in the same case, no blank inside the tags, no variant. In code, in quotation marks or in a sentence that denies it, it does not count."
    );
    let _ = writeln!(
        text,
        "- While the task is not done, do not output it: not to get out, not because you are stuck."
    );
    let contract = &assignment.contract;
    if contract.without_work == WithoutWork::Reject && contract.min_tool_calls > 0 {
        let _ = writeln!(
            text,
            "- It is refused with fewer than {} before it.",
            counted(contract.min_tool_calls, "tool call")
        );
    }
}

/// Returns the limits of a loop in one line without a full stop.
pub fn limits(record: &Record) -> String {
    let Some(assignment) = record.ralph() else {
        return String::new();
    };
    let contract = &assignment.contract;
    let mut text = match contract.guardrails.max_iterations {
        Some(limit) => format!("Limit: {}", counted(limit.into(), "iteration")),
        None => "Warning: no limit of iterations was set; /speckit:cancel-ralph ends the loop"
            .to_owned(),
    };
    if contract.min_iterations > 1 {
        let _ = write!(text, "; no end before iteration {}", contract.min_iterations);
    }
    text
}

/// Returns the line that a person sees when the loop is armed.
pub fn armed_line(record: &Record) -> String {
    let Some(assignment) = record.ralph() else {
        return String::new();
    };
    let contract = &assignment.contract;
    let until = match &contract.token {
        Some(token) => format!("until {}", marker(token)),
        None => "until every check passes".to_owned(),
    };
    let limit = match contract.guardrails.max_iterations {
        Some(limit) => format!("at most {}", counted(limit.into(), "iteration")),
        None => "no limit of iterations".to_owned(),
    };
    let least = match contract.min_iterations {
        0 | 1 => String::new(),
        least => format!("at least {least}"),
    };
    person::line("armed: ", &[&record.about, &until, &limit, &least])
}

/// Returns why a second loop is refused.
pub fn already_armed(live: &Record) -> Refusal {
    let (what, cancel) = if live.kind == LoopKind::Task {
        (format!("a ralph loop: {}", live.about), "/speckit:cancel-ralph")
    } else {
        (format!("the loop of feature {}", printable(&live.about)), "/speckit:cancel")
    };
    Refusal::new(
        format!("this session has {what} (iteration {})", live.ledger.iterations),
        format!("end it first with {cancel}, or start this one with --replace"),
    )
}

/// Returns the text that sends the agent back to work.
pub fn go_on(record: &Record, folder: &Session, missing: &[Shortfall]) -> String {
    let Some(assignment) = record.ralph() else {
        return String::new();
    };
    let mut text = flavour(assignment).to_owned();
    let marker = assignment.contract.token.as_deref().map(marker);
    let reader = Reader {
        who: "You",
        promise: marker.as_deref().unwrap_or_default(),
        without: "You attempted to end the loop, but you did not output the completion promise",
        open: "",
        bullet: "",
        output: 1_600,
    };
    explain(&mut text, missing, reader);
    let rule = match &marker {
        Some(_) => {
            "Continue working on the original task below. Only output the promise when the task is fully complete."
        }
        None => {
            "Continue working on the original task below. The loop ends when every check passes."
        }
    };
    let _ = write!(
        text,
        "{rule}\n({}. {BLOCKED})\n\nOriginal task: {}",
        iteration(record),
        task(assignment, folder)
    );
    limited(text)
}

/// Returns the paragraph that a session gets after a compaction or a resume.
pub fn reminder(record: &Record, folder: &Path) -> String {
    let Some(assignment) = record.ralph() else {
        return String::new();
    };
    let rule = match &assignment.contract.token {
        Some(token) => format!("Only when it is fully done, output {}.", marker(token)),
        None => "It ends when every check passes.".to_owned(),
    };
    limited(format!(
        "{}ralph-speckit: a loop is armed in this session, {}. {rule} {BLOCKED}\n\nOriginal task: {}",
        flavour(assignment),
        iteration(record),
        task_in(assignment, folder)
    ))
}

/// Returns the line that a person sees when the agent is sent back.
pub fn progress(record: &Record, missing: &[Shortfall]) -> String {
    person::line("", &[&iteration(record), &brief(missing, "")])
}

/// Returns the name that spec 002 has for an end.
pub fn status(record: &Record, reason: &TerminalReason) -> EndStatus {
    let promised = record.ralph().is_some_and(|assignment| assignment.contract.token.is_some());
    EndStatus::of(reason, promised)
}

/// Returns what a person reads when the loop has ended; `missing` is what was not there at that moment.
pub fn end_message(record: &Record, reason: &TerminalReason, missing: &str) -> String {
    let status = status(record, reason);
    let (head, why) = match (reason, status) {
        (TerminalReason::Completed, EndStatus::None) => {
            ("done (completed)".to_owned(), "every check passed".to_owned())
        }
        (TerminalReason::Completed, status) => {
            (format!("done ({status})"), grounds(record).to_owned())
        }
        (_, EndStatus::None) => (format!("ended ({})", reason.name()), reason.to_string()),
        (_, status) => (format!("ended ({}, {status})", reason.name()), reason.to_string()),
    };
    let next =
        if *reason == TerminalReason::Completed { String::new() } else { NEXT.after(reason) };
    person::ended(record, &head, [&why, missing], &next)
}

/// Returns what a person reads at the next stop about a loop that ended before it.
pub fn told_late(record: &Record) -> Option<String> {
    let ended = record.ledger.ended.as_ref();
    let moved = moved_message(record);
    moved.or_else(|| ended.map(|reason| end_message(record, reason, "")))
}

/// Returns what a person should know about an accepted promise, empty when there was work before it.
pub fn grounds(record: &Record) -> &'static str {
    let Some(assignment) = record.ralph() else {
        return "";
    };
    if record.ledger.tool_calls >= assignment.contract.min_tool_calls {
        return "";
    }
    match assignment.contract.without_work {
        WithoutWork::Accept => "",
        WithoutWork::Warn => "warning: too few tool calls were seen for it",
        WithoutWork::Reject if record.ledger.unseen_claims > 0 => {
            "no work could be seen; the promise was repeated"
        }
        WithoutWork::Reject => "tool calls could not be counted; files or commits changed",
    }
}

const NEXT: NextStep =
    NextStep { again: "start it again with /speckit:ralph-loop", look_at: "what it did last" };

fn flavour(assignment: &Assignment) -> &'static str {
    if assignment.ultrawork { ULTRAWORK } else { "" }
}

fn iteration(record: &Record) -> String {
    let limit = record.ralph().and_then(|it| it.contract.guardrails.max_iterations);
    let of = limit.map_or_else(String::new, |limit| format!(" of {limit}"));
    format!("iteration {}{of}", record.ledger.iterations)
}

fn task(assignment: &Assignment, folder: &Session) -> String {
    task_in(assignment, &folder.path(""))
}

/// The task whole, or the file that holds it whole with its first words.
fn task_in(assignment: &Assignment, folder: &Path) -> String {
    if assignment.task_file.is_empty() {
        return assignment.task.clone();
    }
    let path = folder.join(&assignment.task_file).display().to_string();
    format!(
        "read the whole of it in {} before you go on. It begins: {}…",
        shortened(&path),
        assignment.task
    )
}
