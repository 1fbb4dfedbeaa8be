//! Describes what is missing: in a sentence for an agent, in a few words for the journal and a person.

use std::fmt::Write;
use std::path::Path;

use crate::engine::order::few;
use crate::engine::{CheckResult, Converging, Shortfall, Tampered};
use crate::evidence::task_list::TASKS;
use crate::evidence::work_trees::ticked_copy;
use crate::feature::project::printable;
use crate::judge::words::{lack, not_proved};
use crate::store::due::ExtensionHooks;
use crate::text::{self, counted};
use crate::world::WallTime;

/// Failed checks named with their output.
const CHECKS: usize = 4;
/// Ids of tasks named.
const IDS: usize = 12;

/// The agent that reads the text: the one that stopped, or the next one.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// Who made the attempt: `You`, or `It` for an iteration before.
    pub who: &'a str,
    /// The text that claims completion.
    pub promise: &'a str,
    /// Before a missing promise; empty for no words about it.
    pub without: &'a str,
    /// About open tasks; empty if they are listed anyway.
    pub open: &'a str,
    /// What to do about a finished task that is open, after "or".
    pub finished: &'a str,
    /// The beginning of each line.
    pub bullet: &'a str,
    /// Characters of failing output.
    pub output: usize,
}

/// Says that a task is ticked in the list of another work tree, and not in the loop's own, `folder` in the project;
/// `None` otherwise.
pub fn ticked_elsewhere(root: &Path, folder: &Path, run: Option<WallTime>) -> Option<String> {
    let copy = printable(&ticked_copy(root, folder, run)?.to_string_lossy());
    let list = printable(&root.join(folder).join(TASKS).to_string_lossy());
    Some(format!(
        "The work tree's list is ticked ({copy}), and the loop's list is {list}: tick what is done in {list}."
    ))
}

/// Writes a sentence about each missing thing, and failed checks with the end of their output.
pub fn explain(text: &mut String, missing: &[Shortfall], reader: Reader<'_>) {
    let bullet = reader.bullet;
    let mut failed = Vec::new();
    for shortfall in missing {
        if let Shortfall::CheckFailed(result) = shortfall {
            failed.push(result);
            continue;
        }
        let sentence = sentence(shortfall, reader);
        if !sentence.is_empty() {
            let _ = writeln!(text, "{bullet}{sentence}");
        }
    }
    let most = reader.output / failed.len().clamp(1, CHECKS);
    for result in failed.iter().take(CHECKS) {
        let CheckResult { run, outcome, tail, review, .. } = result;
        if review.is_some() {
            let _ = write!(text, "{bullet}Check failed: a review, {outcome}\n{}", quoted(tail));
            continue;
        }
        let _ = writeln!(text, "{bullet}Check failed: `{}` ({outcome})", printable(run));
        let skipped = tail.chars().count().saturating_sub(most);
        let tail: String = tail.chars().skip(skipped).collect();
        if !tail.is_empty() {
            let _ = write!(text, "The end of its output:\n{}", quoted(&tail));
        }
    }
    if failed.len() > CHECKS {
        let _ = writeln!(text, "{bullet}{} more checks failed.", failed.len() - CHECKS);
    }
}

fn sentence(shortfall: &Shortfall, reader: Reader<'_>) -> String {
    let Reader { who, promise, without, open, finished, .. } = reader;
    match shortfall {
        Shortfall::OpenTasks => open.to_owned(),
        Shortfall::ClaimedWithOpenTasks => format!(
            "{who} wrote {promise}, but tasks are still open. The list decides: finish them, or {finished}."
        ),
        Shortfall::Tampered(tampered) => changed_tasks(tampered),
        Shortfall::Unproved(tasks) => not_proved(tasks),
        Shortfall::EmptyList => format!(
            "{TASKS} is gone or holds no task any more. Restore the list, one `- [ ]` line for each task: an empty one is not done."
        ),
        Shortfall::HooksDue(due) => hooks_due(due),
        Shortfall::ConvergeDue(command) => format!(
            "The code has still to be compared with the specification: run /{command} with the Skill tool; if you carried it out in another way: `spool task hook {command}`."
        ),
        Shortfall::NoToken if without.is_empty() => String::new(),
        Shortfall::NoToken => format!("{without} {promise}."),
        Shortfall::PromiseNotMade => format!(
            "{who} wrote {promise}, but in code, in quotation marks, in a sentence that denies it, or not where it has to be: that is not the completion promise. When the task is fully complete, write it alone on the last line."
        ),
        Shortfall::NoWork { calls: 0, .. } => {
            "Promise detected, but no tool calls/work were performed; you must actually complete the task before emitting the promise.".to_owned()
        }
        Shortfall::NoWork { calls, needed } => format!(
            "Promise detected, but only {} of {needed} were performed; you must actually complete the task before emitting the promise.",
            counted(*calls, "tool call")
        ),
        Shortfall::UnseenWork(why) => format!(
            "Promise detected, but nothing stands behind it: {why}. When the task is really complete, write {promise} again."
        ),
        Shortfall::TooEarly { first } => format!(
            "The loop does not end before iteration {first}: use this one to look for what is missing or wrong."
        ),
        Shortfall::SameFailure { times } => format!(
            "The same check has failed in the same way {times} times in a row: change the approach."
        ),
        Shortfall::NotReviewed(result) => format!(
            "The review came to no verdict ({}): that says nothing of the work. Change nothing for it: it is made again when you stop.",
            why_none(result)
        ),
        Shortfall::ChecksNotRun => "The checks have not been run yet.".to_owned(),
        Shortfall::Unreadable => format!("{TASKS} cannot be read. Repair the file."),
        Shortfall::CheckFailed(_) => String::new(),
    }
}

/// For an agent with due hooks of spec-kit's extensions.
fn hooks_due(due: &[String]) -> String {
    format!(
        "Extension hooks of spec-kit that must run and have not: {}. Run each with the Skill tool; if you carried one out in another way: `spool task hook NAME`.",
        slashed(due)
    )
}

/// The end came before spec-kit's converge command.
pub const NOT_CONVERGED: &str = "spec-kit's converge command has not run";
/// The command's last round found more to do.
pub const NOT_COMPARED: &str =
    "converge found more to do in both of its rounds: nobody has compared the code since";

/// The outcome of spec-kit's converge command in a finished loop; empty if it was not asked for.
pub fn converged(converging: Converging) -> &'static str {
    match (converging.passed, converging.is_over()) {
        (true, _) => "converge found nothing missing",
        (_, true) => NOT_COMPARED,
        _ => "",
    }
}

/// When which extension hooks run, in a few words.
pub fn hooks_in_words(hooks: &ExtensionHooks) -> String {
    let parts = [("before the first task ", &hooks.before), ("after the last one ", &hooks.after)];
    let parts = parts.into_iter().filter(|(_, commands)| !commands.is_empty());
    parts.map(|(when, commands)| [when, &slashed(commands)].concat()).collect::<Vec<_>>().join("; ")
}

/// Commands as they are typed.
fn slashed(commands: &[String]) -> String {
    ["/", &commands.join(", /")].concat()
}

fn changed_tasks(tampered: &Tampered) -> String {
    let mut text = String::new();
    if !tampered.removed.is_empty() {
        let _ = write!(
            text,
            "Open tasks have left {TASKS}: {}. They are still open. Put them back, each with its own line and box, or drop one: `spool task drop ID \"why\"`.",
            ids(&tampered.removed)
        );
    }
    if !tampered.reworded.is_empty() {
        let gap = if text.is_empty() { "" } else { " " };
        let reworded = ids(&tampered.reworded);
        let _ = write!(
            text,
            "{gap}Open tasks were reworded in {TASKS}: {reworded}. Do what they asked for first."
        );
    }
    text
}

/// A few ids, and the number of the others.
pub fn ids(all: &[String]) -> String {
    few(&mut all.iter().map(|id| printable(id).chars().take(40).collect::<String>()), IDS)
}

/// Quotes another program's output, so that no line equals the completion signal.
fn quoted(text: &str) -> String {
    text.lines().fold(String::new(), |quoted, line| quoted + "| " + line + "\n")
}

/// Everything that is missing, on one line; `open` names the open tasks.
pub fn brief(missing: &[Shortfall], open: &str) -> String {
    let words: Vec<String> = missing.iter().map(|one| short(one, open)).collect();
    text::line(&words.join("; ")).into_owned()
}

/// One missing thing in a few words, without a full stop; `open` names the open tasks.
pub fn short(shortfall: &Shortfall, open: &str) -> String {
    match shortfall {
        Shortfall::OpenTasks => open.to_owned(),
        Shortfall::ClaimedWithOpenTasks => format!("claimed done, but {open}"),
        Shortfall::Tampered(tampered) => tampered.to_string(),
        Shortfall::Unproved(tasks) => {
            // The person may know why the files are like this.
            if let Some(task) = tasks.iter().find(|task| task.why.holds_up_all()) {
                return lack(&task.why);
            }
            let all: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
            ["ticked and not proved: ", &ids(&all)].concat()
        }
        Shortfall::EmptyList => "the task list is gone or holds no task".to_owned(),
        Shortfall::HooksDue(due) => ["extension hooks not run: ", &slashed(due)].concat(),
        Shortfall::ConvergeDue(command) => ["/", command, " still has to run"].concat(),
        Shortfall::NoToken => "no promise yet".to_owned(),
        Shortfall::PromiseNotMade => "the promise is quoted or denied, not made".to_owned(),
        Shortfall::NoWork { calls, needed } => {
            format!("promise refused: {calls} of {needed} tool calls")
        }
        Shortfall::UnseenWork(why) => ["promise refused: ", why].concat(),
        Shortfall::TooEarly { first } => format!("no end before iteration {first}"),
        Shortfall::CheckFailed(result) => of_check(result),
        Shortfall::NotReviewed(result) => {
            ["the review came to no verdict: ", why_none(result)].concat()
        }
        Shortfall::SameFailure { times } => format!("the same failure {times} times in a row"),
        Shortfall::ChecksNotRun => "the checks were not run".to_owned(),
        Shortfall::Unreadable => "the state cannot be read".to_owned(),
    }
}

/// The outcome of a review without a verdict, without its prefix `no pass: `.
fn why_none(result: &CheckResult) -> &str {
    result.outcome.strip_prefix("no pass: ").unwrap_or(&result.outcome)
}

/// A failed check, or the outcome of a review, in a few words.
pub fn of_check(CheckResult { run, outcome, review, .. }: &CheckResult) -> String {
    match review {
        None => format!("check failed: `{run}` ({outcome})"),
        Some(_) => ["review: ", outcome].concat(),
    }
}

/// The number of open tasks, as [`short`] takes it.
pub fn open_count(open: u64) -> String {
    text::counted_as(open as usize, "task is open", "tasks are open")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdictless_review_says_reason() {
        let outcome = "no pass: the answer cannot be used, by claude".to_owned();
        let none = Shortfall::NotReviewed(CheckResult { outcome, ..CheckResult::default() });
        let said = short(&none, "");
        assert_eq!(said, "the review came to no verdict: the answer cannot be used, by claude");
        let mut text = String::new();
        let reader = Reader {
            who: "You",
            promise: "",
            without: "",
            open: "",
            finished: "",
            bullet: "",
            output: 100,
        };
        explain(&mut text, &[none], reader);
        assert!(
            text.starts_with(
                "The review came to no verdict (the answer cannot be used, by claude): "
            ),
            "{text}"
        );
    }
}
