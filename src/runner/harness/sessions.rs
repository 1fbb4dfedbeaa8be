//! Agent programs' own files about their sessions, read with bounds.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::lines;
use crate::store::read;
use crate::world::{Deadline, WallTime};

/// Time for the search for a session's files.
const LIMIT: Duration = Duration::from_secs(2);
/// The most entries in that search.
const ENTRIES: usize = 500_000;
/// How deep sessions lie below their folder.
const DEPTH: usize = 6;
/// The most bytes that are read of one session.
const MOST: u64 = 256 << 20;
/// The longest line, in bytes; longer lines hold pictures or files, and no count.
const LINE: usize = 4 << 20;

/// Hands each line of a session's files to `each`; unreadable files and lines are skipped.
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

/// A session's files, sorted by name; links are not followed.
pub fn files(folders: &[PathBuf], is_its: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let deadline = Deadline::after(LIMIT);
    let mut files = Vec::new();
    let mut entries = 0;
    let mut open: Vec<(PathBuf, usize)> = folders.iter().map(|root| (root.clone(), 0)).collect();
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

/// Reads `2026-11-22T10:11:41.001Z`; 0 for anything else.
pub fn time(value: &Value) -> WallTime {
    let at = value.as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let millis = at.and_then(|at| u64::try_from(at.as_millisecond()).ok());
    millis.map(WallTime::from_millis).unwrap_or_default()
}
