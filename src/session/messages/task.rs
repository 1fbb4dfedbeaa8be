//! The texts of a ralph loop, for the agent and for people (spec 002).
//!
//! A person sees every reason in full: a task of more than [`SHORT`] characters is named by its file.

use std::fmt::Write;
use std::path::Path;

use super::insist::Insistence;
use super::shortfall::{Reader, brief, explain};
use super::{AFTER_COMPLETED, HONEST, NextStep, needs_all, person};
use crate::engine::promise::marker;
use crate::engine::{NO_CHECK, Shortfall, TerminalReason, WithoutWork};
use crate::feature::project::printable;
use crate::hosts::ContinueForm;
use crate::judge::promised::doubt;
use crate::refusal::Refusal;
use crate::session::messages::feature::{limited, shortened};
use crate::store::loops::{Assignment, Record, SessionFolder};
use crate::store::names::{EndName, EndStatus, LoopKind};
use crate::text::{self, counted};

/// Characters of the longest task that is given in full; of a longer one, the beginning and its file.
pub const SHORT: usize = 2_000;
/// What the agent should do instead of ending its turn again.
const INSISTENCE: Insistence<'_> =
    Insistence { instead: "Do the next step now, or say what stops you.", same_list: "" };
/// Checks named when the contract is repeated.
const CHECKS_AGAIN: usize = 4;
/// The beginning of every text of `/ulw-loop`.
const ULTRAWORK: &str = "ULTRAWORK MODE: full effort. Plan the whole of it first, hand independent parts to agents side by side, take nothing for done that you have not run, and go on until nothing is left.\n\n";
/// How the agent says that only a person can continue.
const BLOCKED: &str = "When only a person can continue, run `spool block \"what the person must do\"` and end your turn with the same: that ends the loop.";
/// Characters of a long task's beginning.
const BEGINNING: usize = 240;

/// The first words of a task, on one line of at most 60 characters.
pub fn title(task: &str) -> String {
    let line = task.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    text::title(line, 60)
}

pub fn beginning(task: &str) -> String {
    task.trim_start().chars().take(BEGINNING).collect()
}

/// The agent's contract, with its command: task, stopping rule, limits.
pub fn start(record: &Record, folder: &SessionFolder) -> String {
    let Some(assignment) = record.ralph() else { return String::new() };
    let mut text = format!(
        "{}ralph-speckit: a loop is armed in this session.\n\nTask:\n{}\n\nThe rules are strict, do not violate them:\n",
        flavour(assignment),
        task_in(assignment, &folder.path(""))
    );
    match &assignment.contract.token {
        Some(token) => promise_rules(&mut text, assignment, token),
        None => text.push_str(
            "- Work until the task is fully done. No marker is asked for: whenever you end your turn, the checks below are run, and they alone decide.\n",
        ),
    }
    for check in &assignment.contract.checks {
        let terms = check.terms();
        let _ = writeln!(text, "- This check has to pass, {terms}: `{}`", check.run);
    }
    text += "- Whenever you end your turn before that, you are sent back to work. Do not ask questions: nobody is there to answer.\n";
    honest_rules(&mut text);
    let _ = write!(text, "- {BLOCKED}\n\n{}.", limits(record));
    text
}

fn promise_rules(text: &mut String, assignment: &Assignment, token: &str) {
    let marker = marker(token);
    let _ = write!(
        text,
        "- Only when the task is fully done, output {marker} in your final message.\n\
         - It has to match exactly: the same letters in the same case, no blank inside the tags, no variant. In code, in quotation marks or in a sentence that denies it, it does not count.\n\
         - While the task is not done, do not output it: not to get out, not because you are stuck.\n"
    );
    let contract = &assignment.contract;
    if contract.without_work == WithoutWork::Reject && contract.min_tool_calls > 0 {
        let calls = counted(contract.min_tool_calls, "tool call");
        let _ = writeln!(text, "- It is refused with fewer than {calls} before it.");
    }
}

/// The limits on one line, without a full stop.
pub fn limits(record: &Record) -> String {
    let Some(assignment) = record.ralph() else { return String::new() };
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

/// For a person, when the loop is armed.
pub fn armed_line(record: &Record) -> String {
    let Some(assignment) = record.ralph() else { return String::new() };
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

/// Why a second loop is refused.
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

/// Sends the agent back to work.
pub fn go_on(
    record: &Record,
    folder: &SessionFolder,
    missing: &[Shortfall],
    form: ContinueForm,
) -> String {
    let Some(assignment) = record.ralph() else { return String::new() };
    let (ledger, contract) = (&record.ledger, &assignment.contract);
    let marker = contract.token.as_deref().map(marker);
    let mut text = flavour(assignment).to_owned();
    let reader = Reader {
        who: "You",
        promise: marker.as_deref().unwrap_or_default(),
        without: "You attempted to end the loop, but you did not output the completion promise",
        open: "",
        finished: "",
        bullet: "",
        // Output that the agent has seen is not repeated in full.
        output: if ledger.same_failure > 1 { 400 } else { 1_600 },
    };
    explain(&mut text, missing, reader);
    text += &INSISTENCE.line(ledger, &contract.guardrails, missing);
    let rule = match &marker {
        Some(_) => {
            "Continue working on the original task below. Only output the promise when the task is fully complete."
        }
        None => {
            "Continue working on the original task below. The loop ends when every check passes."
        }
    };
    let _ = write!(text, "{rule}\n({}. {BLOCKED})\n", iteration(record));
    if needs_all(record, form) {
        rules_again(&mut text, assignment);
    }
    limited(text) + &original(assignment, &folder.path(""))
}

/// The whole contract, after a compaction or a resume.
pub fn reminder(record: &Record, folder: &Path) -> String {
    let Some(assignment) = record.ralph() else { return String::new() };
    let (flavour, iteration) = (flavour(assignment), iteration(record));
    let mut text =
        format!("{flavour}ralph-speckit: a loop is armed in this session, {iteration}.\n");
    rules_again(&mut text, assignment);
    let _ = writeln!(text, "- {BLOCKED}");
    limited(text) + &original(assignment, folder)
}

/// The task once more, in full.
fn original(assignment: &Assignment, folder: &Path) -> String {
    ["\nOriginal task: ", &task_in(assignment, folder)].concat()
}

/// The rules for an agent that may have forgotten them.
fn rules_again(text: &mut String, assignment: &Assignment) {
    text.push_str("The rules are strict, do not violate them:\n");
    match &assignment.contract.token {
        Some(token) => promise_rules(text, assignment, token),
        None => text.push_str("- Work until the task is fully done: the checks alone decide.\n"),
    }
    let checks = &assignment.contract.checks;
    for check in checks.iter().take(CHECKS_AGAIN) {
        let _ = writeln!(text, "- This check has to pass: `{}`", text::title(&check.run, 120));
    }
    if checks.len() > CHECKS_AGAIN {
        let _ = writeln!(text, "- So have {} more checks.", checks.len() - CHECKS_AGAIN);
    }
    text.push_str("- Do not ask questions: nobody is there to answer.\n");
    honest_rules(text);
}

fn honest_rules(text: &mut String) {
    for rule in HONEST {
        let _ = writeln!(text, "- {rule}");
    }
}

/// For a person, when the agent is sent back.
pub fn progress(record: &Record, missing: &[Shortfall]) -> String {
    person::line("", &[&iteration(record), &brief(missing, "")])
}

/// Spec 002's name for an end.
pub fn status(record: &Record, reason: &TerminalReason) -> EndStatus {
    let promised = record.ralph().is_some_and(|assignment| assignment.contract.token.is_some());
    EndStatus::of(reason, promised)
}

/// For a person, when the loop has ended; `missing` is what was missing then.
pub fn end_message(record: &Record, reason: &TerminalReason, missing: &str) -> String {
    let status = status(record, reason);
    let head = match (reason, &status) {
        (_, EndStatus::None) => EndName::of(reason).in_words(),
        (TerminalReason::Completed, _) => format!("done ({status})"),
        _ => format!("ended ({}, {status})", reason.name()),
    };
    let why = match (reason, &status) {
        (TerminalReason::Completed, EndStatus::None) if record.ledger.against.is_empty() => {
            "every check passed".to_owned()
        }
        (TerminalReason::Completed, _) => grounds(record),
        _ => person::more_than(&EndName::of(reason), &reason.to_string()),
    };
    let next =
        if *reason == TerminalReason::Completed { String::new() } else { next(record, reason) };
    person::ended(record, &head, [&why, missing], &next)
}

/// The person's next step after the end, behind "Next: "; empty while the loop lives.
pub fn after_end(record: &Record) -> String {
    match &record.ledger.ended {
        None => String::new(),
        Some(_) if !record.moved_to.is_empty() => {
            format!("nothing here: session {} continues it.", printable(&record.moved_to))
        }
        Some(TerminalReason::Completed) => AFTER_COMPLETED.to_owned(),
        Some(reason) => person::behind_next(&next(record, reason)),
    }
}

/// Doubts about an accepted promise, for a person; empty for none.
pub fn grounds(record: &Record) -> String {
    let Some(assignment) = record.ralph() else { return String::new() };
    let by_word = doubt(&record.ledger);
    let contract = &assignment.contract;
    // Only a promise needs tool calls behind it.
    let has_calls = contract.token.is_none() || record.ledger.tool_calls >= contract.min_tool_calls;
    if has_calls || !matches!(record.ledger.against.as_str(), "" | NO_CHECK) {
        return by_word;
    }
    let words = match contract.without_work {
        WithoutWork::Accept => "",
        WithoutWork::Warn => "warning: too few tool calls were seen for it",
        WithoutWork::Reject if record.ledger.unseen_claims > 0 => {
            "no work could be seen; the promise was repeated"
        }
        WithoutWork::Reject => "tool calls could not be counted; files or commits changed",
    };
    [&by_word, words].join(if by_word.is_empty() || words.is_empty() { "" } else { "; " })
}

fn next(record: &Record, reason: &TerminalReason) -> String {
    let again = match record.ralph() {
        Some(Assignment { ultrawork: true, .. }) => "start it again with /speckit:ulw-loop",
        _ => "start it again with /speckit:ralph-loop",
    };
    NextStep { again, look_at: "what it did last" }.after(reason)
}

fn flavour(assignment: &Assignment) -> &'static str {
    if assignment.ultrawork { ULTRAWORK } else { "" }
}

fn iteration(record: &Record) -> String {
    let limit = record.ralph().and_then(|task| task.contract.guardrails.max_iterations);
    let of = limit.map_or_else(String::new, |limit| format!(" of {limit}"));
    format!("iteration {}{of}", record.ledger.iterations)
}

/// The whole task, or its first words and the file with all of it.
fn task_in(assignment: &Assignment, folder: &Path) -> String {
    // The record has at most this much of a long task.
    if assignment.task_file.is_empty() || assignment.task.chars().count() > BEGINNING {
        return assignment.task.clone();
    }
    let path = folder.join(&assignment.task_file).display().to_string();
    format!(
        "read the whole of it in {} before you go on. It begins: {}…",
        shortened(&path),
        assignment.task
    )
}
