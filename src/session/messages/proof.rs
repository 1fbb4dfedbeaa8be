//! What a task lacks that nothing proves, in words.

use crate::engine::proof::{Unproved, UnprovedTask};
use crate::engine::unticked::UntickedTask;
use crate::evidence::contents::{MOST, MOST_FILES};
use crate::feature::project::printable;
use crate::text::{grouped, title};

/// The most files that are named.
const FILES: usize = 4;
/// The most characters of the files of an open task that may be done.
const NAMES: usize = 60;

/// What is to be done about protected files that have changed, without a full stop.
const PUT_BACK: &str = "Only a person changes these: put them back as they were";
/// What a reason has to be why a task changes nothing.
pub const REASON: &str = "say why in two words or more";
/// What is to be done about a project that has grown too large, without a full stop.
const MAKE_SMALL: &str =
    "Remove what is not needed, or name what programs have made in `.gitignore`";

/// Returns what a task lacks, in a few words without a full stop.
pub fn lack(unproved: &Unproved) -> String {
    match unproved {
        Unproved::NothingChanged => {
            "no file has changed for it (blanks and comments do not count)".to_owned()
        }
        Unproved::NamedFilesUnchanged(paths) if paths.len() == 1 => {
            format!("it names {}, which has not changed, or only for another task", named(paths))
        }
        Unproved::NamedFilesUnchanged(paths) => {
            format!(
                "it names {}, and none of them has changed, or only for another task",
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

/// Returns the line on files that say what armed commands run and that the loop may change, each with one of these commands; empty
/// for none. `how` says what protects such files.
pub fn behind_checks(found: &[(&str, &str)], how: impl Fn(&[&str]) -> String) -> String {
    if found.is_empty() {
        return String::new();
    }
    let says =
        |(run, file): &(&str, &str)| format!("{file} says what `{}` runs", title(run, NAMES));
    let said: Vec<String> = found.iter().map(says).collect();
    let files: Vec<&str> = found.iter().map(|(_, file)| *file).collect();
    let it = if files.len() == 1 { "it" } else { "them" };
    let (said, how) = (said.join(", "), how(&files));
    format!("{said}, and the loop may change {it}: to protect {it}, {how}\n")
}

/// Returns what an agent has to do about what holds up every task, without a full stop; `None` for what one task lacks.
pub fn remedy(unproved: &Unproved) -> Option<&'static str> {
    match unproved {
        Unproved::ProtectedChanged(_) => Some(PUT_BACK),
        Unproved::TreeTooLarge(_) => Some(MAKE_SMALL),
        Unproved::NothingChanged | Unproved::NamedFilesUnchanged(_) => None,
    }
}

/// Returns what an agent reads of tasks that it ticked by hand and that nothing proves: what they lack, and what to do next.
pub fn not_proved(tasks: &[UnprovedTask]) -> String {
    let held_up = tasks.iter().find_map(|task| Some((lack(&task.why), remedy(&task.why)?)));
    if let Some((lack, remedy)) = held_up {
        return format!("Nothing counts as done while {lack}. {remedy}.");
    }
    let one = |task: &UnprovedTask| [&*printable(&task.id), " (", &lack(&task.why), ")"].concat();
    let mut named: Vec<String> = tasks.iter().take(FILES).map(one).collect();
    if tasks.len() > FILES {
        named.push(format!("{} more", tasks.len() - FILES));
    }
    format!(
        "Ticked and not proved, so still open: {}. Do the work. Or it rightly changes nothing: {REASON}, `spool task done ID --no-change \"why\"`; or it was done together with another task: `spool task done ID --with OTHER`.",
        named.join(", ")
    )
}

/// Returns one line that asks an agent whether open tasks are done whose files have changed; `how` says how it ticks one.
pub fn unticked(tasks: &[UntickedTask], how: &str) -> String {
    let one = |task: &UntickedTask| {
        let id: String = printable(&task.id).chars().take(40).collect();
        [&id, " (", &*title(&named(&task.names), NAMES), ")"].concat()
    };
    let all: Vec<String> = tasks.iter().map(one).collect();
    let (all, its) = (all.join(", "), if tasks.len() == 1 { "its" } else { "their" });
    format!("Not ticked, though {its} files have changed: {all}. Where it is done: {how}.")
}

fn named(paths: &[String]) -> String {
    let mut names: Vec<_> = paths.iter().take(FILES).map(|path| printable(path)).collect();
    if paths.len() > FILES {
        names.push(format!("{} more", paths.len() - FILES));
    }
    names.join(", ")
}
