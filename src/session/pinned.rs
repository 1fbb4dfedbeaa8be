//! The arming of a loop by a person: the commands that may run, the limits, and what the person is shown.

use std::fmt::Write;
use std::io;
use std::path::Path;

use crate::engine::order::few;
use crate::engine::{Check, Contract, ReviewWhen, TerminalReason, Verdict};
use crate::feature::settings::{SETTINGS, Settings, come_with_the_repository};
use crate::judge::{TickJudge, promised};
use crate::notice::NOTICE_LIMIT;
use crate::refusal::Refusal;
use crate::store::loops::{Loops, Record, VerifyCommands};
use crate::store::names::{ArmedBy, LoopKind};
use crate::store::pins::{LoopLimits, Pin, PinKey, PinState, Pins};
use crate::store::receipts::Receipts;
use crate::store::trust;
use crate::text;

/// UTF-16 units of armed commands in one message of a session: Claude Code cuts a message off at 10,000, and the words
/// about the loop need some.
const MESSAGE: usize = 9_000;
/// A longer run of blanks is shown by its length.
const BLANKS: usize = 16;

pub fn standing(root: &Path, record: &Record) -> PinState {
    let pin = match record.kind {
        LoopKind::Task => Ok(record.armed.as_deref().cloned()),
        _ => Loops::of(root).pin(&record.about),
    };
    standing_by(root, record, pin)
}

/// Like [`standing`], with a pin that the caller has read.
pub fn standing_by(root: &Path, record: &Record, pin: io::Result<Option<Pin>>) -> PinState {
    let by_person = record.armed_by.is_person() || record.armed_by == ArmedBy::Lost;
    let is_over = matches!(&pin, Ok(Some(pin)) if pin.ended.is_some());
    match PinState::found(Pins::of(root).and(pin)) {
        PinState::Nobody if by_person && !is_over => PinState::Lost(not_found(root, record)),
        // Without a place outside the project, no later read can succeed either.
        PinState::Unknown(why) if by_person && Pins::of(root).is_err() => PinState::Lost(why),
        standing => standing,
    }
}

fn not_found(root: &Path, record: &Record) -> String {
    let name = match record.kind {
        LoopKind::Task => ["session-", &record.session].concat(),
        _ => ["feature-", &record.about].concat(),
    };
    let path = Pins::of(root).map(|pins| pins.beside(&(name + ".json")).display().to_string());
    format!(
        "`{}` does not have it: a version before 1.0.0 armed the loop and kept nothing there, or it was removed, or `HOME` or `XDG_STATE_HOME` is another now",
        path.unwrap_or_default()
    )
}

pub fn standing_of_feature(root: &Path, feature: &str) -> PinState {
    PinState::found(Pins::of(root).and_then(|_| Loops::of(root).pin(feature)))
}

/// True if git tracks the settings and the person trusts them. Tracked settings without trust are refused: their
/// commands came with the repository.
pub fn trusted(root: &Path, settings: &Settings) -> Result<bool, Refusal> {
    let commands = settings.commands();
    if commands.is_empty() || !come_with_the_repository(root) {
        return Ok(false);
    }
    let why = match trust::trusts(root, SETTINGS, &commands) {
        Ok(true) => return Ok(true),
        Ok(false) => "you have not trusted its commands".to_owned(),
        Err(error) => format!("what you trust cannot be read: {error}"),
    };
    let shown: Vec<_> = commands.iter().map(|command| format!("  {}", indented(command))).collect();
    Err(Refusal::new(
        format!(
            "nothing is armed: `{SETTINGS}` came with the repository (git tracks it), and {why}:\n{}",
            shown.join("\n")
        ),
        "if you would type these commands yourself, run `spool trust` in a terminal; otherwise remove them",
    ))
}

/// Fails if this end depends on an arming that cannot be read now: the loop would end without its checks, or too early.
/// A loop whose pin is lost ends by its limits, never by its list alone.
pub fn may_end(root: &Path, record: &Record, standing: &PinState, end: &Verdict) -> io::Result<()> {
    let Verdict::End(reason) = end else { return Ok(()) };
    let completes = matches!(reason, TerminalReason::Completed);
    let limits =
        matches!(reason, TerminalReason::MaxIters { .. } | TerminalReason::TaskFailed { .. });
    match standing {
        PinState::Lost(_) if completes => {
            Err(io::Error::other(lost_words(record, standing).unwrap_or_default()))
        }
        // Without a place outside the project, no arming was stored.
        PinState::Unknown(why) if (completes || limits) && Pins::of(root).is_ok() => {
            Err(io::Error::other(why.clone()))
        }
        _ => Ok(()),
    }
}

/// Removes what was kept for the promise of a ralph loop that has ended.
pub fn end_promise(root: &Path, record: &Record) {
    if record.kind == LoopKind::Task && record.moved_to.is_empty() {
        let _ = promise_judge(root, record).and_then(|judge| judge.receipts.end_run());
    }
}

/// The judge of a ralph loop's promise. An error if nothing can be kept outside of the project.
pub fn promise_judge(root: &Path, record: &Record) -> io::Result<TickJudge> {
    // The contents at arming are under the first session's name.
    let first = record.adopted.as_ref().map_or(&record.session, |adopted| &adopted.from);
    let receipts = Receipts::named(root, &["session-", first].concat())?;
    Ok(promised::promise_judge(root, receipts, record.armed_at))
}

/// Fails if a person armed this loop and the place of the pin cannot be reached from here: the end would not count.
pub fn reachable(root: &Path, record: &Record) -> io::Result<()> {
    match standing(root, record) {
        PinState::Lost(why) | PinState::Unknown(why) if Pins::of(root).is_err() => {
            Err(io::Error::other(why))
        }
        _ => Ok(()),
    }
}

/// Reduces a ralph loop that no person armed: no commands, at most the default limits, and a promise to make.
pub fn without_commands(record: &mut Record, promise: &str) {
    let Some(assignment) = record.assignment.as_deref_mut() else { return };
    let most = LoopLimits::default().max_iterations;
    let contract = &mut assignment.contract;
    contract.checks = Vec::new();
    // With the checks gone, only a promise can complete the loop.
    contract.token.get_or_insert_with(|| promise.to_owned());
    let limit = contract.guardrails.max_iterations.unwrap_or(most).min(most);
    contract.guardrails.max_iterations = Some(limit);
}

/// Writes a pin's Verify commands; a ralph loop has none. If nothing can be kept outside of the project: an error if
/// there are commands, otherwise words that say so.
pub fn keep_commands(
    pins: Result<&Pins, &io::Error>,
    whose: Option<PinKey<'_>>,
    pin: &Pin,
    commands: &VerifyCommands,
) -> Result<Option<String>, Refusal> {
    let keep = |pins: &Pins| match whose {
        Some(whose) => pins.keep_commands(whose, pin.armed_at, commands),
        None => pins.make(),
    };
    let error = match pins.map(keep) {
        Ok(Ok(())) => return Ok(None),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    let has_commands = !commands.is_empty() || !pin.notify.is_empty();
    // An earlier pin of the person would hold in place of this arming.
    let is_free = |whose| pins.map_or(true, |pins| matches!(pins.read(whose), Ok(None)));
    let is_free = whose.is_none_or(is_free);
    if is_free && pin.checks.is_empty() && !has_commands && pin.asked.is_none() {
        return Ok(Some(format!(
            "What was armed could not be kept outside of the project ({error}): the default limits hold."
        )));
    }
    Err(Refusal::new(
        format!(
            "nothing is armed: what holds for the loop cannot be kept where the agent does not write: {error}"
        ),
        "make that place writable, or set `XDG_STATE_HOME` to a folder outside of the project, then try again",
    ))
}

/// An error if the commands do not fit into a message of a session: a command that is not shown is not armed. `instead`
/// says what to do.
pub fn fits_a_message(shown: &str, instead: &str) -> Result<(), Refusal> {
    if shown.encode_utf16().count() <= MESSAGE {
        return Ok(());
    }
    let lines = shown.lines().count();
    Err(Refusal::new(
        format!(
            "nothing is armed: what would be run takes {lines} lines, more than a message in a session can show"
        ),
        instead.to_owned(),
    ))
}

/// Lines about all commands of a loop; empty for none.
pub fn shown(checks: &[Check], checks_from: &str, commands: &VerifyCommands, list: &str) -> String {
    let mut text = String::new();
    let (checks, review) = Contract::commands_and_review(checks);
    let write = |text: &mut String, check: &Check| {
        let _ = writeln!(text, "  {} ({})", indented(&check.run), check.terms());
    };
    if !checks.is_empty() {
        let _ = writeln!(text, "Checks, from {checks_from}, run when the work is said to be done:");
        for check in checks {
            write(&mut text, check);
        }
    }
    if let Some(review) = review {
        text.push_str("Review by another agent program, run when ");
        text.push_str(match review.when() {
            ReviewWhen::End => "",
            ReviewWhen::Phases => "the tasks of a phase are all ticked, and when ",
            ReviewWhen::Verify => "a [VERIFY] task is ticked, and when ",
        });
        text.push_str("all else says that the work is done:\n");
        write(&mut text, review);
    }
    if !commands.is_empty() {
        let (tasks, list) = (text::counted(commands.len() as u64, "task"), text::line(list));
        let _ = writeln!(
            text,
            "Verify commands of {tasks}, from {list}, run when one is reported as done, and at the end for boxes ticked by hand:"
        );
        for (command, ids) in by_command(commands) {
            let tasks = few(&mut ids.iter().map(|id| text::title(id, 40)), 8);
            let _ = writeln!(text, "  {}  ({tasks})", indented(command));
        }
    }
    text
}

/// The same for a pin, with `typed` checks in the command itself.
pub fn shown_of(pin: &Pin, commands: &VerifyCommands, typed: usize) -> String {
    let (checks, _) = Contract::commands_and_review(&pin.checks);
    let from = match typed {
        0 => SETTINGS.to_owned(),
        _ if checks.len() <= typed => "the command that was typed".to_owned(),
        _ => format!("{SETTINGS} and the command that was typed"),
    };
    let mut text = shown(&pin.checks, &from, commands, &pin.list);
    text += &shown_notice(&pin.notify, SETTINGS);
    if !pin.protect.is_empty() {
        let _ = writeln!(text, "Protected, from {SETTINGS}, nobody but you may change:");
        for pattern in &pin.protect {
            let _ = writeln!(text, "  {}", text::line(pattern));
        }
    }
    text
}

/// Lines about the notice command and its source; empty for none.
pub fn shown_notice(command: &str, from: &str) -> String {
    let when = format!("run when the loop ends or needs you (within {} s)", NOTICE_LIMIT.as_secs());
    let text = format!("Notice, from {from}, {when}:\n  {}\n", indented(command));
    if command.is_empty() { String::new() } else { text }
}

/// A summary of the arming: `2 checks, Verify commands of 3 tasks`; `named` follows the checks.
pub fn in_short(checks: usize, named: &str, verify: usize) -> String {
    let checks = match checks {
        0 => "no checks".to_owned(),
        1 => ["1 check", named].concat(),
        many => format!("{many} checks{named}"),
    };
    match verify {
        0 => format!("{checks}, no Verify commands"),
        1 => format!("{checks}, the Verify command of 1 task"),
        many => format!("{checks}, Verify commands of {many} tasks"),
    }
}

/// Checks within a line: ` (`cargo test`, `npm test`)`; empty for none.
pub fn checks_in_words(checks: &[Check]) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let runs = checks.iter().map(|check| format!("`{}`", text::title(&check.run, 200)));
    format!(" ({})", runs.collect::<Vec<_>>().join(", "))
}

/// Each command with all its tasks, in the order of their first tasks.
fn by_command(commands: &VerifyCommands) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for (id, command) in commands {
        let place = *places.entry(command.as_str()).or_insert_with(|| {
            found.push((command, Vec::new()));
            found.len() - 1
        });
        found[place].1.push(id);
    }
    found
}

/// A command in full, for a person to judge: further lines are indented. A long run of blanks or empty lines, which
/// could move the rest out of sight, is shown by its length.
pub fn indented(command: &str) -> String {
    let block = text::block(command);
    let mut shown = String::with_capacity(block.len());
    let mut empty = 0;
    for line in block.trim_end().lines() {
        if line.trim().is_empty() {
            empty += 1;
            continue;
        }
        match empty {
            0 => {}
            1..=2 => shown.push_str(&"\n".repeat(empty)),
            many => {
                let _ = write!(shown, "\n    [{many} empty lines]");
            }
        }
        empty = 0;
        if !shown.is_empty() {
            shown.push_str("\n    ");
        }
        let mut rest = line;
        while let Some(start) = rest.find(char::is_whitespace) {
            let length = rest[start..].find(|letter: char| !letter.is_whitespace());
            let end = start + length.unwrap_or(rest.len() - start);
            let blanks = rest[start..end].chars().count();
            if blanks > BLANKS {
                let _ = write!(shown, "{} [{blanks} blanks] ", &rest[..start]);
            } else {
                shown.push_str(&rest[..end]);
            }
            rest = &rest[end..];
        }
        shown.push_str(rest);
    }
    shown
}

/// For a person, once: no person armed this loop.
pub fn nobody_words(record: &Record, standing: &PinState, limits: LoopLimits) -> String {
    if let Some(words) = lost_words(record, standing) {
        return format!(
            "{words}. Until then no check and no Verify command is run for it, it ends after {} iterations at most, and its task list alone does not complete it.",
            limits.max_iterations
        );
    }
    let about = &record.about;
    let why = match standing {
        PinState::Unknown(why) => {
            format!("what was armed for {} cannot be read: {why}", text::title(about, 80))
        }
        _ => format!("no person armed the loop of {}", text::title(about, 80)),
    };
    let (again, cancel) = commands_for(record);
    format!(
        "{why}. No check and no Verify command is run for it, and it ends after {} iterations at most. To run them: {again}, which shows them first; to end it: {cancel}.",
        limits.max_iterations
    )
}

/// A person armed the loop, and its pin is not found.
fn lost_words(record: &Record, standing: &PinState) -> Option<String> {
    let PinState::Lost(why) = standing else { return None };
    let (again, cancel) = commands_for(record);
    Some(format!(
        "a person armed the loop of {}, and what was armed is not found: {why}. Put it back, or arm the loop again with {again}; to end it: {cancel}",
        text::title(&record.about, 80)
    ))
}

/// The person's next step about a lost pin; `None` for any other state.
pub fn next_where_lost(record: &Record, standing: &PinState) -> Option<String> {
    let (again, cancel) = commands_for(record);
    let is_lost = matches!(standing, PinState::Lost(_));
    is_lost.then(|| {
        format!("what was armed is not found: arm it again with {again}; to end it: {cancel}")
    })
}

/// The commands that arm and end a loop of this kind.
pub fn commands_for(record: &Record) -> (&'static str, &'static str) {
    if record.kind == LoopKind::Task {
        ("/speckit:ralph-loop", "/speckit:cancel-ralph")
    } else {
        ("/speckit:implement", "/speckit:cancel")
    }
}
