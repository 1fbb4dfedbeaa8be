//! Texts about ticks that count as open: what a task lacks, and how the agent can answer.

use crate::engine::order::few;
use crate::engine::proof::{Unproved, UnprovedReason, UnprovedTask};
use crate::evidence::contents::{MOST, MOST_FILES};
use crate::feature::project::printable;
use crate::text::grouped;

/// Files and tasks named in one list.
const NAMED: usize = 4;
pub const REASON: &str = "say why in two words or more";

/// What a task lacks, without a full stop.
pub fn lack(unproved: &Unproved) -> String {
    let (files, was) = (named(&unproved.files), "as when the loop was armed");
    match unproved.reason {
        UnprovedReason::NothingChanged => {
            "nothing in the project has changed since the last tick or arming, apart from git's folder, caches, agents' folders and ignored files that it does not name".to_owned()
        }
        UnprovedReason::OnlyPutBack => {
            format!("since the task before, only {files} changed, back to what was there at arming")
        }
        UnprovedReason::NamedFilesUnchanged => {
            let which = if unproved.files.len() == 1 { "which is" } else { "and all of them are" };
            format!("it names {files}, {which} byte for byte {was}")
        }
        UnprovedReason::NamedFilesMissing => {
            format!("it names {files}, and no such file is there")
        }
        UnprovedReason::WorkGone => {
            format!("its work is gone: at most blanks or comments of it are left in {files}")
        }
        UnprovedReason::ProtectedChanged => format!("protected files have changed: {files}"),
        UnprovedReason::TreeTooLarge => {
            let most = if files.is_empty() { "" } else { ", most of the new ones in " };
            let (number, megabytes) = (grouped(MOST_FILES as u64), MOST >> 20);
            format!(
                "the project has more than can be looked at, {number} files and folders or {megabytes} MB{most}{files}"
            )
        }
    }
}

/// One sentence for the agent; `by_command` means that the agent has `spool task`.
pub fn answer(id: &str, unproved: &Unproved, by_command: bool) -> String {
    let word = |tag: &str| {
        if by_command {
            return format!("spool task done {id} --{tag} \"why\"");
        }
        format!(
            "tick it and {REASON}, alone on a line of your final message: `<{tag}>{id}: why</{tag}>`"
        )
    };
    match unproved.reason {
        UnprovedReason::ProtectedChanged => {
            "Only a person changes these: put them back as they were".to_owned()
        }
        UnprovedReason::TreeTooLarge => {
            "Remove what is not needed, or name what programs have made in `.gitignore`".to_owned()
        }
        UnprovedReason::NamedFilesUnchanged | UnprovedReason::NamedFilesMissing => {
            format!("Do the work. If it is in other files: {}", word("elsewhere"))
        }
        UnprovedReason::WorkGone => {
            format!("Do the work again. If it is in other files now: {}", word("elsewhere"))
        }
        UnprovedReason::NothingChanged | UnprovedReason::OnlyPutBack => {
            let with = "If it was done together with a ticked task: spool task done ";
            let with = if by_command { [with, id, " --with ID. "].concat() } else { String::new() };
            let word = word("no-change");
            format!("Do the work. {with}If it rightly changes nothing: {word}")
        }
    }
}

/// The text for a session's agent about ticked tasks that count as open: what each lacks, and the next step.
pub fn not_proved(tasks: &[UnprovedTask]) -> String {
    if let Some(task) = tasks.iter().find(|task| task.why.holds_up_all()) {
        let answer = answer(&task.id, &task.why, true);
        return format!("Nothing counts as done while {}. {answer}.", lack(&task.why));
    }
    let one = |task: &UnprovedTask| format!("{} ({})", printable(&task.id), lack(&task.why));
    let all = few(&mut tasks.iter().map(one), NAMED);
    format!(
        "Ticked and still open: {all}. Do the work. Or say it with `spool task done ID` and one of: --elsewhere \"why\" (the work is in other files), --with OTHER (done with that task), --no-change \"why\" (it rightly changes nothing); {REASON}."
    )
}

/// The line about files that the loop's commands run; empty for none. `how` names what protects them.
pub fn part_of_judge(files: &[String], how: &str) -> String {
    if files.is_empty() {
        return String::new();
    }
    let named = named(files);
    format!(
        "part of the judge: {named}. Where the loop changes them and no task names them, what they prove is in doubt; {how} forbids it\n"
    )
}

/// Lines about commands: their programs that are not found, and the commands that pass whatever they run.
pub fn doubtful_lines([missing, deaf]: &[Vec<String>; 2]) -> String {
    line_of("not found, though a command runs it", missing)
        + &line_of("passes whatever it runs", deaf)
}

/// A line with these words and names; empty without a name.
pub fn line_of(words: &str, names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("{words}: {}\n", named(names)) }
}

fn named(paths: &[String]) -> String {
    few(&mut paths.iter().map(|path| printable(path)), NAMED)
}
