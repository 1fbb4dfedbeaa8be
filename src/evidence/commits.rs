//! Whether commits were made and how many, told by the repository's own log of its head.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memrchr;

use crate::engine::{Fingerprint, Hasher, Tree};
use crate::store::loops::Record;
use crate::store::read;
use crate::world::WallTime;

/// The most that is read of the log of the head, in bytes.
const MOST: u64 = 256 << 10;
/// How many folders are looked at for a repository, as many as for a project.
const LEVELS: usize = 64;

/// How the lines of the log begin that stand for a new commit; merges are looked at more closely.
const COMMITS: [&[u8]; 7] = [
    b"commit:",
    b"commit (initial):",
    b"commit (merge):",
    b"commit (cherry-pick):",
    b"cherry-pick:",
    b"revert:",
    b"am:",
];

/// Returns what the commits below `root` look like now; the files are looked at separately.
pub fn fingerprint(root: &Path) -> Fingerprint {
    Fingerprint { work: head_fingerprint(root), tree: Tree::NotTaken }
}

/// Returns a number that changes with every commit and checkout below `root`, 0 without a repository.
pub fn head_fingerprint(root: &Path) -> u64 {
    let Some(repository) = repository_of(root) else {
        return 0;
    };
    let Ok(meta) = fs::metadata(repository.join("logs").join("HEAD")) else {
        return 0;
    };
    let changed = meta.modified().map(WallTime::from).unwrap_or_default();
    Hasher::default().with_number(meta.len()).with_number(changed.millis()).finish()
}

/// Returns how many commits were made since the record last looked, and moves its place on; `None`
/// where there is no log of the head.
///
/// A commit that replaces the last one is none, nor are a checkout and a rebase: the work was there.
pub fn counted(root: &Path, record: &mut Record) -> Option<u64> {
    let log = repository_of(root)?.join("logs").join("HEAD");
    let (mut file, meta) = read::open(&log).ok()?;
    let (from, end) = (record.commits_read, meta.len());
    if from == end {
        return Some(0);
    }
    // A log that nobody has looked at yet, or that was written again: the times in it tell.
    let not_before = match from {
        from if from > 0 && from < end => 0,
        _ => record.seen_at.max(record.armed_at).millis() / 1000,
    };
    let from = if from < end { from } else { 0 };
    let start = from.max(end.saturating_sub(MOST));
    let mut text = Vec::new();
    let read =
        file.seek(SeekFrom::Start(start)).and_then(|_| file.take(MOST).read_to_end(&mut text));
    read.ok()?;
    // A line that is still being written is left for the next time.
    let whole = memrchr(b'\n', &text).map_or(0, |end| end + 1);
    record.commits_read = start + whole as u64;
    let lines = text[..whole].split(|byte| *byte == b'\n');
    Some(lines.filter(|line| is_commit(line, not_before)).count() as u64)
}

/// Returns how many commits the log of the head has after these bytes of it; `None` where there is no such log.
pub fn made_since(root: &Path, from: u64) -> Option<u64> {
    counted(root, &mut Record { commits_read: from, ..Record::default() })
}

/// Returns how long the log of the head is, in bytes, 0 without one.
pub fn log_length(root: &Path) -> u64 {
    let log = repository_of(root).map(|repository| repository.join("logs").join("HEAD"));
    log.and_then(|log| fs::metadata(log).ok()).map_or(0, |meta| meta.len())
}

/// Whether a line of the log stands for a new commit, not before this second since the Unix epoch.
fn is_commit(line: &[u8], not_before: u64) -> bool {
    let mut halves = line.splitn(2, |byte| *byte == b'\t');
    let (Some(head), Some(message)) = (halves.next(), halves.next()) else {
        return false;
    };
    let merged = message.starts_with(b"merge ") && !message.ends_with(b"Fast-forward");
    if !merged && !COMMITS.iter().any(|kind| message.starts_with(kind)) {
        return false;
    }
    let time = head.rsplit(|byte| *byte == b' ').nth(1);
    let time = time.and_then(|time| std::str::from_utf8(time).ok()?.parse::<u64>().ok());
    time.is_some_and(|time| time >= not_before)
}

/// Returns the top of the work tree that a folder is in, at most 64 folders up, `None` without one.
pub fn top_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().take(LEVELS).find(|folder| folder.join(".git").exists())
}

/// Returns the folder with the repository's data, `None` without one; in a work tree `.git` is a file
/// that names it.
pub fn repository_of(root: &Path) -> Option<PathBuf> {
    let git = top_of(root)?.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let content = read::read(&git, 4096).ok()?;
    let text = String::from_utf8(content.bytes).ok()?;
    let named = text.strip_prefix("gitdir:")?.trim();
    Some(git.parent()?.join(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
0000 1111 A B <a@b> 1000 +0000\tcommit (initial): commit: one
1111 2222 A B <a@b> 1001 +0000\tcommit: two
2222 3333 A B <a@b> 1002 +0000\tcommit (amend): two, again
3333 4444 A B <a@b> 1003 -0800\tcheckout: moving from main to commit:
4444 5555 A B <a@b> 1004 +0000\tcommit (merge): three
5555 6666 A B <a@b> 1005 +0000\tmerge side: Fast-forward
6666 7777 A B <a@b> 1006 +0000\tmerge side: Merge made by the 'ort' strategy.
7777 8888 A B <a@b> 1007 +0000\trebase (pick): four
8888 9999 A B <a@b> 1008 +0000\treset: moving to HEAD~1
9999 aaaa A B <a@b> 1009 +0000\tcherry-pick: five
aaaa bbbb A B <a@b> 1010 +0000\trevert: Revert five
";

    fn repository(log: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git/logs")).unwrap();
        fs::write(folder.path().join(".git/logs/HEAD"), log).unwrap();
        folder
    }

    #[test]
    fn only_lines_of_new_commits_count_and_each_once() {
        let folder = repository("");
        let mut record = Record { armed_at: WallTime::from_millis(1_000_999), ..Record::default() };
        assert_eq!(counted(folder.path(), &mut record), Some(0));
        let log = folder.path().join(".git/logs/HEAD");
        fs::write(&log, format!("{LOG}half a line\tcommit: x")).unwrap();
        assert_eq!(counted(folder.path(), &mut record), Some(6));
        assert_eq!(record.commits_read, LOG.len() as u64);
        assert_eq!(counted(folder.path(), &mut record), Some(0));
        fs::write(&log, LOG.repeat(2)).unwrap();
        assert_eq!(counted(folder.path(), &mut record), Some(6));
    }

    #[test]
    fn commits_from_before_the_arming_are_not_the_loops() {
        let folder = repository(LOG);
        let mut record = Record { armed_at: WallTime::from_millis(1_004_500), ..Record::default() };
        assert_eq!(counted(folder.path(), &mut record), Some(4), "a log that nobody had looked at");
        let mut record = Record { commits_read: log_length(folder.path()), ..record };
        assert_eq!(counted(folder.path(), &mut record), Some(0));
        // Git has thrown the oldest lines away and written the log again.
        let short: String = LOG.split_inclusive('\n').skip(6).collect();
        fs::write(folder.path().join(".git/logs/HEAD"), short).unwrap();
        record.seen_at = WallTime::from_millis(1_009_700);
        assert_eq!(counted(folder.path(), &mut record), Some(2));
    }

    #[test]
    fn without_a_log_nothing_is_counted_and_a_work_tree_has_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::default();
        assert_eq!(counted(folder.path(), &mut record), None);
        let main = repository("");
        let own = main.path().join(".git/worktrees/w");
        fs::create_dir_all(own.join("logs")).unwrap();
        fs::write(own.join("logs/HEAD"), LOG).unwrap();
        fs::write(folder.path().join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        assert_eq!(counted(folder.path(), &mut record), Some(6));
    }
}
