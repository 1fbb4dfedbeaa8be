//! Counts iterations without a changed file.
//!
//! A stop remembers only its time. The files are looked at only if the loop would end because of them, and before
//! checks that may write files. All other stops cost the same in a small and a large project.

use std::path::Path;
use std::time::Duration;

use super::contents::{Contents, number_of};
use super::entries::SeenFile;
use super::ignored::is_noise;
use super::tree::{Bounds, FoundFile, Go, Whole, look};
use crate::engine::{Difference, Hasher, UnchangedFiles, hash_of};
use crate::store::loops::Marks;
use crate::world::{self, Deadline, FileTime, WallTime};

/// The limit of a look, and the time that the rest of a stop needs.
const LIMIT: Duration = Duration::from_millis(1_500);
const REST: Duration = Duration::from_millis(300);
/// A file's time may be ahead by this much; a later time says nothing about this loop.
const AHEAD: Duration = Duration::from_mins(1);
/// Limits of a comparison: paths that are remembered, and bytes that are read.
const COMPARED: usize = 128;
const READ: u64 = 16 << 20;

/// The moment of a look at the files.
#[derive(Clone, Copy, Debug)]
pub struct LookMoment {
    /// The time of the last judgement.
    pub seen_at: WallTime,
    /// The stop has to be answered by then.
    pub deadline: Deadline,
}

impl LookMoment {
    /// A look at files that checks may have changed, from now on.
    pub fn after_checks() -> Self {
        Self { seen_at: world::now(), deadline: Deadline::after(LIMIT + REST) }
    }

    /// The time that a look may take.
    pub fn time(&self) -> Duration {
        LIMIT.min(self.deadline.left().saturating_sub(REST))
    }

    /// The latest possible time of a file, by the files' clock.
    fn latest(&self, last: FileTime) -> FileTime {
        last.after(self.seen_at.age()).after(AHEAD)
    }
}

/// Counts iterations without a changed file, this one included, and updates the marks for the next look.
///
/// Change times (ctime) show which files may have changed, because no program can set them back. A file has changed if
/// its content differs from an earlier look or from `kept`, or if no look had seen it. A removal shows in the names of
/// the folder. Changes of noise do not count.
pub fn still(
    root: &Path,
    marks: &mut Marks,
    kept: Option<&Contents>,
    moment: LookMoment,
) -> UnchangedFiles {
    let (Some(first), Some(last)) = (marks.ends.first().copied(), marks.ends.last().copied())
    else {
        return UnchangedFiles::Still(0);
    };
    let latest = moment.latest(last);
    let counts = |time: FileTime| time <= latest && !marks.is_in_checks(time);
    let mut newest = FileTime::default();
    let mut found = Vec::new();
    let (mut kept, mut left) = (kept.map(|kept| kept.0.search()), READ);
    let (entries, time) = (usize::MAX, moment.time());
    let bounds = Bounds { since: first.next(), entries, time, run: None };
    let whole = look(root, bounds, &mut |seen| {
        match seen {
            FoundFile::File { folder, name, changed, stat, .. }
                if counts(changed) && !is_noise(name) =>
            {
                let size = stat.size();
                if size > left {
                    newest = newest.max(changed);
                    return Go::On;
                }
                left -= size;
                let path = [folder, name].concat();
                let then = kept.as_mut().and_then(|kept| kept.find(&path)).map(SeenFile::seen);
                let now = number_of(root, &path, stat);
                let is_kept = then.is_some_and(|then| then.number() == now);
                let since = if is_kept { FileTime::default() } else { changed };
                found.push(([hash_of(&path), now], since));
            }
            FoundFile::Folder { path, changed, names } if counts(changed) => {
                found.push(([hash_of(path), names], changed));
            }
            _ => {}
        }
        Go::On
    });
    if whole != Whole::Seen {
        return UnchangedFiles::Unknown;
    }
    // Beyond the limit, all contents become one hash, in any order.
    if found.len() > COMPARED {
        let since = found.iter().map(|(_, since)| *since).max().unwrap_or_default();
        let hash = |content: &[u64; 2]| {
            content.iter().fold(Hasher::default(), |hash, part| hash.with_number(*part)).finish()
        };
        let all = found.iter().fold(0_u64, |all, (content, _)| all.wrapping_add(hash(content)));
        found = vec![([0, all], since)];
    }
    for (content, changed) in found {
        newest = newest.max(marks.contains_since(content, changed));
    }
    let surplus = marks.contents.len().saturating_sub(COMPARED);
    marks.contents.drain(..surplus);
    if !newest.is_known() {
        return UnchangedFiles::Still(u32::MAX);
    }
    UnchangedFiles::Still(marks.ends.iter().filter(|end| **end >= newest).count() as u32)
}

/// Links and folders count, too.
pub fn changed_since(root: &Path, since: FileTime, moment: LookMoment) -> Difference {
    if !since.is_known() {
        return Difference::Unknown;
    }
    let latest = moment.latest(since);
    let (entries, time) = (usize::MAX, moment.time());
    let bounds = Bounds { since: since.next(), entries, time, run: None };
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
        Whole::TooLarge | Whole::Unfinished => Difference::Unknown,
    }
}

/// The number of checks, from the first on, that ended before the last change of a file, and so have not seen that
/// change. `began` has the beginning of each check.
pub fn outdated(root: &Path, began: &[FileTime], moment: LookMoment) -> usize {
    let changed = |since: &FileTime| changed_since(root, *since, moment) == Difference::Changed;
    match began.get(1) {
        Some(second) if changed(second) => began.iter().rposition(changed).unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::lock::Lock;
    use crate::system::files;

    /// Iterations without a change in a folder with one file, whose time is the end of the last of six iterations. A
    /// check ran from a moment before until that end or a moment after it.
    fn still_since_checks(later: u64) -> UnchangedFiles {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("main.rs");
        std::fs::write(&path, "x").unwrap();
        let written = files::changed_at(&std::fs::metadata(&path).unwrap());
        let nanos = u64::try_from(written.distance(FileTime::default()).as_nanos()).unwrap();
        let mut marks = Marks { checking: FileTime::of(0, nanos - 1), ..Marks::default() };
        marks.ends = (1..6).rev().map(|back| FileTime::of(0, nanos - back * 1_000_000)).collect();
        marks.begin(Some(FileTime::of(0, nanos + later)), true);
        let deadline = Deadline::after(Duration::from_secs(2));
        still(folder.path(), &mut marks, None, LookMoment { seen_at: world::now(), deadline })
    }

    #[test]
    fn record_time_is_agent_work() {
        assert_eq!(still_since_checks(0), UnchangedFiles::Still(1));
        assert_eq!(still_since_checks(1), UnchangedFiles::Still(u32::MAX), "a check wrote it");
    }

    #[test]
    fn stepped_clock_gives_later_time() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(&folder.path().join("lock"), Duration::from_secs(1)).unwrap();
        let written = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "x").unwrap();
            files::changed_at(&std::fs::metadata(&path).unwrap())
        };
        for round in 0..20 {
            let before = written(&format!("before-{round}"));
            assert!(lock.outlasts_step());
            assert!(written(&format!("after-{round}")) > before);
        }
    }
}
