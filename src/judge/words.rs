//! Words about a tick that counts as open: its files byte by byte, and what answers the refusal.

use crate::engine::order::few;
use crate::engine::proof::{Unproved, UnprovedTask};
use crate::evidence::contents::{MOST, MOST_FILES};
use crate::feature::project::printable;
use crate::text::grouped;

/// Files and tasks named in one list.
const NAMED: usize = 4;
pub const REASON: &str = "say why in two words or more";

/// What a task lacks, without a full stop.
pub fn lack(unproved: &Unproved) -> String {
    let was = "as when the loop was armed";
    match unproved {
        Unproved::NothingChanged => {
            "nothing in the project has changed since the task before".to_owned()
        }
        Unproved::OnlyPutBack(paths) => {
            format!(
                "since the task before, only {} changed, back to what was there {was}",
                named(paths)
            )
        }
        Unproved::NamedFilesUnchanged(paths) if paths.len() == 1 => {
            format!("it names {}, which is byte for byte {was}", named(paths))
        }
        Unproved::NamedFilesUnchanged(paths) => {
            format!("it names {}, and all of them are byte for byte {was}", named(paths))
        }
        Unproved::NamedFilesMissing(paths) => {
            format!("it names {}, and no such file is there", named(paths))
        }
        Unproved::WorkGone(paths) => {
            format!(
                "its work is gone: at most blanks or comments of it are left in {}",
                named(paths)
            )
        }
        Unproved::ProtectedChanged(paths) => {
            format!("protected files have changed: {}", named(paths))
        }
        Unproved::TreeTooLarge(folder) => {
            let most = if folder.is_empty() {
                String::new()
            } else {
                format!(", most of the new ones in {}", printable(folder))
            };
            let (files, megabytes) = (grouped(MOST_FILES as u64), MOST >> 20);
            format!(
                "the project has more than can be looked at, {files} files and folders or {megabytes} MB{most}"
            )
        }
    }
}

/// One sentence for the agent; `by_command` means that the agent has `spool task`.
pub fn answer(id: &str, unproved: &Unproved, by_command: bool) -> String {
    let word = |option: &str, tag: &str| {
        if by_command {
            return format!("spool task done {id} --{option} \"why\"");
        }
        format!(
            "tick it and {REASON}, alone on a line of your final message: `<{tag}>{id}: why</{tag}>`"
        )
    };
    match unproved {
        Unproved::ProtectedChanged(_) => {
            "Only a person changes these: put them back as they were".to_owned()
        }
        Unproved::TreeTooLarge(_) => {
            "Remove what is not needed, or name what programs have made in `.gitignore`".to_owned()
        }
        Unproved::NamedFilesUnchanged(_) | Unproved::NamedFilesMissing(_) => {
            format!("Do the work. If it is in other files: {}", word("elsewhere", "elsewhere"))
        }
        Unproved::WorkGone(_) => {
            format!(
                "Do the work again. If it is in other files now: {}",
                word("elsewhere", "elsewhere")
            )
        }
        Unproved::NothingChanged | Unproved::OnlyPutBack(_) => {
            let with = if by_command {
                format!(
                    "If it was done together with a ticked task: spool task done {id} --with ID. "
                )
            } else {
                String::new()
            };
            format!(
                "Do the work. {with}If it rightly changes nothing: {}",
                word("no-change", "no-change")
            )
        }
    }
}

/// What an agent of a session reads of ticked tasks that count as open: what each lacks, and what to do next.
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
pub fn part_of_judge(files: &[&str], how: &str) -> String {
    if files.is_empty() {
        return String::new();
    }
    let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    let named = named(&files);
    format!(
        "part of the judge: {named}. Where the loop changes them and no task names them, what they prove is in doubt; {how} forbids it\n"
    )
}

fn named(paths: &[String]) -> String {
    few(&mut paths.iter().map(|path| printable(path)), NAMED)
}
