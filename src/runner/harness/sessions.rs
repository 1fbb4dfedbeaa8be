//! What agent programs write down about their sessions: files of lines, read with bounds.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::lines;
use crate::store::read;
use crate::world::{Deadline, WallTime};

/// The longest that a session's files are looked for.
const LIMIT: Duration = Duration::from_secs(2);
/// The most entries that are looked at.
const ENTRIES: usize = 500_000;
/// How deep sessions are kept below their folder.
const DEPTH: usize = 6;
/// The most that is read of one session, in bytes.
const MOST: u64 = 256 << 20;
/// The longest line that is taken in, in bytes; longer ones hold pictures or files, and no count.
const LINE: usize = 4 << 20;

/// Hands every line of the files that belong to a session to `each`, as JSON; what cannot be read is left out.
pub fn read(folders: &[PathBuf], is_its: &dyn Fn(&Path) -> bool, each: &mut dyn FnMut(&Value)) {
    let mut left = MOST;
    for file in files(folders, is_its) {
        let Ok((file, _)) = read::open(&file) else { continue };
        let mut lines = BufReader::new(file.take(left));
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            left = left.saturating_sub(line.len() as u64);
            if line.len() <= LINE
                && let Some(value) = lines::value(&line)
            {
                each(&value);
            }
            line.clear();
        }
    }
}

/// Returns the files that belong to a session, in the order of their names; links are not followed.
pub fn files(folders: &[PathBuf], is_its: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let deadline = Deadline::after(LIMIT);
    let mut files = Vec::new();
    let mut entries = 0;
    let mut open: Vec<(PathBuf, usize)> = folders.iter().map(|it| (it.clone(), 0)).collect();
    while let Some((folder, depth)) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            entries += 1;
            if entries > ENTRIES || (entries % 256 == 0 && deadline.is_over()) {
                return files;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < DEPTH {
                open.push((entry.path(), depth + 1));
            } else if kind.is_file() && is_its(&entry.path()) {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    files
}

/// Returns a moment such as `2026-11-22T10:11:41.001Z` in milliseconds since the Unix epoch, 0 for what is none.
pub fn time(value: &Value) -> WallTime {
    let at = value.as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let millis = at.and_then(|at| u64::try_from(at.as_millisecond()).ok());
    millis.map(WallTime::from_millis).unwrap_or_default()
}
