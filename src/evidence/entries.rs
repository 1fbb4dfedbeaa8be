//! The kept entries of a project's files, one behind another in the order of a look. A later look compares thousands of
//! them in place: usually it meets the same files in the same order.

use memchr::arch::all::is_equal;

use super::comments::Hashes;
use crate::engine::order::sorted;
use crate::world::FileTime;

/// Bytes of an entry before its path: the length of the path and five numbers, 8 bytes each, the lowest byte first.
const HEAD: usize = 6 * 8;
/// Bytes compared at once.
const STEP: usize = 1 << 10;
/// Searches from end to end before the entries are sorted.
const SCANS: usize = 16;

/// Spots for the paths of named files.
const SPOTS: usize = 1024;

/// One file in a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSeen {
    pub content: Hashes,
    /// Kind, permission to run, and our own bits.
    pub mode: u64,
    /// By the files' clock; unknown for a change shortly before the look.
    pub changed: FileTime,
}

/// The entry of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenFile<'a>(&'a [u8]);

/// Entries of files, each path once.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    bytes: Vec<u8>,
    /// Places in `bytes`: of the first entry, and of the newest one.
    start: usize,
    last: usize,
    files: usize,
}

/// The entries still to come.
#[derive(Clone)]
pub struct EntriesLeft<'a>(&'a [u8]);

/// Finds entries, fastest in their order.
pub struct EntrySearch<'a> {
    all: &'a Entries,
    /// The entries behind the last found one.
    rest: EntriesLeft<'a>,
    scans: usize,
    /// All entries by path, each with the entries behind it; filled on first need.
    by_path: Vec<(SeenFile<'a>, EntriesLeft<'a>)>,
}

impl PartialEq for Entries {
    fn eq(&self, other: &Self) -> bool {
        is_same(self.as_bytes(), other.as_bytes())
    }
}

impl Eq for Entries {}

impl Entries {
    /// The entries from `start` on; `None` if they are cut off.
    pub fn parse(bytes: Vec<u8>, start: usize) -> Option<Self> {
        let mut rest = EntriesLeft(bytes.get(start..)?);
        let files = rest.by_ref().filter(|file| !file.is_folder()).count();
        rest.0.is_empty().then_some(Self { bytes, start, last: start, files })
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Empty, with room for as many entries and a few more.
    pub fn with_room_of(others: &Self) -> Self {
        Self { bytes: Vec::with_capacity(others.bytes.len() + (1 << 12)), ..Self::default() }
    }

    /// Adds an entry with a new path.
    pub fn push_file(&mut self, file: SeenFile<'_>) {
        self.last = self.bytes.len();
        self.bytes.extend_from_slice(file.0);
        self.files += usize::from(!file.is_folder());
    }

    /// Adds a file with a new path.
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

    /// The newest entry has this path.
    pub fn ends_with(&self, path: &[u8]) -> bool {
        EntriesLeft(&self.bytes[self.last..]).next().is_some_and(|file| file.path() == path)
    }

    /// Files without empty folders.
    pub const fn len(&self) -> usize {
        self.files
    }

    pub fn iter(&self) -> EntriesLeft<'_> {
        EntriesLeft(self.as_bytes())
    }

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
    /// Relative to the project.
    pub fn path(self) -> &'a [u8] {
        self.0.get(HEAD..).unwrap_or_default()
    }

    /// An empty folder.
    pub fn is_folder(self) -> bool {
        self.0.ends_with(b"/")
    }

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
    /// Skips entries in both as long as they are equal.
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

    /// The next entry, if it has this folder and name.
    pub fn next_in(&mut self, folder: &[u8], name: &[u8]) -> Option<SeenFile<'a>> {
        let mut rest = self.rest.clone();
        let file = rest.next()?;
        let (above, below) = file.path().split_at_checked(folder.len())?;
        (is_equal(below, name) && is_equal(above, folder)).then(|| {
            self.rest = rest;
            file
        })
    }

    pub fn find(&mut self, path: &[u8]) -> Option<SeenFile<'a>> {
        let mut rest = self.rest.clone();
        let next = rest.next().filter(|file| is_equal(file.path(), path));
        if next.is_none() {
            return self.find_anywhere(path);
        }
        self.rest = rest;
        next
    }

    /// Finds an entry out of order. The first few are searched from end to end.
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

/// With `==`, musl compares byte by byte.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let ((steps, end), (others, other_end)) = (one.as_chunks::<32>(), other.as_chunks::<32>());
    one.len() == other.len() && steps.iter().eq(others) && is_equal(end, other_end)
}

/// Files to look at even if git ignores them; `true` for those that the look has met.
pub struct NamedFiles<'a> {
    /// In the order of their paths.
    pub files: Vec<(&'a str, bool)>,
    /// Spots of `files`; few other files share one.
    spots: [bool; SPOTS],
}

impl<'a> NamedFiles<'a> {
    pub fn of(named: impl Iterator<Item = &'a String>) -> Self {
        let files = named.map(|path| (path.as_str(), false)).collect();
        let mut files = sorted(files, |(one, _): &(&str, bool), (other, _)| one.cmp(other));
        files.dedup();
        let mut spots = [false; SPOTS];
        for (path, _) in &files {
            spots[spot_of(path.as_bytes())] = true;
        }
        Self { files, spots }
    }

    /// Notes that the look has met a file.
    pub fn meet(&mut self, path: &[u8]) {
        if self.spots[spot_of(path)] {
            let place = self.files.binary_search_by(|(other, _)| other.as_bytes().cmp(path));
            if let Ok(place) = place {
                self.files[place].1 = true;
            }
        }
    }
}

/// A number below [`SPOTS`] from the end and length of a path.
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
        fn each_file_is_found(
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
            // The first file that differs in a second look.
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
