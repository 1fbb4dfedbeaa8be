//! The texts of a feature's loop, for the model and for people.
//!
//! No text has the completion signal alone on a line: the loop's own words must never pass its own test.

use std::borrow::Cow;
use std::fmt::Write;

use super::insist::Insistence;
use super::shortfall::{NOT_CONVERGED, Reader, brief, explain, hooks_in_words, short};
use super::{HONEST, needs_all, person};
use crate::engine::scope::in_runs;
use crate::engine::tasks::TaskList;
use crate::engine::{Check, CheckResult, Contract, Guardrails, Ledger, Observation, Shortfall};
use crate::evidence::task_list::TASKS;
use crate::feature::project::printable;
use crate::feature::snapshot::FeatureSnapshot;
use crate::feature::{PROGRESS, SIGNAL, STATE};
use crate::hosts::ContinueForm;
use crate::judge::words::lack;
use crate::store::loops::{Asked, Record};
use crate::store::pins::PinState;
use crate::text::{self, grouped};

/// Characters of a text for the model, which pays for them at every iteration.
const LONGEST: usize = 3_900;
/// Characters about one missing thing, in a line for a person.
const SHORTFALL: usize = 120;
/// Lines of a failed check's output that an end shows.
const FIRST_LINES: usize = 3;
/// Characters for the list of open tasks.
const LIST: usize = 900;
/// Characters if only the next tasks are named.
const FEW: usize = 36;
/// For the agent of a feature's loop; every text for it has the open tasks and the signal.
const READER: Reader<'_> = Reader {
    who: "You",
    promise: SIGNAL,
    without: "",
    open: "",
    finished: "`spool task done ID` for what is really done",
    bullet: "",
    output: 1_600,
};
/// For an agent that works by spec-kit's own outline, which has it tick the boxes itself.
const BY_ITS_OUTLINE: Reader<'_> =
    Reader { finished: "tick the box of what is really done", ..READER };

/// Where a text has `{A|B}`, an agent that gives the tasks to others reads A, one that works by spec-kit's outline B.
fn for_agent(text: &str, snapshot: &FeatureSnapshot) -> String {
    let mut parts = text.split('{');
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (both, rest) = part.split_once('}').unwrap_or_default();
        let (others, own) = both.split_once('|').unwrap_or_default();
        said = said + if snapshot.by_outline { own } else { others } + rest;
    }
    said
}

/// What the agent should do instead of ending its turn again; [`OR_BLOCK`] follows.
const DO_NEXT: &str = "Run `spool task next` and do that task";
const OR_BLOCK: &str = ", or say what stops you: `spool task block \"what a person must do\"`.";
const REPAIR: &str = "Repair what the check shows";
const SAME_LIST: &str = "The same tasks are open as at your last stop: finish the next one before you end your turn, in another way if need be.";

fn is_open(lack: &Shortfall) -> bool {
    matches!(lack, Shortfall::OpenTasks | Shortfall::ClaimedWithOpenTasks)
}

/// Sends the agent back to work (spec 003, FR-1 and FR-15), in less than 4,000 characters: two or three lines, and from
/// time to time the whole contract. As more context, which the client shows to the person in full, the text has no word
/// to spare.
pub fn resume(
    snapshot: &FeatureSnapshot,
    record: &Record,
    missing: &[Shortfall],
    form: ContinueForm,
) -> String {
    let (place, ledger) = (snapshot.place(), &record.ledger);
    let mut text = format!(
        "Continue feature: {} (Task {}/{}, Iter {})\n",
        snapshot.feature.name, place.task, place.total, ledger.iterations
    );
    let is_whole = needs_all(record, form);
    if matches!(missing, [Shortfall::NotReviewed(_)]) {
        explain(&mut text, missing, READER);
        return limited(text + END_AGAIN);
    }
    let failed = missing.iter().any(|lack| matches!(lack, Shortfall::CheckFailed(_)));
    let is_held = held_up(snapshot, missing).is_some();
    let (instead, same_list, next) = match missing {
        _ if is_held => (REPAIR, "", PUT_RIGHT),
        _ if failed && missing.iter().any(is_open) => (REPAIR, SAME_LIST, REPAIR_PART),
        _ if failed => (REPAIR, "", REPAIR_CHECKS),
        [Shortfall::ConvergeDue(_)] => ("Run it now", "", CONVERGE),
        [Shortfall::HooksDue(_)] => ("Run them now", "", RUN_HOOKS),
        _ if is_whole => (DO_NEXT, SAME_LIST, ALL_RULES),
        _ if form == ContinueForm::Context => {
            briefly(&mut text, snapshot, ledger, missing);
            return limited(text);
        }
        _ => (DO_NEXT, SAME_LIST, NEXT_TASK),
    };
    // Output that the agent has seen is not repeated in full.
    let output = if ledger.same_failure > 1 { 400 } else { READER.output };
    let reader = if snapshot.by_outline { BY_ITS_OUTLINE } else { READER };
    let lacks = missing.iter().filter(|lack| !is_held || !is_open(lack)).cloned();
    explain(&mut text, &lacks.collect::<Vec<_>>(), Reader { output, ..reader });
    let (is_by_list, instead) = (instead == DO_NEXT, &[instead, OR_BLOCK].concat());
    text += &Insistence { instead, same_list }.line(ledger, &Guardrails::default(), missing);
    if is_by_list {
        let (in_the_list, most) = if is_whole { (" in tasks.md", LIST) } else { ("", FEW) };
        what_is_open(&mut text, snapshot, in_the_list, most);
    }
    let folder = shortened(&snapshot.feature.relative);
    let counts = if is_whole { counters(snapshot, ledger) } else { attempt(snapshot) };
    let _ = writeln!(text, "State: {folder}/{STATE}{counts}");
    text += &for_agent(next, snapshot);
    if is_whole && is_by_list {
        // The rules explain what blocked means.
        let _ = write!(text, "\n{}", HONEST[..2].join(" "));
    }
    limited(text) + &if is_whole { asked(record.asked.as_deref()) } else { String::new() }
}

/// The one thing that keeps ticked tasks from counting, such as a changed protected file. `None` if anything else is
/// missing.
fn held_up(snapshot: &FeatureSnapshot, missing: &[Shortfall]) -> Option<String> {
    let [Shortfall::OpenTasks | Shortfall::ClaimedWithOpenTasks, Shortfall::Unproved(tasks)] =
        missing
    else {
        return None;
    };
    let why = &tasks.iter().find(|task| task.why.holds_up_all())?.why;
    let mut open = snapshot.tasks.as_ref()?.open();
    let all = open.all(|one| tasks.iter().any(|task| task.id == one.id && task.why.holds_up_all()));
    all.then(|| lack(why))
}

/// The shortest text: without a line break, it fills three lines of a narrow terminal.
fn briefly(text: &mut String, snapshot: &FeatureSnapshot, ledger: &Ledger, missing: &[Shortfall]) {
    text.truncate(text.trim_end().len());
    text.push(' ');
    let claimed = missing.contains(&Shortfall::ClaimedWithOpenTasks);
    let same_list = if claimed { "" } else { "No box was ticked since: try another way." };
    let again = Insistence { instead: "", same_list };
    let again = again.line(ledger, &Guardrails::default(), &[]);
    for shortfall in missing {
        if *shortfall != Shortfall::ClaimedWithOpenTasks {
            explain(text, std::slice::from_ref(shortfall), READER);
        }
    }
    if text.ends_with('\n') {
        text.pop();
        text.push(' ');
    }
    if claimed && again.is_empty() {
        let _ = match ledger.refused_claims {
            0 | 1 => write!(text, "{SIGNAL} is refused. "),
            times => write!(text, "{SIGNAL} is refused, {times} times now. "),
        };
    }
    if !again.is_empty() {
        *text += again.trim_end();
        text.push(' ');
    }
    what_is_next(text, snapshot);
    *text += &for_agent("`spool task next`{ for spec-executor|}", snapshot);
    text.push_str("; stuck: `spool task block \"why\"`");
    // An agent that has claimed knows how.
    if !claimed && again.is_empty() {
        let _ = write!(text, "; all done: {SIGNAL}");
    }
}

/// The number of open tasks, and the next one.
fn what_is_next(text: &mut String, snapshot: &FeatureSnapshot) {
    let list = snapshot.tasks.as_ref();
    let Some((list, next)) = list.and_then(|list| Some((list, list.present()?))) else {
        return what_is_open(text, snapshot, "", FEW);
    };
    let (open, all, next) = (list.open().count(), list.tasks.len(), short_id(&next.id));
    let _ = write!(text, "{open} of {all} open, next {next}. ");
}

fn what_is_open(text: &mut String, snapshot: &FeatureSnapshot, in_the_list: &str, most: usize) {
    let _ = if snapshot.tasks.is_some() {
        write!(text, "Open{in_the_list}: {}. ", open_tasks_within(snapshot, most))
    } else {
        let (index, total) = (snapshot.state.task_index(), snapshot.state.total_tasks());
        write!(text, "The state counts {index} of {total}. ")
    };
}

/// The state file's counters, as in spec 003.
fn counters(snapshot: &FeatureSnapshot, ledger: &Ledger) -> String {
    let (state, limits) = (&snapshot.state, &snapshot.limits);
    format!(
        " (taskIndex {}, totalTasks {}, attempt {} of {}, iteration {} of {})",
        state.task_index(),
        state.total_tasks(),
        state.task_iteration(),
        limits.max_task_iterations,
        ledger.iterations,
        limits.max_iterations,
    )
}

/// Which attempt this is; empty for the first.
fn attempt(snapshot: &FeatureSnapshot) -> String {
    match snapshot.state.task_iteration() {
        0 | 1 => String::new(),
        number => format!(" (attempt {number} of {})", snapshot.limits.max_task_iterations),
    }
}

// What the agent does next. Some have words by [`for_agent`].
const END_AGAIN: &str =
    "Every box is ticked: end your turn with ALL_TASKS_COMPLETE on a line of its own.";
const RUN_HOOKS: &str = "Every box is ticked. Run them yourself, by no other agent, then end your turn with ALL_TASKS_COMPLETE on a line of its own.";
const CONVERGE: &str = "Every box is ticked. Run it yourself, as its text says. When it appends tasks to tasks.md, they are open like the others: do them. When it appends none, end your turn with ALL_TASKS_COMPLETE on a line of its own.";
const NEXT_TASK: &str = include_str!("feature/next.txt").trim_ascii_end();
const PUT_RIGHT: &str = include_str!("feature/put_right.txt").trim_ascii_end();
/// The agent's contract, which `commands/implement.md` has at length.
const ALL_RULES: &str = include_str!("feature/rules.txt").trim_ascii_end();
const REPAIR_CHECKS: &str = include_str!("feature/repair_checks.txt").trim_ascii_end();
const REMIND: &str = include_str!("feature/remind.txt").trim_ascii_end();
const REPAIR_PART: &str = include_str!("feature/repair_part.txt").trim_ascii_end();

/// What spec-kit's outline does not say, when its own command armed the loop.
pub const BY_OUTLINE: &str = concat!("\n", include_str!("feature/by_outline.txt")).trim_ascii_end();

/// For a session with a live loop, after a compaction or a resume: the whole contract, and word for word what was asked
/// besides the feature.
pub fn reminder(snapshot: &FeatureSnapshot, record: &Record, standing: &PinState) -> String {
    let place = snapshot.place();
    let work = for_agent(REMIND, snapshot);
    let hooks = standing.pin().map(|pin| pin.hooks.left(&record.hooks_ran)).unwrap_or_default();
    let hooks = if hooks.is_empty() {
        String::new()
    } else {
        let hooks = hooks_in_words(&hooks);
        format!(
            "\nExtension hooks of spec-kit that you still have to run with the Skill tool: {hooks}"
        )
    };
    limited(format!(
        "ralph-speckit: a loop is armed in this session: feature {}, task {} of {}, iteration {}. \
         {work} {PROGRESS} in {} has what was learned. Never edit {STATE}, never weaken a \
         test or a check. Continue without asking while a task is open. When only a person can continue, do what does not depend \
         on it, then `spool task block \"what they must do\"`. When no task is open, end with {SIGNAL} on a line of its own.",
        snapshot.feature.name,
        place.task,
        place.total,
        record.ledger.iterations + 1,
        shortened(&snapshot.feature.relative),
    )) + &asked(standing.asked(Some(record)))
        + &hooks
}

/// The request beyond the feature itself, on lines of its own; empty for none.
pub fn asked(asked: Option<&Asked>) -> String {
    let mut text = String::new();
    let Some(Asked { tasks, words, open_checklists, optional, .. }) = asked else { return text };
    if !tasks.is_empty() {
        let tasks = text::title(&in_runs(tasks), LIST);
        let _ = write!(text, "\nOnly these tasks: {tasks}. Leave every other box as it is.");
    }
    if !words.is_empty() {
        let _ = write!(text, "\nThe person's words: {words}");
    }
    if *optional {
        text.push_str("\nOptional tasks (`[ ]*`) count: do them as well.");
    }
    if *open_checklists {
        text.push_str("\nChecklists were open at the start, and the person has decided to continue with them: do not ask about them, and do not tick them.");
    }
    text
}

/// For a person, when the agent is sent back: how far it is, or which claim is wrong. Usually one line of a narrow
/// terminal.
pub fn progress(snapshot: &FeatureSnapshot, ledger: &Ledger, missing: &[Shortfall]) -> String {
    let place = snapshot.place();
    let mut parts = Vec::new();
    let claimed = missing.contains(&Shortfall::ClaimedWithOpenTasks);
    if let Some(lack) = held_up(snapshot, missing) {
        let iteration = format!("iteration {}", ledger.iterations);
        let head = if claimed { "claimed done, but held back" } else { "every box is ticked" };
        let lack = text::title(&lack, SHORTFALL);
        return person::line("", &[head, if claimed { "" } else { &iteration }, &lack]);
    }
    if !claimed {
        parts.push(format!("{} of {} done", place.done, place.total));
        parts.push(format!("iteration {}", ledger.iterations));
    }
    let left = place.total - place.done;
    let are = if left == 1 { "is" } else { "are" };
    let open = format!("{} of {} {are} open", grouped(left), grouped(place.total));
    for shortfall in missing {
        // The counts say that tasks are open.
        if !matches!(shortfall, Shortfall::OpenTasks | Shortfall::NoToken) {
            parts.push(text::title(&short(shortfall, &open), SHORTFALL));
        }
    }
    let first = snapshot.tasks.as_ref().and_then(TaskList::present);
    parts.extend(first.map(|task| format!("next {}", short_id(&task.id))));
    person::line("", &parts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Everything that is missing, on one line for the journal.
pub fn missing(snapshot: &FeatureSnapshot, missing: &[Shortfall]) -> String {
    if let Some(lack) = held_up(snapshot, missing) {
        let claimed = missing.contains(&Shortfall::ClaimedWithOpenTasks);
        let head = if claimed { "claimed done, but held back: " } else { "" };
        return text::line(&[head, &lack].concat()).into_owned();
    }
    let open = if snapshot.tasks.is_none() {
        let (index, total) = (snapshot.state.task_index(), snapshot.state.total_tasks());
        format!("the state counts {index} of {total}")
    } else {
        format!("open: {}", open_tasks(snapshot))
    };
    brief(missing, &open)
}

/// Everything that was missing at an end, except the list: failed checks, hooks, the converge command.
pub fn missing_at_end(seen: &Observation, ledger: &Ledger, checks: &[Check]) -> Option<String> {
    let due = || Shortfall::HooksDue(seen.hooks_due.clone());
    let hooks = || (!seen.hooks_due.is_empty()).then(|| short(&due(), ""));
    let unproved = || {
        let tasks = Shortfall::Unproved(seen.unproved.clone());
        (!seen.unproved.is_empty()).then(|| short(&tasks, ""))
    };
    let converge = || ledger.converging.asked.map(|_| NOT_CONVERGED.to_owned());
    let checked = checks_at_end(checks, seen.checks.as_deref());
    let parts = checked.into_iter().chain(hooks().or_else(unproved).or_else(converge));
    Some(parts.collect::<Vec<_>>().join("; ")).filter(|words| !words.is_empty())
}

/// The checks' words at an end; empty without checks, or with a review alone.
pub fn checks_at_end(checks: &[Check], results: Option<&[CheckResult]>) -> Option<String> {
    if Contract::commands_and_review(checks).0.is_empty() {
        return None;
    }
    Some(match results {
        None => "checks not run".to_owned(),
        Some(_) => failed_checks(results).unwrap_or_else(|| "checks passed".to_owned()),
    })
}

/// The failed checks, each with its outcome and the first lines of its output; `None` for none.
pub fn failed_checks(results: Option<&[CheckResult]>) -> Option<String> {
    let failed: Vec<String> = results?
        .iter()
        .filter(|result| !result.passed)
        .map(|result| {
            let gap = if result.tail.is_empty() { "" } else { ": " };
            let lines = result.tail.lines().take(FIRST_LINES).collect::<Vec<_>>().join(" | ");
            let (run, lines) = (text::title(&result.run, SHORTFALL), text::title(&lines, 300));
            format!("`{run}` ({}){gap}{lines}", result.outcome)
        })
        .collect();
    match failed.len() {
        0 => None,
        1 => Some(format!("check failed: {}", failed[0])),
        _ => Some(format!("checks failed: {}", failed.join(", "))),
    }
}

/// For a state file or task list that cannot be read (spec 003, AC-2.1).
pub fn corrupt(snapshot: &FeatureSnapshot) -> String {
    let Some(unreadable) = &snapshot.unreadable else { return String::new() };
    let path = shortened(&unreadable.path.display().to_string());
    let what = if unreadable.path.ends_with(TASKS) { "task list" } else { "state file" };
    limited(format!(
        "ERROR: Corrupt {what} at {path}\n\n\
         Feature: {}\nProblem: {}\n\n\
         Recovery options:\n\
         1. Repair the file, when you can see what it should say; {TASKS} is the truth about the tasks.\n\
         2. A person runs /speckit:implement: it keeps the broken file aside and starts again from {TASKS}.\n\
         3. A person runs /speckit:cancel: it ends the loop and keeps {PROGRESS}.\n\n\
         If the file is the same at the next stop, the loop ends.",
        snapshot.feature.name,
        printable(&unreadable.why),
    ))
}

/// For the log, when the agent is sent back (spec 003).
pub fn stopped_line(snapshot: &FeatureSnapshot) -> String {
    let place = snapshot.place();
    let (name, attempt) = (&snapshot.feature.name, snapshot.state.task_iteration());
    let (task, total) = (place.task, place.total);
    format!("Session stopped during feature: {name} | Task: {task}/{total} | Attempt: {attempt}")
}

/// As many ids of open tasks as fit, and the number of the others.
pub fn open_tasks(snapshot: &FeatureSnapshot) -> String {
    open_tasks_within(snapshot, LIST)
}

/// The same within so many characters, but always with the first id.
fn open_tasks_within(snapshot: &FeatureSnapshot, most: usize) -> String {
    let Some(list) = &snapshot.tasks else { return String::new() };
    let open = list.open().count();
    if list.tasks.is_empty() {
        return "none, the list holds no task".to_owned();
    }
    let mut text = format!("{open} of {}", list.tasks.len());
    let mut shown = 0;
    let mut used = 0;
    for task in list.open() {
        let id = short_id(&task.id);
        used += id.chars().count() + 2;
        if used > most && shown > 0 {
            break;
        }
        text.push_str(if shown == 0 { ": " } else { ", " });
        text.push_str(&id);
        shown += 1;
    }
    if open > shown {
        let _ = write!(text, " and {} more", open - shown);
    }
    text
}

/// At most 40 characters of an id, fit for a line; nearly every id is shorter.
fn short_id(id: &str) -> Cow<'_, str> {
    if id.len() <= 40 && id.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Cow::Borrowed(id);
    }
    printable(id).chars().take(40).collect()
}

pub(super) fn file_name(snapshot: &FeatureSnapshot) -> &'static str {
    match &snapshot.unreadable {
        Some(unreadable) if unreadable.path.ends_with(TASKS) => TASKS,
        _ => STATE,
    }
}

/// The end of a path, at most 600 characters, that can still be recognized.
pub(crate) fn shortened(path: &str) -> String {
    let path = text::block(path).replace('\n', " ").chars().collect::<Vec<_>>();
    if path.len() <= 600 {
        return path.into_iter().collect();
    }
    let end: String = path[path.len() - 599..].iter().collect();
    format!("…{end}")
}

/// At most 3,900 characters of a text: the model pays for each at every iteration.
pub(crate) fn limited(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod contract_tests {
    use super::*;

    /// What the coordinator's prompt and its abbreviations all have to say.
    const CONTRACT: [&str; 8] = [
        "spool task next",
        "spool task done",
        "spool task fail",
        "spool task block",
        "spec-executor",
        "qa-engineer",
        "[VERIFY]",
        SIGNAL,
    ];

    #[test]
    fn fr_15_resume_prompt_is_shorter() {
        let whole = include_str!("../../../commands/implement.md");
        let resume = ALL_RULES;
        for words in CONTRACT {
            assert!(whole.contains(words), "implement.md does not say {words}");
            assert!(resume.contains(words), "the resume prompt does not say {words}");
        }
        assert!(whole.lines().count() < 150);
    }
}

#[cfg(test)]
mod tests;
