//! What a task lacks that nothing proves, in words.

use crate::engine::proof::Unproved;
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

fn named(paths: &[String]) -> String {
    let mut names: Vec<_> = paths.iter().take(FILES).map(|path| printable(path)).collect();
    if paths.len() > FILES {
        names.push(format!("{} more", paths.len() - FILES));
    }
    names.join(", ")
}
