//! The logs of iterations, kept within bounds: a loop may run for weeks.

use std::fs;
use std::path::{Path, PathBuf};

use crate::store::read;
use crate::store::write::{LEFT_ALONE, remove_all_leftovers};

/// Bytes of all logs of a change, without the newest ones.
pub const MOST: u64 = 1 << 30;
/// Entries read at a time; the others wait for the next time.
const ENTRIES: usize = 10_000;
/// Newest logs that are kept, whatever their size. Between two looks there are as many new ones.
pub const ALWAYS: usize = 20;

/// The prompt's file beside this log.
pub fn prompt_beside(log: &str) -> PathBuf {
    Path::new(log).with_extension("prompt.md")
}

/// Removes the oldest logs and their prompts until at most `most` bytes are left, and a killed runner's leftovers of a
/// prompt.
///
/// A name begins with the time of its run, then its number: that is the order.
pub(super) fn prune(folder: &Path, most: u64) {
    remove_all_leftovers(folder, LEFT_ALONE);
    let entries = read::entries(folder, ENTRIES).entries.into_iter();
    let is_log = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "log");
    let found = entries.map(|entry| entry.path()).filter(is_log);
    let found = found.filter_map(|path| Some((path.symlink_metadata().ok()?, path)));
    let found = found.filter(|(meta, _)| meta.is_file());
    let mut logs: Vec<(PathBuf, u64)> = found.map(|(meta, path)| (path, meta.len())).collect();
    logs.sort();
    let mut all: u64 = logs.iter().map(|(_, length)| length).sum();
    let old = logs.len().saturating_sub(ALWAYS);
    for (path, length) in &logs[..old] {
        if all <= most {
            return;
        }
        // Tried again the next time.
        let _ = fs::remove_file(path);
        let _ = fs::remove_file(path.with_extension("prompt.md"));
        all -= length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_logs_go_alone() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(folder.path().join(name), [b'x'; 100]).unwrap();
        let left = || {
            let mut names: Vec<String> = fs::read_dir(folder.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        write("a person's note.txt");
        for number in 1..=30 {
            write(&format!("20261122T041210563-{number:04}.log"));
        }
        write("20261122T041210563-0001.prompt.md");
        assert_eq!(prompt_beside("logs/a-0001-2.log"), Path::new("logs/a-0001-2.prompt.md"));
        prune(folder.path(), 3_000);
        assert_eq!(left().len(), 32);
        prune(folder.path(), 2_500);
        assert_eq!(left()[0], "20261122T041210563-0006.log");
        assert_eq!(left().len(), 26);
        prune(folder.path(), 0);
        assert_eq!(left().len(), ALWAYS + 1);
        assert!(left().contains(&"a person's note.txt".to_owned()));
    }
}
