//! What a task lacks that nothing proves, in words.

use crate::engine::proof::{Unproved, UnprovedTask};
use crate::feature::project::printable;

/// The most files that are named.
const FILES: usize = 4;

/// What is to be done about protected files that have changed, without a full stop.
pub const PUT_BACK: &str = "Only a person changes these: put them back as they were";

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
    }
}

/// Returns what an agent reads of tasks that it ticked by hand and that nothing proves: what they lack, and what to do next.
pub fn not_proved(tasks: &[UnprovedTask]) -> String {
    let protected = |task: &&UnprovedTask| matches!(task.why, Unproved::ProtectedChanged(_));
    if let Some(task) = tasks.iter().find(protected) {
        return format!("Nothing counts as done while {}. {PUT_BACK}.", lack(&task.why));
    }
    let one = |task: &UnprovedTask| [&*printable(&task.id), " (", &lack(&task.why), ")"].concat();
    let mut named: Vec<String> = tasks.iter().take(FILES).map(one).collect();
    if tasks.len() > FILES {
        named.push(format!("{} more", tasks.len() - FILES));
    }
    format!(
        "Ticked and not proved, so still open: {}. Do the work. Or it rightly changes nothing: `spool task done ID --no-change \"why\"`; or it was done together with another task: `spool task done ID --with OTHER`.",
        named.join(", ")
    )
}

fn named(paths: &[String]) -> String {
    let mut names: Vec<_> = paths.iter().take(FILES).map(|path| printable(path)).collect();
    if paths.len() > FILES {
        names.push(format!("{} more", paths.len() - FILES));
    }
    names.join(", ")
}
