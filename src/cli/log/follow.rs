//! Reads growing journals: what is new since the last look. Files may be cut, replaced or added.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::store::journal::{self, Entry};
use crate::store::read::{self, Problem};
use crate::system::files::FileId;

/// Bytes of one journal in one look; the rest waits for the next look.
const MOST: u64 = 256 << 20;

/// How far each journal was read.
#[derive(Debug, Default)]
pub struct Followed {
    places: BTreeMap<PathBuf, ReadPlace>,
    /// An unfinished last line waits for its end.
    waits: bool,
    /// Lines that could not be read.
    pub unread: usize,
    /// Journals that could not be opened.
    pub unopened: BTreeMap<PathBuf, Problem>,
}

/// How far a journal was read, and the file's id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ReadPlace {
    file: Option<FileId>,
    end: u64,
}

impl Followed {
    pub fn new(waits: bool) -> Self {
        Self { waits, ..Self::default() }
    }

    /// Skips everything in the journal so far.
    pub fn skip(&mut self, path: &Path) {
        if let Ok((file, meta)) = read::open(path) {
            let place = ReadPlace { file: FileId::of(&file), end: meta.len() };
            self.places.insert(path.to_owned(), place);
        }
    }

    /// The entries since the last look. A shorter file, or another one, is read from its start.
    pub fn new_entries(&mut self, path: &Path) -> Vec<Entry> {
        let opened = read::open(path).map_err(|why| self.unopened.insert(path.to_owned(), why));
        let Ok((mut file, meta)) = opened else { return Vec::new() };
        let place = self.places.entry(path.to_owned()).or_default();
        let id = FileId::of(&file);
        if place.file != id || place.end > meta.len() {
            *place = ReadPlace { file: id, end: 0 };
        }
        let mut bytes = Vec::new();
        let found = file.seek(SeekFrom::Start(place.end));
        if found.is_err() || file.take(MOST).read_to_end(&mut bytes).is_err() {
            return Vec::new();
        }
        let whole = match memchr::memrchr(b'\n', &bytes) {
            Some(end) if self.waits => end + 1,
            None if self.waits => 0,
            _ => bytes.len(),
        };
        place.end += whole as u64;
        let (entries, unread) = journal::entries(&bytes[..whole]);
        self.unread += unread;
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn new_lines_are_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut followed = Followed::new(true);
        let mut times = || -> Vec<u64> {
            followed.new_entries(&path).iter().map(|entry| entry.at.millis()).collect()
        };
        assert_eq!(times(), [0; 0]);
        fs::write(&path, "{\"at\":1}\n{\"at\":2}\n{\"at\":").unwrap();
        assert_eq!(times(), [1, 2]);
        fs::write(&path, "{\"at\":1}\n{\"at\":2}\n{\"at\":3}\n").unwrap();
        assert_eq!((times(), times()), (vec![3], Vec::new()));
        fs::write(&path, "{\"at\":4}\n").unwrap();
        assert_eq!(times(), [4]);
        let other = folder.path().join("other");
        fs::write(&other, "{\"at\":5}\n{\"at\":6}\n{\"at\":7}\n{\"at\":8}\n").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(times(), [5, 6, 7, 8]);
        let mut late = Followed::new(true);
        late.skip(&path);
        assert_eq!(late.new_entries(&path).len(), 0);
    }
}
