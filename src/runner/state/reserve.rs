//! `reserve`: room for the end of a loop, kept free on a disk that may be full by then. Its beginning says how long a loop waits
//! for room: no other file can be written then.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::engine::Hasher;
use crate::store::read;
use crate::store::write::open_or_create;
use crate::system::files::{self, real_path};

/// How much is kept free, in bytes: more than both state files have, which are written beside those that they replace.
const SIZE: usize = 1 << 20;
const NAME: &str = "reserve";
/// What stands before the time until which a loop waits for room.
const MARK: &str = "waits for room until ";

/// Keeps the room; a disk that has none to spare is as good as before.
pub(super) fn keep(folder: &Path) {
    let path = folder.join(NAME);
    let is_there = |meta: fs::Metadata| meta.is_file() && meta.len() == SIZE as u64;
    if !path.symlink_metadata().is_ok_and(is_there) && fill(&path).is_err() {
        free(folder);
    }
    note_wait_for_room(folder, 0);
}

/// Frees the room and returns whether there was any.
pub(super) fn free(folder: &Path) -> bool {
    fs::remove_file(folder.join(NAME)).is_ok()
}

/// Tells who looks on until when the loop with this state folder waits for room on its disk, in seconds since the Unix epoch, 0
/// for no wait: in the room that is kept, because nothing else can be written then. Where none is kept, nobody is told.
pub fn note_wait_for_room(folder: &Path, until: u64) {
    let path = folder.join(NAME);
    // A link may stand in the place of either.
    let is_there = real_path(&path).is_ok_and(|real| real == path);
    if is_there && path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        // It takes no more room than there is.
        let mark = format!("{MARK}{until:020}\n");
        let mut writable = File::options();
        files::without_links(writable.write(true));
        let _ = files::open(&writable, &path).and_then(|mut file| file.write_all(mark.as_bytes()));
    }
}

/// Returns until when the loop with this state folder waits for room on its disk, in seconds since the Unix epoch; `None` where it
/// does not wait for that.
pub fn waits_for_room(folder: &Path) -> Option<u64> {
    let mut mark = [0; MARK.len() + 20];
    read::open(&folder.join(NAME)).ok()?.0.read_exact(&mut mark).ok()?;
    let until = std::str::from_utf8(&mark).ok()?.strip_prefix(MARK)?.parse().ok()?;
    Some(until).filter(|until| *until > 0)
}

/// Writes numbers in no order: some disks keep what repeats itself in next to no room.
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
    fn room_is_kept_once_and_freed_once() {
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

    #[test]
    fn the_room_that_is_kept_says_until_when_a_loop_waits_for_more() {
        let folder = tempfile::tempdir().unwrap();
        let folder = &folder.path().canonicalize().unwrap();
        note_wait_for_room(folder, 5);
        assert_eq!(waits_for_room(folder), None, "no room is kept");
        keep(folder);
        assert_eq!(waits_for_room(folder), None);
        note_wait_for_room(folder, 1_795_305_912);
        assert_eq!(waits_for_room(folder), Some(1_795_305_912));
        let length = fs::metadata(folder.join(NAME)).unwrap().len();
        assert_eq!(length, SIZE as u64, "it takes no more room");
        note_wait_for_room(folder, 0);
        assert_eq!(waits_for_room(folder), None);
        // What a killed runner has left says nothing of the next one.
        note_wait_for_room(folder, 7);
        keep(folder);
        assert_eq!(waits_for_room(folder), None);
    }
}
