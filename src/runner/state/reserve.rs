//! `reserve`: room for the end of a loop, in case the disk is full by then.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::engine::Hasher;
use crate::store::write::open_or_create;

/// In bytes: more than both state files, which are written beside the files that they replace.
const SIZE: usize = 1 << 20;
const NAME: &str = "reserve";

/// Best effort: on a full disk, the loop runs without a reserve.
pub(super) fn keep(folder: &Path) {
    let path = folder.join(NAME);
    let is_there = |meta: fs::Metadata| meta.is_file() && meta.len() == SIZE as u64;
    if !path.symlink_metadata().is_ok_and(is_there) && fill(&path).is_err() {
        free(folder);
    }
}

/// `true` if there was a reserve to free.
pub(super) fn free(folder: &Path) -> bool {
    fs::remove_file(folder.join(NAME)).is_ok()
}

/// Writes irregular bytes, because some disks compress repetitions.
fn fill(path: &Path) -> io::Result<()> {
    let mut file = open_or_create(path, File::options().write(true).truncate(true))?;
    let mut number = Hasher::default().with_number(SIZE as u64).finish();
    let mut bytes = vec![0; SIZE];
    for eight in bytes.as_chunks_mut().0 {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        *eight = number.to_le_bytes();
    }
    file.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_freed_once() {
        let folder = tempfile::tempdir().unwrap();
        keep(folder.path());
        let length = || fs::metadata(folder.path().join(NAME)).unwrap().len();
        assert_eq!(length(), SIZE as u64);
        fs::write(folder.path().join(NAME), "cut off").unwrap();
        keep(folder.path());
        assert_eq!(length(), SIZE as u64);
        assert!(free(folder.path()));
        assert!(!free(folder.path()));
    }
}
