//! Reading a file that its writer may be in the middle of: wait until it is quiet, not forever.

use std::path::Path;
use std::time::Duration;

use super::read::{FileContent, Problem, read_in};
use crate::world::{self, Deadline};

/// How long a file must have been left alone.
const QUIET: Duration = Duration::from_millis(100);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(25);
/// The age from which on nobody is writing a file any more (spec 003, FR-5).
const LIMIT: Duration = Duration::from_secs(2);
/// When to give up and take what is there (spec 003, NFR-1).
pub const PATIENCE: Duration = LIMIT;

/// The content once it parses and nobody has changed it for 100 ms; at the deadline, what
/// is there.
///
/// A file that was last changed more than 2 s ago is returned at once: nobody is writing it.
/// `parses` says whether the bytes are a whole document.
pub fn read_settled(
    folder: &Path,
    name: &str,
    most: u64,
    deadline: Deadline,
    parses: impl Fn(&[u8]) -> bool,
) -> Result<FileContent, Problem> {
    let mut quiet_since = Deadline::after(QUIET);
    let mut before: Option<Result<FileContent, Problem>> = None;
    loop {
        let found = read_in(folder, name, most);
        let whole = found.as_ref().is_ok_and(|content| parses(&content.bytes));
        if deadline.is_over() || is_old(&found, whole) {
            return found;
        }
        if before.as_ref() != Some(&found) {
            quiet_since = Deadline::after(QUIET);
        } else if whole && quiet_since.is_over() {
            return found;
        }
        before = Some(found);
        world::pause(PAUSE);
    }
}

/// Whether the file was left alone for long enough, by its own date. A date in the future says nothing.
fn is_old(found: &Result<FileContent, Problem>, whole: bool) -> bool {
    match found {
        Ok(content) => {
            let needed = if whole { QUIET } else { LIMIT };
            content.changed_at.age() >= needed
        }
        // A pipe, a folder or nothing at all does not turn into a file by waiting.
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests;
