//! What a person armed: what may be run for a loop, under which limits, and what a person is shown of it.

use std::fmt::Write;
use std::io;
use std::path::Path;

use super::TASKS;
use super::arm::Refusal;
use super::project::{Feature, Project};
use super::settings::{SETTINGS, Settings, come_with_the_repository};
use super::state::State;
use crate::engine::{Check, TerminalReason, Verdict};
use crate::store::loops::{Claim, Loops, RALPH, Record, VerifyCommands};
use crate::store::pins::{Limits, Pin, Pins, Standing, Whose};
use crate::store::trust;
use crate::text;
use crate::world;

/// The most that a message in a session shows of what is armed, in UTF-16 units: Claude Code cuts one off at
/// 10,000, and what the loop itself is takes some.
const MESSAGE: usize = 9_000;
/// The longest run of blanks that is shown as it is.
const BLANKS: usize = 16;

/// Returns who armed the loop of this record.
pub fn standing(root: &Path, record: &Record) -> Standing {
    if record.armed_by == "claim" {
        // A state file that nobody armed was claimed: nothing was ever pinned for it.
        return Standing::Nobody;
    }
    Standing::of(root, whose(record), record.armed_at)
}

/// Returns who armed the live loop of a feature.
pub fn standing_of_feature(project: &Project, feature: &str) -> Standing {
    match Loops::of(&project.root).claim(feature).filter(|claim| claim.closed.is_none()) {
        Some(claim) => Standing::of(&project.root, Whose::Feature(feature), claim.armed_at),
        None => Standing::Nobody,
    }
}

/// Returns what was armed by the run of `spool ralph` that works on a feature at the moment, `None` without one.
pub fn pin_of_runner(project: &Project, feature: &Feature) -> Option<Pin> {
    let pin = Pins::of(&project.root).ok()?.read(Whose::Change(&feature.name)).ok()??;
    let is_its = pin.list == format!("{}/{TASKS}", feature.relative);
    (is_its && pin.process > 0 && world::is_alive(pin.process)).then_some(pin)
}

/// Returns whether git tracks the settings that a loop is to be armed with. Their checks came with the
/// repository then, and are refused until a person trusts them.
pub fn trusted(root: &Path, settings: &Settings) -> Result<bool, Refusal> {
    if settings.checks.is_empty() || !come_with_the_repository(root) {
        return Ok(false);
    }
    let commands: Vec<String> = settings.checks.iter().map(|check| check.run.clone()).collect();
    let why = match trust::trusts(root, SETTINGS, &commands) {
        Ok(true) => return Ok(true),
        Ok(false) => "you have not trusted its checks".to_owned(),
        Err(error) => format!("what you trust cannot be read: {error}"),
    };
    let shown: Vec<_> = commands.iter().map(|command| format!("  {}", indented(command))).collect();
    Err(Refusal(format!(
        "nothing is armed: `{SETTINGS}` came with the repository (git tracks it), and {why}:\n{}\nWhen you would type these commands yourself, run `spool trust` in a terminal; otherwise remove them.",
        shown.join("\n")
    )))
}

/// Returns nothing; an error when an end hangs on what was armed, and that stands outside of the project and
/// cannot be read at the moment: without it a loop would end without its checks, or too early.
pub fn may_end(root: &Path, standing: &Standing, verdict: &Verdict) -> io::Result<()> {
    let Verdict::End(reason) = verdict else { return Ok(()) };
    let hangs_on_it = matches!(
        reason,
        TerminalReason::Completed
            | TerminalReason::MaxIters { .. }
            | TerminalReason::TaskFailed { .. }
    );
    match standing {
        // Where there is no such place, nothing was kept there.
        Standing::Unknown(why) if hangs_on_it && Pins::of(root).is_ok() => {
            Err(io::Error::other(why.clone()))
        }
        _ => Ok(()),
    }
}

/// Returns whose pin belongs to a record.
pub fn whose(record: &Record) -> Whose<'_> {
    if record.kind == RALPH {
        Whose::Session(&record.session)
    } else {
        Whose::Feature(&record.about)
    }
}

/// Removes what was pinned for a loop that is over. One that cannot be removed counts for nothing all the
/// same: the loop that it belongs to has ended.
pub fn unpin(root: &Path, record: &Record) {
    let _ = Pins::of(root).and_then(|pins| pins.close(whose(record), record.armed_at));
}

/// The same for the loop of a claim.
pub fn unpin_feature(root: &Path, claim: &Claim) {
    let _ =
        Pins::of(root).and_then(|pins| pins.close(Whose::Feature(&claim.about), claim.armed_at));
}

/// Keeps what was pinned for a ralph loop for the session that takes the loop over as well; what belongs to
/// a feature stays with the feature. A pin that cannot be read stays where it is.
pub fn carry(root: &Path, record: &Record, to: &str) -> io::Result<()> {
    let (Standing::Armed(pin), RALPH) = (standing(root, record), record.kind.as_str()) else {
        return Ok(());
    };
    let pin = Pin { session: to.to_owned(), ..*pin };
    Pins::of(root)?.write(Whose::Session(to), &pin, &VerifyCommands::new())
}

/// Puts the contract that holds in the place of the one in a ralph loop's notes: the pinned one, or where no
/// person armed the loop one without commands and within the default limits, which asks for a promise.
pub fn hold_to(record: &mut Record, standing: &Standing, promise: &str) {
    let Some(assignment) = record.assignment.as_deref_mut() else { return };
    if let Some(contract) = standing.pin().and_then(|pin| pin.contract.clone()) {
        assignment.contract = contract;
        return;
    }
    let most = Limits::default().max_iterations;
    let contract = &mut assignment.contract;
    contract.checks = Vec::new();
    // Without its checks nothing would be asked for.
    contract.token.get_or_insert_with(|| promise.to_owned());
    let limit = contract.guardrails.max_iterations.unwrap_or(most).min(most);
    contract.guardrails.max_iterations = Some(limit);
}

/// Returns the limits of a feature's loop: what a person armed, otherwise what the state file says, which
/// can make them shorter than the defaults and not longer.
pub fn limits(standing: &Standing, state: &State) -> Limits {
    if let Some(pin) = standing.pin() {
        return pin.limits;
    }
    let most = Limits::default();
    Limits {
        max_iterations: state.max_global_iterations().min(most.max_iterations),
        max_task_iterations: state.max_task_iterations().min(most.max_task_iterations),
        recovery: state.recovers(),
    }
}

/// Writes a pin. Where nothing can be kept outside of the project, that is an error only when there are
/// commands to keep; otherwise the words that say so.
pub fn pin(
    pins: io::Result<Pins>,
    whose: Whose<'_>,
    pin: &Pin,
    commands: &VerifyCommands,
) -> Result<Option<String>, String> {
    let Err(error) = pins.and_then(|pins| pins.write(whose, pin, commands)) else {
        return Ok(None);
    };
    if pin.checks.is_empty() && commands.is_empty() {
        return Ok(Some(format!(
            "What was armed could not be kept outside of the project ({error}): the default limits hold."
        )));
    }
    Err(format!(
        "nothing is armed: its checks and Verify commands cannot be kept where the agent does not write: {error}.\nMake that place writable, or set `XDG_STATE_HOME` to a folder outside of the project, then try again."
    ))
}

/// Returns an error when the lines that show what may be run do not fit into a message of a session: what is not
/// shown is not armed. `instead` says what to do.
pub fn fits_a_message(shown: &str, instead: &str) -> Result<(), Refusal> {
    if shown.encode_utf16().count() <= MESSAGE {
        return Ok(());
    }
    let lines = shown.lines().count();
    Err(Refusal(format!(
        "nothing is armed: what would be run takes {lines} lines, more than a message in a session can show.\n{instead}"
    )))
}

/// Returns the lines that show a person what may be run for a loop, all of it, empty when that is nothing.
pub fn shown(checks: &[Check], checks_from: &str, commands: &VerifyCommands, list: &str) -> String {
    let mut text = String::new();
    if !checks.is_empty() {
        let _ = writeln!(text, "Checks, from {checks_from}, run when the work is said to be done:");
        for check in checks {
            let _ = writeln!(text, "  {} (within {} s)", indented(&check.run), check.limit_seconds);
        }
    }
    if !commands.is_empty() {
        let _ = writeln!(
            text,
            "Verify commands of {}, from {}, run when `spool task` reports one as done:",
            text::counted(commands.len() as u64, "task"),
            text::line(list)
        );
        for (command, ids) in by_command(commands) {
            let _ = writeln!(text, "  {}  ({})", indented(command), ids_in_words(&ids));
        }
    }
    text
}

/// Returns the same for what a person armed.
pub fn shown_of(pin: &Pin, commands: &VerifyCommands) -> String {
    let from = match (&pin.contract, pin.settings.hash) {
        (None, _) => SETTINGS.to_owned(),
        (Some(_), 0) => "the command that was typed".to_owned(),
        (Some(_), _) => format!("{SETTINGS} and the command that was typed"),
    };
    shown(&pin.checks, &from, commands, &pin.list)
}

/// Returns in a few words what was armed, such as `2 checks, Verify commands of 3 tasks`.
pub fn in_short(checks: usize, verify: usize) -> String {
    let checks = match checks {
        0 => "no checks".to_owned(),
        1 => "1 check".to_owned(),
        many => format!("{many} checks"),
    };
    match verify {
        0 => format!("{checks}, no Verify commands"),
        1 => format!("{checks}, the Verify command of 1 task"),
        many => format!("{checks}, Verify commands of {many} tasks"),
    }
}

/// Returns checks as they go into a line, such as ` (`cargo test`, `npm test`)`, empty for none.
pub fn checks_in_words(checks: &[Check]) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let runs = checks.iter().map(|check| format!("`{}`", text::title(&check.run, 200)));
    format!(" ({})", runs.collect::<Vec<_>>().join(", "))
}

/// Returns what a person reads of a live loop in `spool status`: who armed it, what is run for it, and
/// what has changed since; each line with a line break.
pub fn status_lines(root: &Path, standing: &Standing) -> String {
    let mut text = String::new();
    let pin = match standing {
        Standing::Armed(pin) => pin,
        Standing::Nobody => {
            return "  Armed by: nobody; no check and no Verify command is run for it\n".to_owned();
        }
        Standing::Unknown(why) => {
            let why = text::line(why);
            return format!("  Armed by: unknown, so no command is run for it: {why}\n");
        }
    };
    let _ = writeln!(text, "  Armed by: {}", text::line(&pin.armed_by));
    for check in &pin.checks {
        let run = text::title(&check.run, 300);
        let _ = writeln!(text, "  Check: {run} (within {} s)", check.limit_seconds);
    }
    if pin.verify > 0 {
        let what =
            if pin.verify == 1 { "1 task".to_owned() } else { format!("{} tasks", pin.verify) };
        let list = text::line(&pin.list);
        let _ = writeln!(
            text,
            "  Verify commands of {what}, from {list} (`spool status --json` has them)"
        );
    }
    let digest = match Settings::read(root) {
        Ok(settings) => settings.digest,
        Err(error) => error.digest,
    };
    if digest != pin.settings.hash {
        let _ = writeln!(
            text,
            "  Settings: {SETTINGS} changed since the loop was armed; what was armed then still holds"
        );
    }
    text
}

/// The commands in the order of the tasks that have them first, each with all of its tasks.
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

fn ids_in_words(ids: &[&str]) -> String {
    let shown: Vec<_> = ids.iter().take(8).map(|id| text::title(id, 40)).collect();
    let more = if ids.len() > 8 { format!(" and {} more", ids.len() - 8) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Returns a command whole, as a person reads it who judges it: further lines are indented, and a run of blanks or
/// of empty lines that could move the rest out of sight is counted.
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
            let length = rest[start..].find(|it: char| !it.is_whitespace());
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

/// Returns what a person is told once of a loop that no person armed.
pub fn nobody_words(record: &Record, standing: &Standing, limits: Limits) -> String {
    let about = &record.about;
    let why = match standing {
        Standing::Unknown(why) => {
            format!("what was armed for {} cannot be read: {why}", text::title(about, 80))
        }
        _ => format!("no person armed the loop of {}", text::title(about, 80)),
    };
    let (again, cancel) = if record.kind == RALPH {
        ("/speckit:ralph-loop", "/speckit:cancel-ralph")
    } else {
        ("/speckit:implement", "/speckit:cancel")
    };
    format!(
        "{why}. No check and no Verify command is run for it, and it ends after {} iterations at most. To run them: {again}, which shows them first; to end it: {cancel}.",
        limits.max_iterations
    )
}
