//! What is known of the files of a project, as it is kept: one entry behind another, in the order in which a look met them. A
//! later look compares thousands of them where they are: as a rule it meets the same files in the same order.

use memchr::arch::all::is_equal;

use super::comments::Hashes;
use crate::engine::order::sorted;
use crate::world::FileTime;

/// The bytes of an entry before its path: the length of the path and five numbers, 8 bytes each, the lowest one first.
const HEAD: usize = 6 * 8;
/// How many bytes are compared at once.
const STEP: usize = 1 << 10;
/// How many paths are searched for from end to end, before the entries are sorted for it.
const SCANS: usize = 16;

/// How many spots the paths of named files are spread over.
const SPOTS: usize = 1024;

/// What is known of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSeen {
    /// Its content.
    pub content: Hashes,
    /// Its kind, and whether it may be run.
    pub mode: u64,
    /// When it was changed last, by the clock of the files; not known for one that was changed shortly before the look.
    pub changed: FileTime,
}

/// A file that a look has met, as its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenFile<'a>(&'a [u8]);

/// What is known of each file, each path once.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    bytes: Vec<u8>,
    /// Where they begin among the bytes, and where the last one begins that was added.
    start: usize,
    last: usize,
    files: usize,
}

/// The entries that are still to come.
#[derive(Clone)]
pub struct EntriesLeft<'a>(&'a [u8]);

/// Finds what is known of files, fastest in the order of the entries.
pub struct EntrySearch<'a> {
    all: &'a Entries,
    /// What comes behind the one that was found last.
    rest: EntriesLeft<'a>,
    scans: usize,
    /// All of them by their paths, each with what comes behind it, once that was needed.
    by_path: Vec<(SeenFile<'a>, EntriesLeft<'a>)>,
}

impl PartialEq for Entries {
    fn eq(&self, other: &Self) -> bool {
        is_same(self.as_bytes(), other.as_bytes())
    }
}

impl Eq for Entries {}

impl Entries {
    /// Returns the entries in these bytes behind a place among them, `None` where they are cut off.
    pub fn parse(bytes: Vec<u8>, start: usize) -> Option<Self> {
        let mut rest = EntriesLeft(bytes.get(start..)?);
        let files = rest.by_ref().filter(|file| !file.is_folder()).count();
        rest.0.is_empty().then_some(Self { bytes, start, last: start, files })
    }

    /// Returns them as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Returns none, with room for as many as these are, and a few more.
    pub fn with_room_of(others: &Self) -> Self {
        Self { bytes: Vec::with_capacity(others.bytes.len() + (1 << 12)), ..Self::default() }
    }

    /// Adds the entry of a file that is not among them.
    pub fn push_file(&mut self, file: SeenFile<'_>) {
        self.last = self.bytes.len();
        self.bytes.extend_from_slice(file.0);
        self.files += usize::from(!file.is_folder());
    }

    /// Adds a file that is not among them.
    pub fn push(&mut self, path: &[u8], seen: FileSeen) {
        let FileSeen { content: Hashes { bytes, words, code }, mode, changed } = seen;
        let mut head = [0; HEAD];
        let numbers = [path.len() as u64, bytes, words, code, mode, changed.nanoseconds()];
        for (place, number) in head.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        self.last = self.bytes.len();
        self.bytes.extend_from_slice(&head);
        self.bytes.extend_from_slice(path);
        self.files += usize::from(!path.ends_with(b"/"));
    }

    /// Returns whether the last one that was added has this path.
    pub fn ends_with(&self, path: &[u8]) -> bool {
        EntriesLeft(&self.bytes[self.last..]).next().is_some_and(|it| it.path() == path)
    }

    /// Returns how many files there are; folders with nothing in them are none.
    pub const fn len(&self) -> usize {
        self.files
    }

    /// Returns them in their order.
    pub fn iter(&self) -> EntriesLeft<'_> {
        EntriesLeft(self.as_bytes())
    }

    /// Returns what finds a file among them.
    pub fn search(&self) -> EntrySearch<'_> {
        EntrySearch { all: self, rest: self.iter(), scans: 0, by_path: Vec::new() }
    }
}

impl<'a> Iterator for EntriesLeft<'a> {
    type Item = SeenFile<'a>;

    fn next(&mut self) -> Option<SeenFile<'a>> {
        let length = usize::try_from(u64::from_le_bytes(*self.0.first_chunk()?)).ok()?;
        let (file, rest) = self.0.split_at_checked(length.checked_add(HEAD)?)?;
        self.0 = rest;
        Some(SeenFile(file))
    }
}

impl<'a> SeenFile<'a> {
    /// Returns its path relative to the project.
    pub fn path(self) -> &'a [u8] {
        self.0.get(HEAD..).unwrap_or_default()
    }

    /// Returns whether it is a folder with nothing in it.
    pub fn is_folder(self) -> bool {
        self.0.ends_with(b"/")
    }

    /// Returns what is known of it.
    pub fn seen(self) -> FileSeen {
        let number = |place: usize| {
            let bytes = self.0.get(place * 8..).and_then(<[u8]>::first_chunk);
            u64::from_le_bytes(bytes.copied().unwrap_or_default())
        };
        let content = Hashes { bytes: number(1), words: number(2), code: number(3) };
        FileSeen { content, mode: number(4), changed: FileTime::of(0, number(5)) }
    }
}

impl<'a> EntrySearch<'a> {
    /// Goes on in both as long as the next files are the same and the same is known of them.
    pub fn skip_same(&mut self, files: &mut EntriesLeft<'_>) {
        let (now, then) = (files.0, self.rest.0);
        let both = now.chunks_exact(STEP).zip(then.chunks_exact(STEP));
        let same = both.take_while(|(now, then)| is_same(now, then)).count() * STEP;
        loop {
            let mut rest = files.clone();
            let Some(file) = rest.next() else { break };
            let end = now.len() - rest.0.len();
            if end > same && !then[end - file.0.len()..].starts_with(file.0) {
                break;
            }
            *files = rest;
        }
        self.rest.0 = &then[now.len() - files.0.len()..];
    }

    /// Returns the next file where it has this name in this folder.
    pub fn next_in(&mut self, folder: &[u8], name: &[u8]) -> Option<SeenFile<'a>> {
        let mut rest = self.rest.clone();
        let file = rest.next()?;
        let (above, below) = file.path().split_at_checked(folder.len())?;
        (is_equal(below, name) && is_equal(above, folder)).then(|| {
            self.rest = rest;
            file
        })
    }

    /// Returns the file with this path, `None` for none.
    pub fn find(&mut self, path: &[u8]) -> Option<SeenFile<'a>> {
        let mut rest = self.rest.clone();
        let next = rest.next().filter(|file| is_equal(file.path(), path));
        if next.is_none() {
            return self.find_anywhere(path);
        }
        self.rest = rest;
        next
    }

    /// The same where it is not the next one. A few such paths are searched for from end to end.
    fn find_anywhere(&mut self, path: &[u8]) -> Option<SeenFile<'a>> {
        if self.scans < SCANS {
            self.scans += 1;
            for mut rest in [self.rest.clone(), self.all.iter()] {
                let found = rest.find(|file| is_equal(file.path(), path));
                if found.is_some() {
                    self.rest = rest;
                    return found;
                }
            }
            return None;
        }
        if self.by_path.is_empty() {
            let mut rest = self.all.iter();
            let mut all = Vec::with_capacity(self.all.len());
            while let Some(file) = rest.next() {
                all.push((file, rest.clone()));
            }
            self.by_path = sorted(all, |(one, _), (other, _)| one.path().cmp(other.path()));
        }
        let place = self.by_path.binary_search_by(|(file, _)| file.path().cmp(path)).ok()?;
        let (file, rest) = &self.by_path[place];
        self.rest = rest.clone();
        Some(*file)
    }
}

/// Whether all bytes are the same. With `==`, musl compares one by one.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let ((steps, end), (others, other_end)) = (one.as_chunks::<32>(), other.as_chunks::<32>());
    one.len() == other.len() && steps.iter().eq(others) && is_equal(end, other_end)
}

/// The files that are looked at also where git ignores them, each with whether the look has met it.
pub struct NamedFiles<'a> {
    /// In the order of their paths.
    pub files: Vec<(&'a str, bool)>,
    /// Which spots they have: few of the other files have one of them.
    spots: [bool; SPOTS],
}

impl<'a> NamedFiles<'a> {
    /// Returns those with these paths, none of them met.
    pub fn of(named: &'a [String]) -> Self {
        let files = named.iter().map(|path| (path.as_str(), false)).collect();
        let mut files = sorted(files, |(one, _): &(&str, bool), (other, _)| one.cmp(other));
        files.dedup();
        let mut spots = [false; SPOTS];
        for (path, _) in &files {
            spots[spot_of(path.as_bytes())] = true;
        }
        Self { files, spots }
    }

    /// Notes that the look has met the file with this path, where it is one of them.
    pub fn meet(&mut self, path: &[u8]) {
        if self.spots[spot_of(path)] {
            let place = self.files.binary_search_by(|(other, _)| other.as_bytes().cmp(path));
            if let Ok(place) = place {
                self.files[place].1 = true;
            }
        }
    }
}

/// A number below [`SPOTS`] for a path, of its end and its length.
fn spot_of(path: &[u8]) -> usize {
    let end = path.last_chunk::<8>().map_or(0, |end| u64::from_le_bytes(*end));
    let mixed = (end ^ path.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize % SPOTS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn seen(number: u64) -> FileSeen {
        let content = Hashes { bytes: number, words: !number, code: number << 32 };
        FileSeen { content, mode: 1 << 63 | number, changed: FileTime::of(number, 7) }
    }

    proptest! {
        #[test]
        fn each_file_is_found_in_any_order_and_no_other(
            paths in prop::collection::btree_map("[a-d/]{0,3}", 0..99_u64, 0..60),
            asked in prop::collection::vec("[a-e/]{0,3}", 0..200),
        ) {
            let mut entries = Entries::default();
            for (path, number) in &paths {
                entries.push(path.as_bytes(), seen(*number));
            }
            let is_file = |path: &&String| !path.ends_with('/');
            prop_assert_eq!(entries.len(), paths.keys().filter(is_file).count());
            let known: BTreeMap<&str, FileSeen> =
                paths.iter().map(|(path, number)| (path.as_str(), seen(*number))).collect();
            let mut search = entries.search();
            for path in paths.keys().chain(&asked).chain(paths.keys()) {
                let found = search.find(path.as_bytes());
                prop_assert!(found.is_none_or(|file| file.path() == path.as_bytes()));
                prop_assert_eq!(found.map(SeenFile::seen), known.get(path.as_str()).copied());
            }
            let mut in_folders = entries.search();
            for file in entries.iter() {
                let at = file.path().iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
                let (folder, name) = file.path().split_at(at);
                prop_assert_eq!(in_folders.next_in(b"e", name), None);
                prop_assert_eq!(in_folders.next_in(folder, name), Some(file));
            }
            // The first file that is another one in a second look.
            let other = paths.keys().position(|path| asked.contains(path));
            let mut second = Entries::default();
            for (place, (path, number)) in paths.iter().enumerate() {
                let number = if other == Some(place) { number + 100 } else { *number };
                second.push(path.as_bytes(), seen(number));
                prop_assert!(second.ends_with(path.as_bytes()) && !second.ends_with(b"e"));
            }
            let (mut search, mut rest) = (entries.search(), second.iter());
            search.skip_same(&mut rest);
            let left = paths.len() - other.unwrap_or(paths.len());
            prop_assert_eq!((rest.count(), search.rest.clone().count()), (left, left));
            if let Some(path) = paths.keys().nth(other.unwrap_or(paths.len())) {
                prop_assert!(search.next_in(b"", path.as_bytes()).is_some(), "it is the next one");
            }
            let bytes = [b"head", entries.as_bytes()].concat();
            prop_assert_eq!(Entries::parse(bytes.clone(), 4), Some(entries.clone()));
            let mut ends = vec![4];
            for file in entries.iter() {
                ends.push(ends[ends.len() - 1] + HEAD + file.path().len());
            }
            for cut in 4..bytes.len() {
                let is_whole = Entries::parse(bytes[..cut].to_vec(), 4).is_some();
                prop_assert_eq!(is_whole, ends.contains(&cut));
            }
        }
    }
}
