//! Reads a file while its writer may be at work: waits until the file is quiet, but not forever.

use std::path::Path;
use std::time::Duration;

use super::read::{FileContent, Problem, read_in};
use crate::world::{self, Deadline};

/// The time without a change after which a file is quiet.
const QUIET: Duration = Duration::from_millis(100);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(25);
/// A file of this age is no longer being written (spec 003, FR-5).
const LIMIT: Duration = Duration::from_secs(2);
/// A read waits at most this long (spec 003, NFR-1).
pub const PATIENCE: Duration = LIMIT;

/// The content, once it parses and has been quiet for 100 ms; at the deadline, whatever is there.
///
/// A file that was last changed more than 2 s ago is returned at once. `parses` tells whether bytes are a whole
/// document.
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

/// The file's own date tells that it was left alone for long enough. A date in the future tells nothing.
fn is_old(found: &Result<FileContent, Problem>, whole: bool) -> bool {
    match found {
        Ok(content) => {
            let needed = if whole { QUIET } else { LIMIT };
            content.changed_at.age() >= needed
        }
        // Waiting does not turn a pipe, a folder or nothing into a file.
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests;
