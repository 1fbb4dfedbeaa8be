//! For how many iterations the files of a project have stayed unchanged.
//!
//! A stop remembers only when it ended. The files are looked at where a loop would end because of them,
//! and before checks run that may write some; all other stops cost the same in a small and a large project.

use std::path::Path;
use std::time::Duration;

use super::tree::{Bounds, FoundFile, Go, Whole, look};
use crate::engine::{Difference, UnchangedFiles, hash_of};
use crate::store::loops::Marks;
use crate::world::{Deadline, FileTime, WallTime};

/// The longest that a look may take, and what the rest of a stop needs of its time.
const LIMIT: Duration = Duration::from_millis(1_500);
const REST: Duration = Duration::from_millis(300);
/// How far a file's time may lie ahead: one from the future says nothing of this loop.
const AHEAD: Duration = Duration::from_mins(1);
/// The smallest step of that clock.
const TICK: Duration = Duration::from_nanos(1);
/// The most folders whose names are remembered.
const FOLDERS: usize = 64;

/// When a look at the files happens.
#[derive(Clone, Copy, Debug)]
pub struct LookMoment {
    /// When the loop was judged before.
    pub seen_at: WallTime,
    /// When the stop has to be answered.
    pub deadline: Deadline,
}

impl LookMoment {
    fn time(&self) -> Duration {
        LIMIT.min(self.deadline.left().saturating_sub(REST))
    }

    /// The latest time that a file may have now, by its own clock.
    fn latest(&self, last: FileTime) -> FileTime {
        last.after(self.seen_at.age()).after(AHEAD)
    }
}

/// Returns for how many iterations no file has changed, this one included; remembers in the marks what
/// the next look needs.
///
/// The times of change decide, which nobody can set back. What was removed shows in its folder: that
/// counts once, and again only when the names in it are other ones.
pub fn still(root: &Path, marks: &mut Marks, moment: LookMoment) -> UnchangedFiles {
    let (Some(first), Some(last)) = (marks.ends.first().copied(), marks.ends.last().copied())
    else {
        return UnchangedFiles::Still(0);
    };
    let latest = moment.latest(last);
    let counts = |time: FileTime| time <= latest && !marks.is_in_checks(time);
    let mut newest = FileTime::default();
    let mut folders = Vec::new();
    let bounds = Bounds { since: first.after(TICK), entries: usize::MAX, time: moment.time() };
    let whole = look(root, bounds, &mut |found| {
        match found {
            FoundFile::File { changed, .. } if counts(changed) => {
                newest = newest.max(changed);
                if changed > last {
                    return Go::Stop;
                }
            }
            FoundFile::Folder { path, changed, names } if counts(changed) => {
                folders.push(([hash_of(path), names], changed));
            }
            _ => {}
        }
        Go::On
    });
    match whole {
        Whole::Stopped => return UnchangedFiles::Still(0),
        Whole::TooLarge => return UnchangedFiles::Unknown,
        Whole::Seen => {}
    }
    for (folder, changed) in folders {
        if !marks.folders.contains(&folder) {
            newest = newest.max(changed);
            marks.folders.retain(|known| known[0] != folder[0]);
            marks.folders.push(folder);
        }
    }
    let surplus = marks.folders.len().saturating_sub(FOLDERS);
    marks.folders.drain(..surplus);
    if !newest.is_known() {
        return UnchangedFiles::Still(u32::MAX);
    }
    UnchangedFiles::Still(marks.ends.iter().filter(|end| **end >= newest).count() as u32)
}

/// Returns whether a file has changed since a time.
pub fn changed_since(root: &Path, since: FileTime, moment: LookMoment) -> Difference {
    if !since.is_known() {
        return Difference::Unknown;
    }
    let latest = moment.latest(since);
    let bounds = Bounds { since: since.after(TICK), entries: usize::MAX, time: moment.time() };
    let whole = look(root, bounds, &mut |found| match found {
        FoundFile::File { changed, .. } | FoundFile::Folder { changed, .. }
            if changed <= latest =>
        {
            Go::Stop
        }
        _ => Go::On,
    });
    match whole {
        Whole::Seen => Difference::Same,
        Whole::Stopped => Difference::Changed,
        Whole::TooLarge => Difference::Unknown,
    }
}
