//! What a speckit loop says, to the model and to people.
//!
//! None of these texts has the completion signal alone on a line: the loop's own words must never
//! pass its own test.

use std::fmt::Write;

use super::observe::{Desk, Place};
use super::project::printable;
use super::{PROGRESS, SIGNAL, STATE, TASKS};
use crate::engine::{Ledger, Shortfall, Stall, TerminalReason};

/// The longest reason that is handed to the model, in characters (it is paid for at every iteration).
const LONGEST: usize = 3_900;
/// The most characters that the list of open tasks takes.
const LIST: usize = 900;

/// Returns the text that sends the agent back to work (spec 003, FR-1 and FR-15), under 4,000 characters.
pub fn resume(desk: &Desk, ledger: &Ledger, missing: &[Shortfall]) -> String {
    let (place, state) = (desk.place(), &desk.state);
    let folder = shortened(&desk.feature.folder.display().to_string());
    let mut text = format!(
        "Continue feature: {} (Task {}/{}, Iter {})\n\n",
        desk.feature.name, place.task, place.total, ledger.iterations
    );
    let _ = writeln!(
        text,
        "State: {folder}/{STATE} (taskIndex {}, totalTasks {}, attempt {} of {}, iteration {} of {})",
        state.task_index(),
        state.total_tasks(),
        state.task_iteration(),
        state.max_task_iterations(),
        ledger.iterations,
        state.max_global_iterations(),
    );
    for shortfall in missing {
        if let Some(words) = explained(shortfall) {
            let _ = writeln!(text, "{words}");
        }
    }
    if desk.tasks.is_some() {
        let _ = writeln!(text, "Open tasks in {folder}/{TASKS}: {}", open_tasks(desk));
    }
    let _ = write!(
        text,
        "\nHow to resume:\n\
         1. Read {STATE} and {TASKS} in that folder, and {PROGRESS} for what was learned so far.\n\
         2. Take the first open task. Do not do it yourself: delegate it to the spec-executor agent, \
         or to the qa-engineer agent when it is marked [VERIFY]. Adjacent [P] tasks go out together, \
         in one message.\n\
         3. When the work is there and its checks pass, tick the task's box in {TASKS}. When it \
         fails, try again with what you learned, and say so when a person is needed.\n\
         4. Go on with the next open task, without asking and without stopping in between.\n\
         Only when every box is ticked, end with {SIGNAL} on a line of its own. Not before: open \
         boxes outrank it."
    );
    limited(text)
}

/// Returns the line that a person sees when the agent is sent back.
pub fn progress(desk: &Desk, ledger: &Ledger, missing: &[Shortfall]) -> String {
    let place = desk.place();
    let mut line = format!(
        "Ralph-speckit iteration {} | Task {}/{}",
        ledger.iterations, place.task, place.total
    );
    if missing.contains(&Shortfall::ClaimedWithOpenTasks) {
        let open = place.total - place.done;
        let _ = write!(line, " | said to be complete, but {open} open");
    }
    line
}

/// Returns the text for a state file or task list that cannot be read (spec 003, AC-2.1).
pub fn corrupt(desk: &Desk) -> String {
    let Some(unreadable) = &desk.unreadable else {
        return String::new();
    };
    let path = shortened(&unreadable.path.display().to_string());
    let what = if unreadable.path.ends_with(TASKS) { "task list" } else { "state file" };
    limited(format!(
        "ERROR: Corrupt {what} at {path}\n\n\
         Feature: {}\nProblem: {}\n\n\
         Recovery options:\n\
         1. Repair the file, when you can see what it should say; {TASKS} is the truth about the tasks.\n\
         2. A person runs /speckit:implement: it keeps the broken file aside and starts anew from {TASKS}.\n\
         3. A person runs /speckit:cancel: it ends the loop and keeps {PROGRESS}.\n\n\
         If the file is the same at the next stop, the loop ends.",
        desk.feature.name,
        printable(&unreadable.why),
    ))
}

/// Returns the line for the log when the agent is sent back (spec 003).
pub fn stopped_line(desk: &Desk) -> String {
    let place = desk.place();
    format!(
        "Session stopped during feature: {} | Task: {}/{} | Attempt: {}",
        desk.feature.name,
        place.task,
        place.total,
        desk.state.task_iteration()
    )
}

/// Returns the one line for the log that says why a loop ended.
pub fn end_line(desk: &Desk, reason: &TerminalReason) -> String {
    match reason {
        TerminalReason::MaxIters { limit } => format!(
            "ERROR: Maximum global iterations ({limit}) reached. {} of feature {} is as it stands; see {PROGRESS}, then run /speckit:implement to go on",
            TASKS, desk.feature.name
        ),
        TerminalReason::CorruptState => {
            format!("ERROR: {} of feature {} is still corrupt", file_name(desk), desk.feature.name)
        }
        _ => format!("Loop ended ({}) for feature {}: {reason}", reason.name(), desk.feature.name),
    }
}

/// Returns what a person reads when a loop ended short of completion: why, where, what next.
pub fn end_message(desk: &Desk, ledger: &Ledger, reason: &TerminalReason) -> String {
    let place = desk.place();
    let mut text = format!(
        "Ralph-speckit ended the loop of {} ({}): {reason}. {} of {} tasks done, iteration {}.",
        desk.feature.name,
        reason.name(),
        place.done,
        place.total,
        ledger.iterations
    );
    if desk.tasks.is_some() && place.done < place.total {
        let _ = write!(text, " Open: {}.", open_tasks(desk));
    }
    let _ = write!(text, " {}", what_next(reason));
    limited(text)
}

/// Returns what a person reads when the loop's state file was taken away and tasks are open.
pub fn gone_message(feature: &str, place: Place, ledger: &Ledger) -> String {
    let mut text =
        format!("Ralph-speckit ended the loop of {feature} (cancelled): its state file is gone.");
    if place.total > 0 {
        let (done, total, iterations) = (place.done, place.total, ledger.iterations);
        let _ = write!(text, " {done} of {total} tasks done, iteration {iterations}.");
    }
    text + " Go on with /speckit:implement."
}

/// Returns the ids of the open tasks, as many as fit, and how many more there are.
pub fn open_tasks(desk: &Desk) -> String {
    let Some(list) = &desk.tasks else {
        return String::new();
    };
    let open = list.open().count();
    if list.tasks.is_empty() {
        return "none, the list holds no task".to_owned();
    }
    let mut text = format!("{open} of {}: ", list.tasks.len());
    let mut shown = 0;
    let mut used = 0;
    for task in list.open() {
        let id: String = printable(&task.id).chars().take(40).collect();
        used += id.chars().count() + 2;
        if used > LIST {
            break;
        }
        let separator = if shown == 0 { "" } else { ", " };
        let _ = write!(text, "{separator}{id}");
        shown += 1;
    }
    if open > shown {
        let _ = write!(text, " and {} more", open - shown);
    }
    text
}

fn explained(shortfall: &Shortfall) -> Option<String> {
    Some(match shortfall {
        Shortfall::ClaimedWithOpenTasks => format!(
            "You wrote {SIGNAL}, but tasks are still open. The list decides: finish them, or tick the box of what is really done."
        ),
        Shortfall::EmptyList => format!(
            "{TASKS} is gone or holds no task any more, although there was work in it. Restore the list: an empty one is not done."
        ),
        Shortfall::CheckFailed(result) => format!(
            "Check failed: `{}` ({}). The end of its output:\n{}",
            printable(&result.run),
            result.outcome,
            quoted(&result.tail)
        ),
        Shortfall::NoWork { calls, needed } => {
            format!("{SIGNAL} was refused: {calls} tool calls were made, {needed} are needed.")
        }
        Shortfall::TooEarly { first } => {
            format!("{SIGNAL} was refused: it counts from iteration {first} on.")
        }
        Shortfall::ChecksNotRun => "The checks have not been run yet.".to_owned(),
        Shortfall::OpenTasks | Shortfall::NoToken | Shortfall::Unreadable => return None,
    })
}

/// Somebody else's lines, none of which can be taken for the signal.
fn quoted(text: &str) -> String {
    text.lines().fold(String::new(), |quoted, line| quoted + "| " + line + "\n")
}

fn what_next(reason: &TerminalReason) -> &'static str {
    match reason {
        TerminalReason::MaxIters { .. } => {
            "Look at what was done, then go on with /speckit:implement (--max-iterations N sets another limit)."
        }
        TerminalReason::NoProgress { stall: Stall::NoToolCall, .. } => {
            "Read its last answer: it may be asking for something. Then go on with /speckit:implement."
        }
        TerminalReason::NoProgress { .. } | TerminalReason::TaskFailed { .. } => {
            "Look at the task and at .progress.md, help it over the obstacle, then go on with /speckit:implement."
        }
        TerminalReason::Blocked { .. } => "Do that, then go on with /speckit:implement.",
        TerminalReason::CorruptState => {
            "Run /speckit:implement (keeps the broken file aside and starts anew) or /speckit:cancel."
        }
        _ => "Go on with /speckit:implement.",
    }
}

fn file_name(desk: &Desk) -> &'static str {
    match &desk.unreadable {
        Some(unreadable) if unreadable.path.ends_with(TASKS) => TASKS,
        _ => STATE,
    }
}

/// A path of which the end can still be recognised, at most 600 characters.
fn shortened(path: &str) -> String {
    let path = path.chars().filter(|letter| !letter.is_control()).collect::<Vec<_>>();
    if path.len() <= 600 {
        return path.into_iter().collect();
    }
    let end: String = path[path.len() - 599..].iter().collect();
    format!("…{end}")
}

fn limited(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
