//! Counts commits by the repository's log of its head.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::{memchr_iter, memrchr};

use crate::engine::hash_of;
use crate::store::loops::Record;
use crate::store::read;
use crate::world::{FileTime, WallTime};

/// Bytes of the log that are read.
const MOST: u64 = 256 << 10;
/// Bytes in which the last line is searched first.
const LINE: u64 = 8 << 10;
/// Folders up to a repository, as many as up to a project.
const LEVELS: usize = 64;

/// Beginnings of log lines for a new commit; merges are checked apart.
const COMMITS: &str =
    "commit:|commit (initial):|commit (merge):|commit (cherry-pick):|cherry-pick:|revert:|am:";

/// How far the log of the head was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPlace {
    /// In bytes; 0 without a log.
    pub length: u64,
    /// Hash of the last line read, 0 for none: git rewrites the log when it drops old lines.
    pub line: u64,
}

/// The latest possible time of the last new commit in the log. A checkout, a reset and an amended commit do not count.
pub fn last_commit(log: &Path) -> Option<FileTime> {
    let (file, meta) = read::open(log).ok()?;
    let of_line = |line: &[u8]| Some(FileTime::of(second_of_commit(line)?, 999_999_999));
    [LINE, MOST].into_iter().find_map(|most| {
        let text = read_from(file.try_clone().ok()?, meta.len().saturating_sub(most), most)?;
        whole_lines(&text).rsplit(|byte| *byte == b'\n').find_map(of_line)
    })
}

/// Counts the commits since the last look, and advances the record's place. `None` without a log of the head.
///
/// An amended commit does not count, nor do a checkout and a rebase: their work was there before.
pub fn counted(root: &Path, record: &mut Record) -> Option<u64> {
    let place = LogPlace { length: record.commits_read, line: record.commits_line };
    let (commits, place) = new_since(root, place, record.seen_at.max(record.armed_at))?;
    (record.commits_read, record.commits_line) = (place.length, place.line);
    Some(commits)
}

/// Commits in the log behind these bytes; `None` without a log. From 0, the times of the log decide.
pub fn made_since(root: &Path, from: u64, not_before: WallTime) -> Option<u64> {
    let place = LogPlace { length: from, line: 0 };
    new_since(root, place, not_before).map(|(commits, _)| commits)
}

/// Commits behind a place of the log, and the place that is read by then.
fn new_since(root: &Path, place: LogPlace, not_before: WallTime) -> Option<(u64, LogPlace)> {
    let (file, meta) = read::open(&log_of(root)?).ok()?;
    let (from, end) = (place.length, meta.len());
    if from == end {
        return Some((0, place));
    }
    let has_grown = from > 0 && from < end;
    let start = if has_grown { from } else { 0 }.max(end.saturating_sub(MOST));
    let text = read_from(file, start, MOST)?;
    // A line that is still being written waits for the next time.
    let text = whole_lines(&text);
    let read = LogPlace { length: start + text.len() as u64, line: last_line_hash(text) };
    let (new, not_before) = match behind_line(text, place.line).filter(|_| !has_grown) {
        Some((_, rest)) => (rest, 0),
        None if has_grown => (text, 0),
        // The log was never read, or its known lines are gone: the times decide.
        None => (text, not_before.millis() / 1000),
    };
    let lines = new.split(|byte| *byte == b'\n');
    let is_new = |second: &u64| *second >= not_before;
    Some((lines.filter_map(second_of_commit).filter(is_new).count() as u64, read))
}

/// Commits up to here are not the work of a loop that begins now.
pub fn log_place(root: &Path) -> LogPlace {
    let Some((file, meta)) = log_of(root).and_then(|log| read::open(&log).ok()) else {
        return LogPlace::default();
    };
    let length = meta.len();
    let text = read_from(file, length.saturating_sub(LINE), LINE).unwrap_or_default();
    LogPlace { length, line: last_line_hash(whole_lines(&text)) }
}

/// The commit that was checked out when the log ended at `place`; `None` if the log does not have that line.
pub fn head_at(root: &Path, place: LogPlace) -> Option<String> {
    let (file, meta) = read::open(&log_of(root)?).ok()?;
    let from_end = |end: u64| {
        let text = read_from(file.try_clone().ok()?, end.saturating_sub(MOST), MOST.min(end))?;
        let (line, _) = behind_line(whole_lines(&text), place.line)?;
        let commit = line.split(|byte| *byte == b' ').nth(1)?;
        Some(std::str::from_utf8(commit).ok()?.to_owned())
    };
    let grown = if place.length < meta.len() { from_end(place.length) } else { None };
    grown.or_else(|| from_end(meta.len()))
}

fn read_from(mut file: File, start: u64, most: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(start)).ok()?;
    file.take(most).read_to_end(&mut text).ok()?;
    Some(text)
}

fn whole_lines(text: &[u8]) -> &[u8] {
    &text[..memrchr(b'\n', text).map_or(0, |end| end + 1)]
}

/// 0 without a line.
fn last_line_hash(lines: &[u8]) -> u64 {
    let Some(lines) = lines.strip_suffix(b"\n") else { return 0 };
    hash_of(&lines[memrchr(b'\n', lines).map_or(0, |end| end + 1)..])
}

/// The last line with this hash, and the text behind it.
fn behind_line(lines: &[u8], hash: u64) -> Option<(&[u8], &[u8])> {
    let mut begins = 0;
    let mut found = None;
    for end in memchr_iter(b'\n', lines).filter(|_| hash != 0) {
        if hash_of(&lines[begins..end]) == hash {
            found = Some((&lines[begins..end], &lines[end + 1..]));
        }
        begins = end + 1;
    }
    found
}

fn log_of(root: &Path) -> Option<PathBuf> {
    Some(repository_of(root)?.join("logs").join("HEAD"))
}

/// The second of a new commit; `None` for any other line.
fn second_of_commit(line: &[u8]) -> Option<u64> {
    let mut halves = line.splitn(2, |byte| *byte == b'\t');
    let (head, message) = (halves.next()?, halves.next()?);
    let merged = message.starts_with(b"merge ") && !message.ends_with(b"Fast-forward");
    if !merged && !COMMITS.split('|').any(|kind| message.starts_with(kind.as_bytes())) {
        return None;
    }
    let time = head.rsplit(|byte| *byte == b' ').nth(1);
    std::str::from_utf8(time?).ok()?.parse().ok()
}

/// The top of the work tree around a folder, at most 64 folders up.
pub fn top_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().take(LEVELS).find(|folder| folder.join(".git").exists())
}

/// The folder with the repository's data. In a work tree the file `.git` names it.
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
    use std::fs;

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
    fn new_commit_lines_count_once() {
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
    fn earlier_commits_are_foreign() {
        let folder = repository(LOG);
        let mut record = Record { armed_at: WallTime::from_millis(1_004_500), ..Record::default() };
        assert_eq!(counted(folder.path(), &mut record), Some(4), "a log that nobody had looked at");
        let mut record = Record { commits_read: log_place(folder.path()).length, ..record };
        assert_eq!(counted(folder.path(), &mut record), Some(0));
        // Git has dropped the oldest lines and rewritten the log.
        let short: String = LOG.split_inclusive('\n').skip(6).collect();
        fs::write(folder.path().join(".git/logs/HEAD"), short).unwrap();
        record.seen_at = WallTime::from_millis(1_009_700);
        assert_eq!(counted(folder.path(), &mut record.clone()), Some(0), "its last line is there");
        // A record of an older version has no line.
        record.commits_line = 0;
        assert_eq!(counted(folder.path(), &mut record), Some(2));
    }

    #[test]
    fn same_second_commit_must_follow() {
        let before: String = LOG.split_inclusive('\n').take(2).collect();
        let folder = repository(&before);
        let place = log_place(folder.path());
        assert_eq!(place.length, before.len() as u64);
        let armed = Record {
            armed_at: WallTime::from_millis(1_001_500),
            commits_read: place.length,
            commits_line: place.line,
            ..Record::default()
        };
        let after = "2222 3333 A B <a@b> 1001 +0000\tcommit: own\n";
        // Git has dropped the oldest line before the loop's first look.
        let log = folder.path().join(".git/logs/HEAD");
        let short = before.lines().next_back().unwrap();
        fs::write(&log, format!("{short}\n{after}")).unwrap();
        let mut record = armed.clone();
        assert_eq!(counted(folder.path(), &mut record), Some(1));
        assert_eq!(head_at(folder.path(), place), Some("2222".to_owned()));
        // The known line is gone as well: only the second is known.
        fs::write(&log, after).unwrap();
        assert_eq!(counted(folder.path(), &mut armed.clone()), Some(1));
        assert_eq!(head_at(folder.path(), place), None);
        // The log is rewritten between two looks in one second.
        let mut record = Record { seen_at: WallTime::from_millis(1_001_900), ..record };
        assert_eq!(counted(folder.path(), &mut record), Some(0));
        fs::write(&log, format!("{after}3333 4444 A B <a@b> 1001 +0000\tcommit: next\n")).unwrap();
        record.commits_read = 1_000;
        assert_eq!(counted(folder.path(), &mut record), Some(1));
    }

    #[test]
    fn earlier_head_is_found() {
        let folder = repository(LOG);
        let place = log_place(folder.path());
        let more = "bbbb cccc A B <a@b> 1011 +0000\tcommit: more\n";
        let log = folder.path().join(".git/logs/HEAD");
        fs::write(&log, format!("{LOG}{}", more.repeat(8_000))).unwrap();
        assert_eq!(head_at(folder.path(), place), Some("bbbb".to_owned()));
        assert_eq!(head_at(folder.path(), LogPlace::default()), None);
    }

    #[test]
    fn logless_tree_counts_nothing() {
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
