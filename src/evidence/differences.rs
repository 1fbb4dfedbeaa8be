//! Files that differ between two looks, and how they differ.

use super::comments::Hashes;
use super::contents::Contents;
use super::entries::{FileSeen, SeenFile};
use super::tree::{ASIDE, IGNORED};
use crate::engine::Hasher;
use crate::engine::order::sorted;
use crate::engine::proof::{ChangedFile, FileChange};

/// Our own bits in the mode of a file.
const MARKS: u64 = IGNORED | ASIDE;

/// The file's entry, its change, and hashes of its content before and now, 0 for no file.
pub type EntryChange<'a> = (SeenFile<'a>, FileChange, [u64; 2]);

impl Contents {
    /// In the order of their paths.
    pub fn changed_since(&self, earlier: &Self) -> Vec<ChangedFile> {
        let file = |(file, change, step): EntryChange<'_>| ChangedFile {
            path: String::from_utf8_lossy(file.path()).into_owned(),
            change,
            ignored: file.seen().mode & IGNORED != 0,
            step,
            back: Vec::new(),
        };
        self.differences(earlier).into_iter().map(file).collect()
    }

    /// The files that differ, with their current entry, or the last one of a file that is gone. A file that was checked
    /// out into another work tree is not new, and a file that vanishes with a work tree is not gone.
    pub fn differences<'a>(&'a self, earlier: &'a Self) -> Vec<EntryChange<'a>> {
        let (mut changed, mut new, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        let mut checked_out = 0;
        let mut before = earlier.0.search();
        let mut now = self.0.iter();
        loop {
            before.skip_same(&mut now);
            let Some(file) = now.next() else { break };
            let seen = file.seen();
            let Some(then) = before.find(file.path()) else {
                let mut is_same = |path: &[u8]| {
                    before.find(path).is_some_and(|then| then.seen().content == seen.content)
                };
                let mut ends = memchr::memchr_iter(b'/', file.path());
                if seen.mode & ASIDE == 0 || !ends.any(|end| is_same(&file.path()[end + 1..])) {
                    new.push(file);
                } else {
                    checked_out += 1;
                }
                continue;
            };
            let step = [then.seen().content.bytes, seen.content.bytes];
            changed.extend(seen.differs_from(&then.seen()).map(|change| (file, change, step)));
        }
        let new_files = new.iter().filter(|file| !file.is_folder()).count();
        if self.0.len() - new_files - checked_out < earlier.0.len() {
            let mut now = self.0.search();
            let is_own = |file: &SeenFile<'_>| file.seen().mode & ASIDE == 0 && !file.is_folder();
            let own = earlier.0.iter().filter(is_own);
            gone.extend(own.filter(|file| now.find(file.path()).is_none()));
        }
        for file in &new {
            let seen = file.seen();
            let is_moved = gone.iter().any(|gone: &SeenFile<'_>| seen.is_moved_from(&gone.seen()));
            let change = if is_moved { FileChange::Moved } else { seen.as_new(file.path()) };
            changed.push((*file, change, [0, seen.content.bytes]));
        }
        for file in &gone {
            let seen = file.seen();
            let is_moved = new.iter().any(|new| new.seen().is_moved_from(&seen));
            let change = if is_moved { FileChange::Moved } else { FileChange::Gone };
            changed.push((*file, change, [seen.content.bytes, 0]));
        }
        sorted(changed, |(one, ..), (other, ..)| one.path().cmp(other.path()))
    }

    /// For each file that differs: its path, whether it is gone, and whether it is in another work tree or a
    /// repository's log.
    pub fn changed_places<'a>(
        &'a self,
        earlier: &'a Self,
    ) -> impl Iterator<Item = (&'a [u8], bool, bool)> {
        let mut now = self.0.search();
        let all = self.differences(earlier).into_iter().map(|(file, ..)| file);
        all.filter(|file| !file.path().ends_with(b"/")).map(move |file| {
            (file.path(), now.find(file.path()).is_none(), file.seen().mode & ASIDE != 0)
        })
    }

    /// A hash that changes with the content of any file.
    pub fn hash(&self) -> u64 {
        let one = |file: SeenFile<'_>| {
            let number = Hasher::default().with_number(file.seen().number());
            number.with(file.path()).finish()
        };
        self.0.iter().map(one).fold(0, u64::wrapping_add)
    }
}

impl FileSeen {
    /// A number for content and mode.
    pub fn number(&self) -> u64 {
        Hasher::default().with_number(self.content.bytes).with_number(self.mode & !MARKS).finish()
    }

    fn differs_from(&self, before: &Self) -> Option<FileChange> {
        let (now, then) = (&self.content, &before.content);
        match () {
            () if now.bytes == then.bytes && (self.mode ^ before.mode) & !MARKS == 0 => None,
            () if now.bytes == then.bytes => Some(FileChange::Mode),
            () if now.is_of_link() => Some(FileChange::Link),
            () if now.words == then.words => Some(FileChange::Blanks),
            () if now.words == Hashes::of_nothing().words => Some(FileChange::Gone),
            () if now.code == then.code => Some(FileChange::Comments),
            () if now.stubs() > then.stubs() => Some(FileChange::Stub),
            () => Some(FileChange::Content),
        }
    }

    /// True if this is the vanished file at another path.
    fn is_moved_from(&self, gone: &Self) -> bool {
        let (now, then) = (&self.content, &gone.content);
        now.words != Hashes::of_nothing().words && now.bytes == then.bytes
    }

    fn as_new(&self, path: &[u8]) -> FileChange {
        let nothing = Hashes::of_nothing();
        match () {
            () if path.ends_with(b"/") => FileChange::Folder,
            () if self.content.is_of_link() => FileChange::Link,
            () if self.content.words == nothing.words => FileChange::Blanks,
            () if self.content.code == nothing.code => FileChange::Comments,
            () if self.content.stubs() > 0 => FileChange::Stub,
            () => FileChange::Content,
        }
    }
}
